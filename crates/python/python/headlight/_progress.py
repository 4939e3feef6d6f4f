"""Progress: a bar of tqdm in a terminal, a line in a notebook. Nothing of it stays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

# Takes how much is done, and how much there is to do.
Report = Callable[[int, int], object] | None


@contextmanager
def progress(shown: bool | None, unit: str) -> Iterator[Report]:
    """A function that shows progress. `shown=None` shows it if standard error is a terminal, or in a notebook."""
    notebook = "ipykernel" in sys.modules
    if shown is None:
        shown = notebook or (sys.stderr is not None and sys.stderr.isatty())
    if not shown:
        yield None
        return
    if notebook:
        with _line(unit) as report:
            yield report
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit=f" {unit}", leave=False) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update


@contextmanager
def _line(unit: str) -> Iterator[Callable[[int, int], object]]:
    """A line in the cell's output. It is not a widget, which a saved notebook would show as an error, and it is empty at the end."""
    from IPython.display import display

    place: Any = display(_content("", ""), raw=True, display_id=True)

    def update(done: int, total: int) -> None:
        text = f"{done:,} of {total:,} {unit}s"
        bar = f'<progress value="{done}" max="{total}" aria-label="{escape(text)}"></progress> {escape(text)}'
        place.update(_content(text, bar), raw=True)

    try:
        yield update
    finally:
        place.update(_content("", ""), raw=True)


def _content(text: str, html: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": html}
