"""Prints the sizes of the repository, from its tracked files, and fails where one is above its budget.

    python3 scripts/size.py [--root FOLDER]

The page's script is counted as prettier prints it at 120 columns, so that dense lines save nothing; rustfmt formats Rust in CI
anyway. A file of code that no row counts fails, too. Raise a budget in the change that needs it, with the reason. Lines that move from
one row to another lower the giver's budget.
"""

import argparse
import pathlib
import re
import subprocess
import sys

PAGE = "page script"
# Row, the pattern of its files' names, budget. The first pattern that matches a file counts it.
ROWS = [
    ("Rust tests", r"crates/[^/]+/(tests|benches|examples)/.*\.rs", 34_070),  # to be 33,000; random experiments through all commands are 700, dropout 350, weights and start 340, one text 210
    ("Rust source", r"crates/[^/]+/(src/.*|build)\.rs", 62_640),  # to be 56,000; what four trials found needs 700, dropout 530, weights and start 310, one text 170, names that say more 200
    ("scripts", r"(scripts|\.ci|\.github)/.*|studies/.*\.py", 9_010),  # the pages of studies came from Rust
    ("tests in JavaScript and Python", r"crates/.*/tests/.*\.(m?js|py)", 3_624),  # the checks of pages in a browser came from scripts
    ("Python", r"crates/python/python/.*\.py", 3_545),  # to be 3,200; generated keys of training are 24, the length of generated texts 14
    (PAGE, r"crates/.*\.(m?js|jsx|ts|tsx|css)", 11_780),  # to be 11,000
]
CODE = (".rs", ".py", ".js", ".mjs", ".ts", ".jsx", ".tsx", ".css", ".sh")
WORDS_OF_MARKDOWN = 40_000
AT_ONCE = 100


def output(*command: object, folder: pathlib.Path) -> str:
    return subprocess.run([str(part) for part in command], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def tracked(root: pathlib.Path) -> list[str]:
    """Names of the files that git tracks and that exist, without those that `.gitattributes` calls generated."""
    names = [name for name in output("git", "ls-files", "-z", folder=root).split("\0") if name and (root / name).is_file()]
    generated = set()
    for first in range(0, len(names), AT_ONCE):
        told = output("git", "check-attr", "-z", "linguist-generated", *names[first : first + AT_ONCE], folder=root).split("\0")
        generated.update(name for name, value in zip(told[::3], told[2::3]) if value == "set")
    return [name for name in names if name not in generated]


def lines(root: pathlib.Path, names: list[str]) -> int:
    return sum((root / name).read_bytes().count(b"\n") for name in names)


def lines_by_prettier(root: pathlib.Path, names: list[str]) -> int:
    if not names:
        return 0
    found = sorted(root.glob("crates/**/node_modules/.bin/prettier"))
    if not found:
        sys.exit("prettier is missing; run `npm ci` in the folder of the page's package.json")
    return output(found[0], "--print-width", "120", "--no-config", *names, folder=root).count("\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1], help="the repository")
    root = parser.parse_args().root.resolve()
    rows: dict[str, list[str]] = {row: [] for row, _, _ in ROWS}
    failures = []
    names = tracked(root)
    for name in names:
        row = next((row for row, pattern, _ in ROWS if re.fullmatch(pattern, name)), None)
        if row is not None:
            rows[row].append(name)
        elif name.endswith(CODE):
            failures.append(f"{name} is counted in no row of scripts/size.py; move it, or add its place to a row")

    print("| row | lines | at most |\n|---|---:|---:|")
    for row, _, budget in ROWS:
        count = (lines_by_prettier if row == PAGE else lines)(root, rows[row])
        print(f"| {row} | {count:,} | {budget:,} |")
        if count > budget:
            failures.append(f"{row}: {count:,} lines, and at most {budget:,} are allowed: delete some, or raise the budget with the reason")
    words = sum(len((root / name).read_text(encoding="utf-8").split()) for name in names if name.endswith(".md"))
    print(f"| words of Markdown | {words:,} | {WORDS_OF_MARKDOWN:,} |")
    if words > WORDS_OF_MARKDOWN:
        failures.append(f"Markdown: {words:,} words, and at most {WORDS_OF_MARKDOWN:,} are allowed")

    print("\n| crate | source | tests |\n|---|---:|---:|")
    for crate in sorted({name.split("/")[1] for name in rows["Rust source"]}):
        own = [[name for name in rows[row] if name.startswith(f"crates/{crate}/")] for row in ("Rust source", "Rust tests")]
        print(f"| `{crate}` | {lines(root, own[0]):,} | {lines(root, own[1]):,} |")
    if failures:
        sys.exit("\n".join(["", *failures]))


if __name__ == "__main__":
    main()
