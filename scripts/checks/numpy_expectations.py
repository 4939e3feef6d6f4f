"""Records what NumPy's legacy randint returns, for the tests of the `numpy` generator.

    python scripts/checks/numpy_expectations.py                      # writes data/numpy_randint.json
    python scripts/checks/numpy_expectations.py --check HEADLIGHT    # compares it, and what `headlight data` writes, with NumPy

Each entry holds the first and last row and a hash of all rows (FNV-1a, 64 bits, over the tokens as
little-endian int64, without [CLS]).
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy as np

PATH = pathlib.Path(__file__).resolve().parents[2] / "data" / "numpy_randint.json"
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


def check_data(headlight: str) -> None:
    """The datasets that `headlight data` writes are NumPy's."""
    cases = list(itertools.product((0, 1, 42), (3, 51, 300, 70_000), LENGTHS))
    with tempfile.TemporaryDirectory() as folder:
        for seed, vocab, length in cases:
            changes = [f"seed={seed}", f"vocab_size={vocab}", f"seq_len={length}", "samples=500", "held_out=0"]
            changes.append('rule={kind = "token-anywhere", token = 1}')
            command = [headlight, "data", "--force", "--out", f"{folder}/d.npz"]
            command += [part for change in changes for part in ("--set", f"data.{change}")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            np.random.seed(seed)
            expected = np.random.randint(1, vocab, size=(500, length))
            tokens = np.load(f"{folder}/d.npz")["tokens"]
            assert (tokens[:, 0] == 0).all() and (tokens[:, 1:] == expected).all(), (seed, vocab, length)
    print(f"{len(cases)} datasets equal NumPy {np.__version__}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", metavar="HEADLIGHT", help="compare instead of writing")
    args = parser.parse_args()
    entries = [expectation(*case) for case in itertools.product(SEEDS, VOCAB_SIZES, LENGTHS)]
    text = "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"
    if args.check:
        assert PATH.read_text() == text, f"{PATH.name} differs from NumPy {np.__version__}"
        print(f"{PATH.name}: {len(entries)} cases equal NumPy {np.__version__}")
        check_data(args.check)
    else:
        PATH.write_text(text)


if __name__ == "__main__":
    main()
