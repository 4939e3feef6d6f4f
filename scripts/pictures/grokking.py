"""Draws grokking: accuracy on training and held-out pairs over the steps, for many seeds, with and without weight decay.

    python scripts/pictures/grokking.py target/release/headlight docs/pictures/grokking.svg [FOLDER]

Trains the built-in config `grokking` with 20 seeds of 3,000 steps, and with 3 seeds of 10,000 steps without weight decay,
and prints the step from which each seed is right on 99% of the held-out pairs. The runs are kept in FOLDER if it is given,
and read from there again. Needs matplotlib.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# Name, seeds, steps, weight decay.
PARTS = [("weight decay 1", 20, 3_000, 1.0), ("no weight decay", 3, 10_000, 0.0)]
LEARNED = 0.99
TRAINING, HELD_OUT = "#9a6a1f", "#2a6f97"


def train(program, folder, seed, steps, decay):
    """The evaluations of a run: step, accuracy on training and on held-out samples."""
    run = folder / f"decay-{decay}-seed-{seed}"
    if not (run / "manifest.sha256").exists():
        settings = [f"seed={seed}", f"data.seed={seed}", f"training.steps={steps}", f"training.weight_decay={decay}"]
        command = [program, "train", "grokking", "--quiet", "--force", "--run", run]
        subprocess.run([*command, *(part for set in settings for part in ("--set", set))], check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [(row["step"], row["accuracy"], row["held_out_accuracy"]) for row in rows if row["step"] > 0]


def learned(rows, column):
    """The first evaluated step from which the accuracy stays at LEARNED or more."""
    below = [step for step, *accuracies in rows if accuracies[column] < LEARNED]
    after = [step for step, *_ in rows if not below or step > below[-1]]
    return after[0] if after else None


def main(program, picture, folder):
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for panel, (name, seeds, steps, decay) in zip(panels, PARTS):
        with ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda seed: train(program, folder, seed, steps, decay), range(seeds)))
        for rows in runs:
            at = [step for step, *_ in rows]
            panel.plot(at, [row[1] for row in rows], color=TRAINING, alpha=0.6, linewidth=1)
            panel.plot(at, [row[2] for row in rows], color=HELD_OUT, alpha=0.6, linewidth=1)
        panel.set(xscale="log", xlabel="step", ylim=(-0.02, 1.02), title=f"{name}: {seeds} seeds")
        panel.spines[["top", "right"]].set_visible(False)
        for column, split in enumerate(["training", "held-out"]):
            found = [step for rows in runs if (step := learned(rows, column)) is not None]
            text = f"{name}: {len(found)} of {seeds} seeds are right on 99% of the {split} pairs"
            print(text + (f", from step {min(found)} to {max(found)}, median {statistics.median(found):.0f}" if found else ""))
        last = [rows[-1][2] for rows in runs]
        print(f"{name}: accuracy on held-out pairs after step {steps}: {min(last):.3f} to {max(last):.3f}")
    panels[0].set_ylabel("accuracy")
    panels[0].plot([], [], color=TRAINING, label="training pairs")
    panels[0].plot([], [], color=HELD_OUT, label="held-out pairs")
    panels[0].legend(loc="upper left", frameon=False)
    figure.suptitle("(a + b) modulo 59: half of all pairs, in one batch per step")
    plt.rcParams["svg.hashsalt"] = "grokking"
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    program, picture = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as temporary:
        main(program, picture, pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else temporary))
