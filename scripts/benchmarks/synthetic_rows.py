"""Makes up rows like a sweep's, to measure `headlight merge` and `headlight report` with more runs than
anyone wants to train.

    python scripts/benchmarks/synthetic_rows.py 1000000 --shards 64 --out rows

writes rows/part-01.jsonl to rows/part-64.jsonl, with the same bytes each time. The numbers look like those of the
notebook's experiment; one run in a thousand failed. `--grid` makes up a grid of two learning rates. Needs only
Python.
"""

import argparse
import hashlib
import json
import random
from pathlib import Path

POSITIONS = 7
RATES = [1e-3, 3e-3]


def attention(rng, watched):
    """A row of attention weights: `watched` on position 3, the rest on the others."""
    rest = [rng.random() + 0.5 for _ in range(POSITIONS - 1)]
    scale = (1 - watched) / sum(rest)
    weights = [weight * scale for weight in rest]
    return weights[:3] + [watched] + weights[3:]


def row(rng, seed, point, grid):
    place = {"seed": seed}
    if grid:
        place |= {"point": point, "training.learning_rate": RATES[point]}
    config = hashlib.sha256(b"grid" if grid else b"synthetic").hexdigest()
    if rng.random() < 0.001:
        step = rng.randrange(1, 1500)
        error = f"training diverged: the loss of step {step} is NaN"
        return place | {"error": error, "config_sha256": config}
    loss = rng.lognormvariate(-7, 0.4)
    learned = int(rng.gauss(777, 140)) if rng.random() < 0.99 else None
    f1 = 1.0 if learned else rng.uniform(0.5, 0.98)
    whole = ["accuracy", "precision", "recall", "f1"]
    return (
        place
        | {"epoch_loss": [rng.gauss(0.09, 0.004), rng.gauss(0.022, 0.003), 2 * loss]}
        | {"final_loss": loss}
        | dict.fromkeys(whole, f1)
        | {"held_out_final_loss": 1.1 * loss}
        | {f"held_out_{name}": f1 for name in whole}
        | {"min_positive": 1 - 40 * loss, "max_negative": 30 * loss}
        | {"attention_positive": attention(rng, rng.betavariate(42, 40))}
        | {"attention_negative": attention(rng, rng.betavariate(21, 43))}
        | {"learned_at_step": learned}
        | {"weights_sha256": f"{rng.getrandbits(256):064x}", "config_sha256": config}
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=int)
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--grid", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    points = len(RATES) if options.grid else 1
    for shard in range(options.shards):
        first, last = (options.runs * edge // options.shards for edge in (shard, shard + 1))
        with open(options.out / f"part-{shard + 1:02}.jsonl", "w") as file:
            for run in range(first, last):
                fields = row(rng, run // points, run % points, options.grid)
                file.write(json.dumps(fields, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
