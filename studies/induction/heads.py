"""Which heads let a model predict sequences that repeat, and whether it finds what repeats or has learned a distance.

    python studies/induction/heads.py target/release/headlight studies/induction/fixed_period.toml 10

Trains the seeds from 0, and for each:
- says between which steps the loss drops: where its mean over 50 steps has come 10% and 90% of the way from chance to its end;
- evaluates the held-out samples without each head in turn;
- measures, over sequences of period 16, each head's mean attention from a repeated token to the token that followed one
  period before, and from any token to the one before it;
- measures the accuracy after repeated tokens, in sequences of several periods.

Prints a row for each seed, and the heads of the last one. Needs NumPy.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

LENGTH, TOKENS = 32, 32
PERIODS, MEASURED, SEQUENCES = [8, 12, 16, 20], 16, 200


def printed(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def repeated(period):
    """Random sequences that repeat after a period."""
    tokens = np.random.default_rng(period).integers(0, TOKENS, (SEQUENCES, LENGTH))
    return np.ascontiguousarray(tokens[:, np.arange(LENGTH) % period])


def loss(headlight, run, *changes):
    return json.loads(printed(headlight, "evaluate", run, "--json", *changes))["loss"]


def drop(run):
    """The steps at which the training loss has dropped by 10% and by 90% of its whole drop."""
    losses = np.convolve(np.load(run / "loss.npy"), np.full(50, 1 / 50), "valid")
    chance = np.log(TOKENS)
    return [50 + int((losses < chance - share * (chance - losses[-1])).argmax()) for share in (0.1, 0.9)]


def dump(headlight, run, period):
    """What the model computes for sequences of a period."""
    samples, out = run / "sequences.npz", run / "dump.npz"
    np.savez(samples, tokens=repeated(period))
    printed(headlight, "dump", run / "config.toml", "--weights", run / "model.safetensors", "--samples", samples, "--out", out, "--force")
    return np.load(out)


def accuracy(values, period):
    """The share of right predictions after a repeated token."""
    is_right = values["logits"].argmax(-1) == values["labels"]
    return is_right[:, period : LENGTH - 1].mean()


def attention(values, period):
    """Of each block and head: mean attention on the token that followed one period before, and on the token before."""
    weights = values["attention_weights"].mean(0)
    repeats, later = np.arange(period, LENGTH - 1), np.arange(1, LENGTH)
    return weights[..., repeats, repeats - period + 1].mean(-1), weights[..., later, later - 1].mean(-1)


def main():
    headlight, config, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    periods = [f"accuracy, period {period}" for period in PERIODS]
    columns = ["seed", "drop at steps", "held-out loss", "without a head of block 0", "of block 1", "attention in block 0", "in block 1", *periods]
    print(f"| {' | '.join(columns)} |\n|{'---:|' * len(columns)}")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(seeds):
            run = pathlib.Path(folder) / f"run-{seed}"
            printed(headlight, "train", config, "--set", f"seed={seed}", "--run", run, "--quiet")
            first, last = drop(run)
            whole = loss(headlight, run)
            after, before = attention(dump(headlight, run, MEASURED), MEASURED)
            without = np.zeros(after.shape)
            for block, head in np.ndindex(without.shape):
                without[block, head] = loss(headlight, run, "--without-head", f"{block}.{head}")
            ranges = [f"{values.min():.2f} to {values.max():.2f}" for values in [*without, *after]]
            right = [f"{accuracy(dump(headlight, run, period), period):.3f}" for period in PERIODS]
            print(f"| {seed} | {first} to {last} | {whole:.3f} | {' | '.join(ranges)} | {' | '.join(right)} |", flush=True)
    print("\n| head | held-out loss without it | attention on what followed one period before | on the token before |")
    print("|---|---:|---:|---:|")
    for block, head in np.ndindex(without.shape):
        print(f"| {block}.{head} | {without[block, head]:.3f} | {after[block, head]:.3f} | {before[block, head]:.3f} |")


if __name__ == "__main__":
    main()
