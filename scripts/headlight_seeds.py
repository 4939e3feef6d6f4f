"""Trains the notebook's model in Headlight once a seed: the table that compare_seeds.py takes.

    python scripts/headlight_seeds.py target/release/headlight 0 199 --out headlight_seeds.csv

Columns are those of keras_seeds.py, each computed in the same way: losses of epochs from the run,
all else from what `headlight dump` computes for the 8,000 training samples with the final weights.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

EPOCHS, POSITIONS = range(1, 4), range(7)
COLUMNS = (
    ["seed"]
    + [f"loss_{epoch}" for epoch in EPOCHS]
    + ["final_loss", "accuracy", "min_positive", "max_negative"]
    + [f"attention_{kind}_{at}" for kind in ["positive", "negative"] for at in POSITIONS]
)


def row(headlight: str, seed: int, folder: pathlib.Path) -> list[float]:
    def run(*arguments: str) -> None:
        subprocess.run([headlight, *map(str, arguments)], check=True, capture_output=True)

    trained, dump = folder / str(seed), folder / f"{seed}.npz"
    run("train", "--set", f"seed={seed}", "--set", "data.held_out=0", "--run", trained)
    run("dump", "--weights", trained / "model.safetensors", "--tokens", folder / "data.npz", "--out", dump)
    lines = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    found = np.load(dump)
    logits, positive = found["logits"].astype(np.float64), found["labels"] == 1
    probabilities = found["probabilities"].astype(np.float64)
    rows = found["attention_weights"][:, 0, 0, 0].astype(np.float64)  # [sample, key], from [CLS]
    dump.unlink()
    return [
        seed,
        *(line["train_loss"] for line in lines[1:]),
        np.mean(np.logaddexp(0.0, logits) - positive * logits),
        np.mean((logits >= 0) == positive),
        probabilities[positive].min(),
        probabilities[~positive].max(),
        *rows[positive].mean(axis=0),
        *rows[~positive].mean(axis=0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("headlight", help="the binary")
    parser.add_argument("first", type=int, help="first seed")
    parser.add_argument("last", type=int, help="last seed, included")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        data = [args.headlight, "data", "--set", "data.held_out=0", "--out", str(folder / "data.npz")]
        subprocess.run(data, check=True, capture_output=True)
        seeds = range(args.first, args.last + 1)
        rows = pool.map(lambda seed: row(args.headlight, seed, folder), seeds)
        with args.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows([int(first), *(f"{number:.9g}" for number in rest)] for first, *rest in rows)
    print(f"{args.out}: {len(seeds)} seeds")


if __name__ == "__main__":
    main()
