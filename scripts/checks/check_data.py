"""Compares the datasets that `headlight data` writes with NumPy's own.

    python scripts/checks/check_data.py target/release/headlight
"""

import subprocess
import sys
import tempfile

import numpy as np

headlight = sys.argv[1]
cases = [(seed, vocab, length) for seed in (0, 1, 42) for vocab in (3, 51, 300, 70_000) for length in (1, 6, 64)]
with tempfile.TemporaryDirectory() as folder:
    for seed, vocab, length in cases:
        changes = {
            "data.seed": seed,
            "data.vocab_size": vocab,
            "data.seq_len": length,
            "data.samples": 500,
            "data.held_out": 0,
            "data.rule": '{kind = "token-anywhere", token = 1}',
        }
        overrides = [part for key, value in changes.items() for part in ("--set", f"{key}={value}")]
        subprocess.run([headlight, "data", "--force", "--out", f"{folder}/d.npz", *overrides], check=True, stdout=subprocess.DEVNULL)
        np.random.seed(seed)
        expected = np.random.randint(1, vocab, size=(500, length))
        tokens = np.load(f"{folder}/d.npz")["tokens"]
        assert (tokens[:, 0] == 0).all() and (tokens[:, 1:] == expected).all(), (seed, vocab, length)
print(f"{len(cases)} datasets equal NumPy {np.__version__}")
