"""Runs the examples of the documentation, each page in an empty folder, its blocks in their order; and follows every link.

A line above a block may say what it is:

    <!-- file: NAME -->       the block is the content of this file
    <!-- not run: REASON -->  the block needs what a checkout does not have
    <!-- output -->           the lines of the block begin lines that the block before it printed, in this order

A block that calls cargo builds a program, and is not run either. Blocks of `sh` run in Bash, which stops at the first error, and those of `python` in one interpreter. A Python block whose
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
BLOCK = re.compile(r"(?:^<!-- (file|not run|output)(?:: ([^\n]+))? -->\n+)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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
        earlier, without, printed = "", [], None
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            mark, value, language, code = found.groups()
            place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start(3)) + 1}"
            if mark == "file":
                (folder / value).write_text(code, encoding="utf-8")
                continue
            if mark == "output" and printed is not None:
                lines = iter(printed.splitlines())
                lost = [line for line in code.splitlines() if not any(one.startswith(line) for one in lines)]
                failures += [f"{place}: not printed, or not after the lines above it: {line}" for line in lost[:1]]
            if language not in LANGUAGES:
                continue
            if language == "python":
                without = without or missing(code)
            if language == "sh" and re.search(r"^cargo ", code, re.MULTILINE):
                mark, value = "not run", "builds a program"
            if mark == "not run" or (language == "python" and without):
                printed = None
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
            ran, printed = ran + 1, done.stdout
            print(f"  {time.monotonic() - began:5.1f} s  {place}")
            if done.returncode != 0:
                failures.append(f"{place}: exit code {done.returncode}\n{code}\n{done.stderr[-2000:]}")
    return ran, skipped, failures


def anchors(page: Path) -> set[str]:
    """The headings of a page, as GitHub and mdBook name them in addresses."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def dead_links(page: Path) -> list[str]:
    """Links of a page that lead nowhere; and those of the book to a document outside, which mdBook would rename."""
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        goal = (page.parent / path).resolve() if path else page
        in_book = [ROOT / "docs" in place.parents for place in (page, goal)]
        lost = not goal.exists() or (goal.suffix == ".md" and anchor and anchor not in anchors(goal))
        if lost or (goal.suffix == ".md" and in_book == [True, False]):
            dead.append(f"{page.relative_to(ROOT)}: the link {link} leads nowhere")
    return dead


def main() -> None:
    headlight = Path(sys.argv[1]).resolve()
    chosen = [Path(page).resolve() for page in sys.argv[2:]]
    tracked = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    ran, skipped, failures = 0, [], [dead for page in chosen or map(ROOT.joinpath, tracked) for dead in dead_links(page)]
    chosen = chosen or pages()
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
