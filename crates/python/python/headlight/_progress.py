"""Progress bars, as tqdm shows them in a terminal and in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Optional

Report = Optional[Callable[[int], object]]


@contextmanager
def progress(shown: bool | None, total: int, unit: str) -> Iterator[Report]:
    """A function that takes how much is done. `shown=None` shows a bar if standard error is a terminal, or in a notebook."""
    if shown is None:
        shown = "ipykernel" in sys.modules or sys.stderr.isatty()
    if not shown:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(total=total, unit=unit, leave=False) as bar:
        yield lambda done: bar.update(done - bar.n)
        bar.update(total - bar.n)
