"""Tiny trainable transformer classifiers, and the instrument for seeing where their attention looks.

    import headlight as hl

    run = hl.train("notebook", seed=3)
    run.metrics                               # a data frame
    run.attention(step=900)[0, 0, 0]          # [query, key] of sample 0, layer 0, head 0
    run                                       # in a notebook: the page
"""

from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING, Any

from . import keys
from ._cache import Cache
from ._certificate import Certificate
from ._headlight import Diverged
from ._config import configs
from ._data import datasets
from ._explanation import Explanation
from ._fit import Fit, fit
from ._model import Model, Output
from ._run import Run, train
from ._show import Attention, show
from ._sweep import Sweep, sweep
from ._trace import Trace, trace

if TYPE_CHECKING:
    from ._classifier import AttentionClassifier

__all__ = [
    "Attention",
    "AttentionClassifier",
    "Cache",
    "Certificate",
    "Diverged",
    "Explanation",
    "Fit",
    "Model",
    "Output",
    "Run",
    "Sweep",
    "Trace",
    "configs",
    "datasets",
    "fit",
    "keys",
    "show",
    "sweep",
    "trace",
    "train",
]
if not TYPE_CHECKING and _find_spec("sklearn") is None:
    # So that `from headlight import *` works.
    __all__.remove("AttentionClassifier")
__version__ = "0.1.0"


# Type checkers refuse any name that is not above.
if not TYPE_CHECKING:

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

    def __getattr__(name: str) -> Any:
        # scikit-learn takes a second to import, and may be missing.
        if name == "AttentionClassifier":
            from ._needed import needed

            needed("sklearn", "scikit-learn", "headlight.AttentionClassifier")
            from ._classifier import AttentionClassifier

            return AttentionClassifier
        raise AttributeError(f"module 'headlight' has no attribute '{name}'")
