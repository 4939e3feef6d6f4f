"""Measures the cost of sharding: the same runs in 1, 2 and 64 shards, one after the other, and their merge.

    python3 scripts/benchmarks/bench_shards.py target/release/headlight

Rounds are interleaved. Prints the least wall and processor time of each number of shards, because other programs may
use the machine, and the ratio to the unsplit sweep.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SWEEP = ["sweep", "configs/notebook.toml", "--seeds", "0..2000"]
COUNTS = [1, 2, 64]
ROUNDS = 7


def timed(commands: list[list[str]]) -> tuple[float, float]:
    """Wall and processor seconds of some commands, run one after the other."""
    wall, before = time.perf_counter(), os.times()
    for command in commands:
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    after = os.times()
    processor = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - wall, processor


def main() -> None:
    headlight = str(Path(sys.argv[1]).resolve())
    found: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for _ in range(ROUNDS):
        for count in COUNTS:
            with tempfile.TemporaryDirectory() as folder:
                parts = [f"{folder}/{index}.jsonl" for index in range(1, count + 1)]
                shards = [
                    [headlight, *SWEEP, "--shard", f"{index}/{count}", "--out", part]
                    for index, part in enumerate(parts, 1)
                ]
                merge = [[headlight, "merge", *parts, "--out", f"{folder}/merged.jsonl"]]
                found.setdefault((count, "sweep"), []).append(timed(shards))
                found.setdefault((count, "merge"), []).append(timed(merge))

    def least(count: int, what: str, which: int) -> float:
        return min(times[which] for times in found[count, what])

    print("| shards | wall, s | ratio | processor, s | ratio | merge, s |")
    print("|---:|---:|---:|---:|---:|---:|")
    for count in COUNTS:
        wall, processor = least(count, "sweep", 0), least(count, "sweep", 1)
        print(
            f"| {count} | {wall:.2f} | {wall / least(1, 'sweep', 0):.3f} "
            f"| {processor:.2f} | {processor / least(1, 'sweep', 1):.3f} | {least(count, 'merge', 0):.3f} |"
        )


main()
