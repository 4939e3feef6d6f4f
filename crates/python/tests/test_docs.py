"""The examples of docs/reference/python.md and of the module's own page run."""

import re
from pathlib import Path
from types import SimpleNamespace

import headlight as hl
import numpy as np
import pytest

ROOT = Path(__file__).parents[3]


def blocks(page):
    """The examples, but for those that need what is not there."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"<!-- not run: [^\n]+ -->\n```.*?```", "", text, flags=re.DOTALL)
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def attention(samples, layers, heads, positions):
    return np.random.default_rng(0).dirichlet(np.ones(positions), size=(samples, layers, heads, positions))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("page", ["docs/reference/python.md", "crates/python/README.md"])
def test_the_examples_run(page, tmp_path, monkeypatch):
    # What the pages take as given.
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = ["a", "b", "c"]
    each = attention(1, 2, 4, 3)
    names = {
        "hl": hl,
        "other": hl.train("notebook").model(rng.integers(1, 51, (2, 6))),
        "X": rng.integers(0, 6, (60, 4)),
        "y": np.arange(60) % 2,
        "labels": np.arange(60) % 2,
        "weights": each[0],
        "scores": np.log(each[0]),
        "outputs": SimpleNamespace(attentions=tuple(each[:, layer] for layer in range(2))),
        "cache": {("pattern", layer): each[:, layer] for layer in range(2)},
        "n_layers": 2,
    }
    found = blocks(page)
    assert found
    for block in found:
        names["tokens"] = words if "hl.show" in block else rng.integers(1, 6, (60, 4))
        exec(compile(block, page, "exec"), names)
