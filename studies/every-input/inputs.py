"""What the wrong inputs of some seeds hold (certified.csv), and the crowded samples of each dataset (crowded.csv). In about two minutes:

    python -m studies.every-input.inputs target/release/headlight [SEED...]    # from the repository's root; with seeds, prints theirs alone
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

from studies import common as c

TOKEN, POSITION = 42, 3
# Seeds that are trained again, and those of them whose smallest margins are searched for.
CERTIFIED, WITH_MARGINS = 100, 10
HOME = pathlib.Path(__file__).parent
DATASETS = [*([f"data.seed={seed}"] for seed in range(9)), *(["data.generator=chacha", f"data.positive_rate={rate}"] for rate in (0.02, 0.5))]


def headlight(*arguments):
    """Runs a command of Headlight; returns what it prints."""
    return subprocess.run([sys.argv[1], "--quiet", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def certified(seed, has_margins):
    """Trains a seed, and counts its answers to all inputs."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        headlight("train", HOME / "seeds.toml", "--set", f"seed={seed}", "--run", run)
        negative, positive = json.loads(headlight("certify", run, "--json", "--examples", int(has_margins)))["classes"]
    common = next((own for own in negative["common"] if own["token"] == TOKEN), {})
    row = {"seed": seed, "positives_wrong": positive["wrong"], "tokens": common.get("per_wrong_input")}
    row |= {f"position_{place}": share for place, share in enumerate(common.get("positions", [])) if place not in (0, POSITION)}
    if has_margins:
        row |= {"smallest_negative": negative["smallest_margin"], "smallest_positive": positive["smallest_margin"]}
    return row


def crowded(changes):
    """The negative training samples with the token at two positions, and at three or more."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "samples.npz"
        headlight("data", HOME / "seeds.toml", *(part for change in changes for part in ("--set", change)), "--out", path)
        with np.load(path) as data:
            tokens = data["tokens"]
    counts = (tokens == TOKEN).sum(axis=1)[tokens[:, POSITION] != TOKEN]
    return {"set": " ".join(changes), "two": (counts == 2).sum(), "three_or_more": (counts >= 3).sum()}


def main():
    """Writes both tables, or prints the rows of some seeds."""
    seeds = [int(seed) for seed in sys.argv[2:]]
    if seeds:
        print(pd.DataFrame([certified(seed, seed < WITH_MARGINS) for seed in seeds]).to_csv(index=False), end="")
        return
    rows = c.read_rows(HOME / "rows" / "seeds.jsonl.xz")
    away = c.numbers(rows, "attention_positive/3") < c.numbers(rows, "attention_negative/3")
    chosen = rows.seed[away | (rows.index < CERTIFIED)]
    pd.DataFrame([certified(seed, seed < WITH_MARGINS) for seed in chosen]).to_csv(HOME / "certified.csv", index=False)
    pd.DataFrame([crowded(changes) for changes in DATASETS]).to_csv(HOME / "crowded.csv", index=False)


if __name__ == "__main__":
    main()
