"""Where [CLS] looks in the runs of a sweep: the figures of EXPERIMENTS.md, "a thousand seeds of each config".

    headlight sweep configs/equal_positions.toml --seeds 0..1000 --out seeds.jsonl
    python3 studies/built_in/where_seeds_look.py seeds.jsonl 2 5

Prints which runs learned and when, and [CLS]'s mean attention on the given positions together, over positives and over
negatives. Then it counts the runs that look elsewhere.
"""

import json
import statistics
import sys


def main() -> None:
    path, positions = sys.argv[1], [int(position) for position in sys.argv[2:]]
    with open(path) as file:
        rows = [row for row in map(json.loads, file) if "error" not in row]
    learned = [row for row in rows if row["learned_at_step"] is not None]
    steps = [row["learned_at_step"] for row in learned]
    print(f"{len(learned)} of {len(rows)} runs learned")
    if len(steps) > 1:
        # As `headlight report`: a quantile between two runs is interpolated.
        low, median, high = (statistics.quantiles(steps, n=20, method="inclusive")[at] for at in [0, 9, 18])
        print(f"at step {low:.0f}, {median:.0f}, {high:.0f}; last {max(steps)}")
    f1 = [row["held_out_f1"] for row in rows]
    print(f"held-out F1: mean {statistics.mean(f1):.4f}, least {min(f1):.3f}, largest {max(f1):.4f}")
    late = [row["seed"] for row in learned if row["held_out_f1"] < 0.99]
    missed = [row["seed"] for row in rows if row["learned_at_step"] is None]
    print(f"learned, but end below 0.99: {len(late)} {late[:5]}; never learned: {len(missed)} {missed[:5]}")
    losses = [row["final_loss"] for row in rows]
    print(f"final loss: {statistics.mean(losses):.4f} ± {statistics.stdev(losses):.4f}")
    weights = [weight for row in rows for key in ["attention_positive", "attention_negative"] for weight in row[key]]
    even = 1 / len(rows[0]["attention_positive"])
    print(f"largest distance from even attention: {max(abs(weight - even) for weight in weights):.4f}")
    if not positions:
        return

    def on(row: dict, samples: str) -> float:
        return sum(row[f"attention_{samples}"][position] for position in positions)

    for samples in ["positive", "negative"]:
        print(f"attention on {positions}, {samples}s: {statistics.mean(on(row, samples) for row in rows):.3f}")
    reversed_runs = sum(on(row, "positive") < on(row, "negative") for row in rows)
    clearly = sum(on(row, "positive") < 0.35 for row in rows)
    print(f"less for positives than for negatives: {reversed_runs}; below 0.35 for positives: {clearly}")
    print(f"below 0.9 for positives: {sum(on(row, 'positive') < 0.9 for row in rows)}")
    elsewhere = [row["seed"] for row in learned if on(row, "positive") < 0.5]
    print(f"learned, with less than half: {len(elsewhere)} {elsewhere[:4]}")
    if len(positions) == 2:
        pairs = [[row["attention_positive"][position] for position in positions] for row in learned]
        alone = [first > second for first, second in pairs if min(first, second) < 0.1]
        print(f"learned, with less than 0.1 on one position: {len(alone)}, {sum(alone)} of them more on {positions[0]}")


if __name__ == "__main__":
    main()
