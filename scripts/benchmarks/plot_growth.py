"""Draws how a step of the fused engine grows with each size, and prints the same as a table.

    python scripts/benchmarks/plot_growth.py docs/growth.svg

Runs `cargo bench -p headlight-fused --bench growth` several times and takes the median of each size, so that other
load for some seconds does not bend a curve. Both axes of a plot are logarithmic; the thin line is a step that grows in
proportion to the size. Needs matplotlib.
"""

import json
import pathlib
import statistics
import subprocess
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parents[2]
TURNS = 7
BASES = {"one block": "C0o-", "two blocks": "C1s--"}
NAMES = ["d_model", "positions", "batch", "vocabulary", "heads", "blocks", "d_ff", "classes"]


def run() -> dict[tuple[str, str, int], float]:
    """Microseconds per step by model, name of the size, and size."""
    options = ["--warm-up-time", "0.1", "--measurement-time", "0.3", "--sample-size", "10", "--noplot"]
    command = ["cargo", "bench", "-p", "headlight-fused", "--bench", "growth", "--", " by ", *options]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    found = {}
    for path in (ROOT / "target" / "criterion").glob("* by */*/new/estimates.json"):
        base, name = path.parts[-4].split(" by ")
        estimate = json.loads(path.read_text())["median"]["point_estimate"]
        found[base, name, int(path.parts[-3])] = estimate / 1e3
    return found


def main() -> None:
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    turns = [run() for _ in range(TURNS)]
    median = {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}
    figure, plots = plt.subplots(2, 4, figsize=(12, 5.4), sharey=True)
    print("| size | model | µs per step, by size | growth over the last doubling |")
    print("|---|---|---|---:|")
    for plot, name in zip(plots.flat, NAMES):
        for base, style in BASES.items():
            points = {key[2]: time for key, time in sorted(median.items()) if key[:2] == (base, name)}
            if not points:
                continue
            sizes, times = list(points), list(points.values())
            plot.plot(sizes, times, style, label=base, markersize=4)
            row = ", ".join(f"{size}: {time:.2f}" for size, time in points.items())
            print(f"| {name} | {base} | {row} | {times[-1] / times[-2]:.2f} |")
        plot.plot(sizes, [times[-1] * size / sizes[-1] for size in sizes], color="0.6", linewidth=0.8)
        plot.set(xscale="log", yscale="log", title=name)
        plot.set_xticks(sizes, [str(size) for size in sizes])
        plot.minorticks_off()
        plot.grid(alpha=0.3)
    plots[0, 0].legend(frameon=False)
    for row in plots:
        row[0].set_ylabel("µs per step")
    figure.tight_layout()
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
