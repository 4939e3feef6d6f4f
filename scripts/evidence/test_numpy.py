"""The generator `numpy` draws what NumPy's legacy randint returns.

Each entry of data/numpy_randint.json, which tests of the core read, holds the first and last row and a hash of all rows (FNV-1a, 64 bits,
over the tokens as little-endian int64, without [CLS]).
"""

import itertools
import json

import numpy as np
import pytest
from common import ROOT, golden

SEEDS = [0, 1, 42, 2**32 - 1]
VOCAB_SIZES = [2, 3, 51, 300, 70_000]
LENGTHS = [1, 6, 64]
SAMPLES = 100


def fnv1a(data: bytes) -> str:
    state = 0xCBF29CE484222325
    for byte in data:
        state = ((state ^ byte) * 0x100000001B3) % 2**64
    return f"{state:016x}"


def expectation(seed: int, vocab_size: int, seq_len: int) -> dict:
    np.random.seed(seed)
    rows = np.random.randint(1, vocab_size, size=(SAMPLES, seq_len))
    return {
        "seed": seed,
        "vocab_size": vocab_size,
        "seq_len": seq_len,
        "samples": SAMPLES,
        "first": rows[0].tolist(),
        "last": rows[-1].tolist(),
        "fnv1a": fnv1a(rows.astype("<i8").tobytes()),
    }


def test_the_committed_draws_are_numpys():
    entries = [expectation(*case) for case in itertools.product(SEEDS, VOCAB_SIZES, LENGTHS)]
    text = "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"
    assert golden(ROOT / "data/numpy_randint.json", text) == text


@pytest.mark.parametrize(("seed", "vocab", "length"), [*itertools.product((0, 1, 42), (3, 51, 300, 70_000), LENGTHS)])
def test_a_dataset_is_numpys(headlight, seed, vocab, length):
    changes = [f"seed={seed}", f"vocab_size={vocab}", f"seq_len={length}", "samples=500", "held_out=0"]
    changes.append('rule={kind = "token-anywhere", token = 1}')
    tokens = headlight.data("notebook", *(f"data.{change}" for change in changes))["tokens"]
    np.random.seed(seed)
    assert (tokens[:, 0] == 0).all()
    assert (tokens[:, 1:] == np.random.randint(1, vocab, size=(500, length))).all()
