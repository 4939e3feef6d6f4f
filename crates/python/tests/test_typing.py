"""What type checkers say of code that uses the module: an error where there is one, and nowhere else."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

# A line with `# error` must fail, any other must pass.
CODE = """
import headlight as hl
import numpy as np
import polars as pl
from typing import Any

run = hl.train("notebook", seed=3, training=dict(epochs=np.int64(3), learning_rate=1), model={"attention": {"scale": False}})
hl.train(sed=3)  # error
hl.train(trainning=dict(epochs=3))  # error
hl.train(training=dict(epoch=3))  # error
hl.train(training={"epochs": "3"})  # error
hl.train(data=dict(rule=dict(kind="token-at-position", token=3, position=1), seq_len=6, vocab_size=9, samples=99))
hl.train(data=dict(rule=dict(knd="token-at-position")))  # error
settings: hl.keys.Training = {"epochs": 3}
hl.train(training=settings, dump=dict(every_epochs=0))
hl.sweep("quick", seeds=3, training=dict(epochs=1))
hl.sweep("quick", sed=3)  # error
out = run.model(run.samples)
out.scores, out.weights, out.logits, out.query.shape, out.tokens, out.predicted, out.mask, out.feed_forward_hidden
out.typo  # error
out.tokens = run.samples  # error
out.without(key=1).weights.sum()
out.without(keys=1)  # error
run.typo  # error
run.model.typo  # error
hl.typo  # error
hl.datasets.from_texts(pl.Series(["a"]), pl.Series([1]))
hl.datasets.from_texts(np.array(["a"]), ("b",))
def callback(step: int, metrics: dict[str, Any]) -> bool: return False
hl.fit("quick", callback=callback)
hl.train("quick", callback=lambda step, metrics: metrics["f1"] == 1)
hl.AttentionClassifier(d_model=8, seed=None)
hl.AttentionClassifier(d_modl=8)  # error
"""


def test_errors_are_where_they_are_expected(tmp_path):
    file = tmp_path / "code.py"
    file.write_text(CODE)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", tmp_path / "cache", "--config-file", ROOT / "pyproject.toml", file]
    # Of the source: a module on PYTHONPATH is unknown to mypy.
    environment = {**os.environ, "MYPYPATH": str(ROOT / "crates/python/python")}
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    found = {int(line) for line in re.findall(r"code\.py:(\d+): error", said)}
    expected = {number for number, line in enumerate(CODE.splitlines(), 1) if line.endswith("# error")}
    assert found == expected, said
