"""Checks that the committed pages and tables of the studies are what their scripts make.

    python -m studies.check pages COPY               # a folder with the pages, made again
    python -m studies.check table COMMITTED FOUND    # the first rows of a table of measures
"""

import pathlib
import re
import sys

import numpy as np
import pandas as pd

HOME = pathlib.Path(__file__).parent
PAGES = HOME.parent / "docs/findings"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
# Names that matplotlib derives from the content of a path.
NAME = re.compile(r"\b[a-z][0-9a-f]{10}\b")


def drawing(path: pathlib.Path) -> tuple[str, np.ndarray]:
    """What a picture holds: its text without numbers, and its numbers."""
    text = NAME.sub("name", path.read_text(encoding="utf-8"))
    return NUMBER.sub("0", text), np.array(NUMBER.findall(text), dtype=float)


def check_pages(copy: pathlib.Path) -> None:
    """Pages have the same bytes, and figures the same numbers, up to a tenth of a point."""
    for script in sorted(HOME.glob("*/page.py")):
        study = script.parent.name
        page = PAGES / f"{study}.md"
        if page.read_bytes() != (copy / page.name).read_bytes():
            raise SystemExit(f"{study}: {page} is not what page.py makes; run `python -m studies.{study}.page`")
        (text, numbers), (other_text, other) = (drawing(folder / f"{study}.svg") for folder in (PAGES, copy))
        if text != other_text or not np.allclose(numbers, other, rtol=0, atol=0.1):
            raise SystemExit(f"{study}: its figures are not what page.py makes; run `python -m studies.{study}.page`")
        print(f"{study}: the page and the figures are what page.py makes")


def check_table(committed: pathlib.Path, found: pathlib.Path) -> None:
    """The first rows have the same seeds, and the same numbers within 1e-4."""
    own = pd.read_csv(found)
    committed = next(committed.parent.glob(f"{committed.name}*"))
    table = pd.read_csv(committed)[list(own)][: len(own)]
    if not len(own) or not np.allclose(table, own, rtol=1e-4, atol=1e-4, equal_nan=True):
        raise SystemExit(f"{committed} has other numbers than {found}:\n{table}\n{own}")
    print(f"{committed}: the first {len(own)} rows are what measures.py computes")


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    {"pages": check_pages, "table": check_table}[what](*map(pathlib.Path, paths))
