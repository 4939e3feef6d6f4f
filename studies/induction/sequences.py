"""Writes random sequences of 32 tokens that repeat with a period of 8 to 16, for varying_period.toml.

    python studies/induction/sequences.py varying_period.npz
"""

import sys

import numpy as np

LENGTH, TOKENS, PERIODS = 32, 32, range(8, 17)
TRAINING, HELD_OUT = 96_000, 1_000


def repeated(samples, periods, rng):
    """Random sequences, each with one of the periods."""
    tokens = rng.integers(0, TOKENS, (samples, LENGTH))
    period = rng.choice(periods, samples)
    for position in range(LENGTH):
        is_copy = np.nonzero(position >= period)[0]
        tokens[is_copy, position] = tokens[is_copy, position - period[is_copy]]
    return tokens


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    np.savez(sys.argv[1], tokens=repeated(TRAINING, PERIODS, rng), held_out_tokens=repeated(HELD_OUT, PERIODS, rng))
