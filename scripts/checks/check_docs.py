"""Runs the examples of the documentation: each page in an empty folder, its blocks in their order.

A line above a block may say what it is:

    <!-- file: NAME -->       the block is the content of this file
    <!-- not run: REASON -->  the block needs what a checkout does not have

A block that calls cargo builds Headlight, and is not run either. Blocks of `sh` run in Bash, which stops at the first error, and those of `python` in one interpreter. A Python block whose
imports are not installed is counted as not run, and with it the Python blocks after it on the page, which build on it.

    check_docs.py HEADLIGHT [PAGE]...     default: all pages with examples
"""

import ast
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:^<!-- (file|not run): ([^\n]+) -->\n+)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = ("sh", "python")


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("crates/*/README.md"))]


def missing(code: str) -> list[str]:
    """The modules that a block imports and that are not installed."""
    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    return sorted(name for name in names if importlib.util.find_spec(name) is None)


def run(page: Path, headlight: Path) -> tuple[int, list[str], list[str]]:
    """The number of blocks that ran, those that did not with their reasons, and the failures."""
    ran, skipped, failures = 0, [], []
    with tempfile.TemporaryDirectory() as temporary:
        tools, home = Path(temporary) / "tools", Path(temporary) / "home"
        folder = Path(temporary) / "empty"
        for path in (tools, home, folder):
            path.mkdir()
        (tools / "headlight").symlink_to(headlight)
        # `--open` opens no browser here.
        opener = tools / "xdg-open"
        opener.write_text("#!/bin/sh\n")
        opener.chmod(0o755)
        environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(home), "MANPAGER": "cat"}
        earlier, without = "", []
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            mark, value, language, code = found.groups()
            place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start(3)) + 1}"
            if mark == "file":
                (folder / value).write_text(code, encoding="utf-8")
                continue
            if language not in LANGUAGES:
                continue
            if language == "python":
                without = without or missing(code)
            if language == "sh" and re.search(r"^cargo ", code, re.MULTILINE):
                mark, value = "not run", "builds Headlight"
            if mark == "not run" or (language == "python" and without):
                skipped.append(f"{place}: {value or 'without ' + ', '.join(without)}")
                continue
            if language == "sh":
                command, given = ["bash", "-euo", "pipefail", "-c", code], ""
            else:
                earlier += code
                command, given = [sys.executable, "-"], earlier
            began = time.monotonic()
            done = subprocess.run(
                command, input=given, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
            )
            ran += 1
            print(f"  {time.monotonic() - began:5.1f} s  {place}")
            if done.returncode != 0:
                failures.append(f"{place}: exit code {done.returncode}\n{code}\n{done.stderr[-2000:]}")
    return ran, skipped, failures


def main() -> None:
    headlight = Path(sys.argv[1]).resolve()
    chosen = [Path(page).resolve() for page in sys.argv[2:]] or pages()
    ran, skipped, failures = 0, [], []
    for page in chosen:
        of_page = run(page, headlight)
        ran += of_page[0]
        skipped += of_page[1]
        failures += of_page[2]
    for one in skipped:
        print(f"not run  {one}")
    for one in failures:
        print(f"FAILED   {one}")
    print(f"{ran} examples run, {len(skipped)} not run, {len(failures)} failed")
    sys.exit(bool(failures) or ran == 0)


main()
