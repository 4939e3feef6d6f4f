"""Progress bars, as tqdm shows them in a terminal and in a notebook."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Takes how much is done, and how much there is to do.
Report = Callable[[int, int], object] | None


@contextmanager
def progress(shown: bool | None, unit: str) -> Iterator[Report]:
    """A function that shows progress. `shown=None` shows a bar if standard error is a terminal, or in a notebook."""
    if shown is None:
        shown = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    if not shown:
        yield None
        return
    try:
        with warnings.catch_warnings():
            # Without ipywidgets, tqdm warns, and shows a bar of text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit=f" {unit}", leave=False) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield report
