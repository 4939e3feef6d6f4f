"""Tiny trainable transformer classifiers, and the instrument for seeing where their attention looks: in Pyodide, the Python of
browsers.

    import headlight as hl

    run = hl.train("notebook", seed=3)
    run.metrics                               # a table
    run.attention(step=900)[0, 0, 0]          # [query, key] of sample 0, layer 0, head 0
    run                                       # in a notebook: the page
"""

from ._engine import Diverged, check_simd  # isort: skip

# First of all, so that a browser that lacks it says so.
check_simd()

from . import keys  # noqa: E402
from ._config import configs  # noqa: E402
from ._data import datasets  # noqa: E402
from ._lacking import NotInTheBrowser, absent  # noqa: E402
from ._model import Model, Output  # noqa: E402
from ._run import Fit, Run, fit, train  # noqa: E402
from ._sweep import Sweep, sweep  # noqa: E402

AttentionClassifier = absent("AttentionClassifier")
show = absent("show")
trace = absent("trace")

__all__ = [
    "AttentionClassifier",
    "Diverged",
    "Fit",
    "Model",
    "NotInTheBrowser",
    "Output",
    "Run",
    "Sweep",
    "configs",
    "datasets",
    "fit",
    "keys",
    "show",
    "sweep",
    "trace",
    "train",
]
__version__ = "0.1.0"
