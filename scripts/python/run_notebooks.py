"""Executes notebooks; exits with 1 if a cell fails.

    python scripts/python/run_notebooks.py notebooks/*.ipynb [--out FOLDER]

With --out, the executed notebooks are written there. Needs scripts/python/requirements-python.txt, and Headlight's module.
"""

import argparse
import pathlib
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    failed = False
    for path in arguments.notebooks:
        notebook = nbformat.read(path, as_version=4)
        if any(cell.get("outputs") for cell in notebook.cells):
            sys.exit(f"{path}: it is committed with outputs; clear them")
        try:
            NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
        except CellExecutionError as error:
            failed = True
            print(f"{path}: {error}", file=sys.stderr)
        else:
            print(f"{path}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells")
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, arguments.out / path.name)
    sys.exit(failed)


if __name__ == "__main__":
    main()
