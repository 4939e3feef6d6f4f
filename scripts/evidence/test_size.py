"""`scripts/size.py` fails above a budget, and for code that no row counts."""

import subprocess
import sys

import pytest
from common import ROOT


@pytest.fixture
def sized(tmp_path):
    """Runs the script over a repository that holds these files."""

    def run(**files: str) -> subprocess.CompletedProcess[str]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        command = [sys.executable, ROOT / "scripts/size.py", "--root", tmp_path]
        return subprocess.run(command, capture_output=True, text=True)

    return run


def test_a_small_repository_passes(sized):
    shown = sized(**{"crates/one/src/lib.rs": "//! One.\n", "README.md": "two words\n"})
    assert shown.returncode == 0, shown.stderr
    assert "| words of Markdown | 2 |" in shown.stdout
    assert "| `one` | 1 | 0 |" in shown.stdout


def test_a_row_above_its_budget_fails(sized):
    shown = sized(**{"scripts/long.py": "pass\n" * 20_000})
    assert shown.returncode == 1
    assert "scripts: 20,000 lines" in shown.stderr


def test_too_many_words_fail(sized):
    shown = sized(**{"long.md": "word " * 40_001})
    assert shown.returncode == 1
    assert "Markdown: 40,001 words" in shown.stderr


@pytest.mark.parametrize("name", ["tool.py", "crates/one/run.sh", "docs/page.ts", "one.rs"])
def test_code_that_no_row_counts_fails(sized, name):
    shown = sized(**{name: "\n"})
    assert shown.returncode == 1
    assert f"{name} is counted in no row" in shown.stderr


def test_generated_files_do_not_count(sized):
    shown = sized(**{".gitattributes": "*.js linguist-generated\n", "built.js": "one();\n"})
    assert shown.returncode == 0, shown.stderr
