"""Tests whether Keras's and Headlight's seeds look like draws from one distribution.

    headlight sweep --seeds 0..1000 --out seeds.jsonl
    python scripts/keras/compare_seeds.py data/keras_seeds.csv seeds.jsonl

Prints a Markdown table: for each column the mean of each file with its 95% confidence interval
(Student's t), and the p-value of a two-sample Kolmogorov-Smirnov test. Exits with 1 if any p is
below 0.01. There are 21 columns, many of them correlated, so this also happens by chance, in at most
a fifth of the comparisons of two files from one distribution.

A .jsonl file is a sweep's: its `epoch_loss` and both `attention_` fields are lists. You can also compare
two of Keras's tables.
"""

import argparse
import csv
import json
import pathlib
import sys

import numpy as np
from scipy import stats

THRESHOLD = 0.01


def read(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Columns by name, without the seeds."""
    with path.open(newline="") as file:
        if path.suffix == ".jsonl":
            rows = [flatten(json.loads(line)) for line in file]
        else:
            rows = list(csv.DictReader(file))
    return {
        name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name != "seed"
    }


def flatten(run: dict) -> dict[str, float]:
    """A row of a sweep as the columns of the CSV file."""
    row = {"seed": run["seed"]}
    for epoch, loss in enumerate(run["epoch_loss"], start=1):
        row[f"loss_{epoch}"] = loss
    for name in ["final_loss", "accuracy", "min_positive", "max_negative"]:
        row[name] = run[name]
    for name in ["attention_positive", "attention_negative"]:
        for position, weight in enumerate(run[name]):
            row[f"{name}_{position}"] = weight
    return row


def mean_with_interval(values: np.ndarray) -> str:
    half = stats.sem(values) * stats.t.ppf(0.975, len(values) - 1)
    return f"{values.mean():.5f} ± {half:.5f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("keras", type=pathlib.Path, metavar="KERAS.csv")
    parser.add_argument("headlight", type=pathlib.Path, metavar="HEADLIGHT.csv|.jsonl")
    args = parser.parse_args()
    keras, headlight = read(args.keras), read(args.headlight)
    if set(keras) != set(headlight):
        sys.exit(f"only one of the files has these columns: {sorted(set(keras) ^ set(headlight))}")
    runs = [len(next(iter(columns.values()))) for columns in [keras, headlight]]
    print(f"| | Keras, {runs[0]} seeds | Headlight, {runs[1]} seeds | p |")
    print("|---|---|---|---|")
    unlike = []
    for name in keras:
        p = stats.ks_2samp(keras[name], headlight[name]).pvalue
        means = [mean_with_interval(columns[name]) for columns in [keras, headlight]]
        print(f"| `{name}` | {means[0]} | {means[1]} | {p:.3f} |")
        if not p >= THRESHOLD:  # also for NaN
            unlike.append(name)
    if unlike:
        sys.exit(f"p below {THRESHOLD}: {', '.join(unlike)}")


if __name__ == "__main__":
    main()
