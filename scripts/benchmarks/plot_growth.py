"""Draws how a step of the fused engine grows with each size, and prints the same as a table.

    python scripts/benchmarks/plot_growth.py docs/growth.svg target/release/headlight

Runs `cargo bench -p headlight-fused --bench growth` several times and takes the median of each size, so that other
load for some seconds does not bend a curve. Both axes of a plot are logarithmic; the thin line is a step that grows in
proportion to the size. The last plot has steps of whole trainings (peers/shapes.py) on one thread and more; its thin line is a step
that takes half the time on twice the threads. Needs matplotlib, and what peers/headlight.py needs.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts" / "benchmarks" / "peers"))
from headlight import Headlight  # noqa: E402
from shapes import SHAPES  # noqa: E402

TURNS = 7
BASES = {"one block": "C0o-", "two blocks": "C1s--"}
ON_THREADS = ["64 positions", "max of four", "balanced brackets", "a + b mod 59"]
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


def threads(program: str) -> dict[str, dict[int, float]]:
    """Microseconds per step by shape and number of threads."""
    counts = [1 << power for power in range(len(os.sched_getaffinity(0)).bit_length())]
    found = {name: {count: [] for count in counts} for name in ON_THREADS}
    for name, times in found.items():
        with tempfile.TemporaryDirectory() as folder:
            own = Headlight(program, SHAPES[name], pathlib.Path(folder))
            for _ in range(TURNS):
                for count in counts:
                    times[count].append(1e6 * own.step(SHAPES[name].steps, "--threads", str(count)))
    return {name: {count: statistics.median(turns) for count, turns in times.items()} for name, times in found.items()}


def draw(plot: plt.Axes, title: str, sizes: list[int], last: float, power: int) -> None:
    """What all plots have; the thin line grows with a power of the size."""
    plot.plot(sizes, [last * (size / sizes[-1]) ** power for size in sizes], color="0.6", linewidth=0.8)
    plot.set(xscale="log", yscale="log", title=title)
    plot.set_xticks(sizes, [str(size) for size in sizes])
    plot.minorticks_off()
    plot.grid(alpha=0.3)


def main() -> None:
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    turns = [run() for _ in range(TURNS)]
    median = {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}
    figure, plots = plt.subplots(3, 3, figsize=(10, 8.4), sharey=True)
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
        draw(plot, name, sizes, times[-1], 1)
    plot = plots.flat[len(NAMES)]
    for index, (name, times) in enumerate(threads(sys.argv[2]).items()):
        plot.plot(list(times), list(times.values()), f"C{index + 2}o-", label=name, markersize=4)
        row = ", ".join(f"{count}: {time:.0f}" for count, time in times.items())
        print(f"| threads | {name} | {row} | {list(times.values())[-1] / list(times.values())[-2]:.2f} |")
        draw(plot, "threads, with evaluations", list(times), list(times.values())[0] / max(times), -1)
    plot.legend(frameon=False, fontsize=7, loc="lower left")
    plots[0, 0].legend(frameon=False)
    for row in plots:
        row[0].set_ylabel("µs per step")
    figure.tight_layout()
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
