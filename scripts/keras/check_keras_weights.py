"""Checks that Headlight's binary and Keras compute the same from the same weights, in both directions.

    python scripts/keras/check_keras_weights.py --headlight target/release/headlight

Into Keras: Headlight trains configs/notebook.toml, and Keras gets its weights and the samples of its
last dump. Out of Keras: `headlight dump` gets fresh weights and 200 samples, and then the same weights
with every parameter changed so that no bias is 0; with one, two and four heads. Prints the largest
differences.
"""

import argparse
import csv
import pathlib
import subprocess
import tempfile

import numpy as np
import safetensors.numpy

from keras_weights import build_for
from notebook_keras import build_model, dataset, from_headlight, internals, keras, to_headlight

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "configs" / "notebook.toml"
SAMPLES = 200
TOLERANCES = {
    "attention_weights": 1e-6,
    "context": 1e-6,
    "attention_scores": 2e-6,
    "logits": 5e-6,
    "probabilities": 5e-6,
    "query": 5e-6,
    "key": 5e-6,
    "value": 5e-6,
    "embeddings": 1e-6,
    "residual": 5e-6,
}


def compare(title: str, dump: np.lib.npyio.NpzFile, model: keras.Model, tolerances: dict) -> None:
    """Compares a dump of one layer with what Keras computes for its tokens."""
    expected = internals(model, dump["tokens"])
    print(f"{title}, {len(dump['tokens'])} samples")
    for name, tolerance in tolerances.items():
        found = dump[name]
        if found.ndim == expected[name].ndim + 1:
            found = found[:, 0]
        assert found.shape == expected[name].shape, (name, found.shape, expected[name].shape)
        difference = np.abs(found - expected[name]).max()
        print(f"  {name:18} {difference:.1e}  (largest value {np.abs(expected[name]).max():.3g})")
        assert difference <= tolerance, f"{name}: {difference} is more than {tolerance}"


def into_keras(headlight: str, folder: pathlib.Path) -> None:
    run = folder / "run"
    call(headlight, "train", CONFIG, "--run", run)
    model = build_for(safetensors.numpy.load_file(run / "model.safetensors"), n_heads=1)
    last = max((run / "attention").glob("*.npz"))
    compare("trained by Headlight", np.load(last), model, dict.fromkeys(TOLERANCES, 1e-5))


def out_of_keras(headlight: str, folder: pathlib.Path) -> None:
    table, samples = folder / "all.csv", folder / "samples.csv"
    call(headlight, "data", CONFIG, "--out", table)
    lines = table.read_text().splitlines(keepends=True)
    samples.write_text("".join(lines[: SAMPLES + 1]))
    with samples.open(newline="") as file:
        rows = [[int(row[f"token_{at}"]) for at in range(7)] for row in csv.DictReader(file)]
    assert np.array_equal(rows, dataset()[0][:SAMPLES]), "this is not the notebook's dataset"

    weights, out = folder / "keras.safetensors", folder / "dump.npz"
    keras.utils.set_random_seed(0)
    generator = np.random.default_rng(0)
    for n_heads in [1, 2, 4]:
        model = build_model(n_heads=n_heads)
        for title in ["fresh from Keras", "moved, no bias 0"]:
            safetensors.numpy.save_file(to_headlight(model), weights)
            given = ["--set", f"model.n_heads={n_heads}", "--weights", weights, "--tokens", samples]
            call(headlight, "dump", CONFIG, *given, "--force", "--out", out)
            with np.load(out) as dump:
                assert np.array_equal(dump["tokens"], rows)
                compare(f"{title}, heads: {n_heads}", dump, model, TOLERANCES)
            moved = {
                name: (values + generator.normal(0.0, 0.3, values.shape)).astype(np.float32)
                for name, values in to_headlight(model).items()
            }
            from_headlight(moved, model)


def call(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headlight", required=True, help="the binary")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        into_keras(args.headlight, pathlib.Path(folder))
        out_of_keras(args.headlight, pathlib.Path(folder))


if __name__ == "__main__":
    main()
