"""Random commands over a folder of runs, with kills, full disks, limits and damage between them.

    python3 scripts/checks/soak.py target/release/headlight 60 [SEED]

After each command the rules of docs/promises.md are checked: exit code, message, whose files changed, whether outputs
and results files are whole, and whether a run that ended has the bytes of the undisturbed run. `soaking/world.py` has
the rules; each function of `OPERATIONS`, in a file of `soaking/`, is one operation. The seed determines the commands,
except where times matter: a kill that comes a moment later may leave another state.

The first broken rule ends the soak with exit code 1. It prints the seed and the last commands, and keeps the folder and
the history. With --keep-going, it empties the folder, continues, and prints all broken rules at the end. --without
leaves out kinds of disturbances (file-size, descriptors, memory, SIGKILL, ...) and operations, by name, to look past
known faults.
"""

import argparse
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from soaking import beside, damage, disks, hostile, processes, readers, sweeps, training, usage
from soaking.world import World

CORPUS = Path(__file__).resolve().parents[2] / "crates" / "fuzz" / "corpus"

OPERATIONS = {
    training.train: 8,
    training.resume_a_run: 12,
    training.kill_again_and_again: 3,
    training.extend: 4,
    training.train_over_a_run: 2,
    beside.two_processes: 2,
    beside.delete_while_written: 1,
    training.diverge: 1,
    training.through_a_link: 1,
    sweeps.sweep: 8,
    beside.two_sweeps: 1,
    sweeps.list_shards: 2,
    sweeps.merge: 6,
    sweeps.report: 6,
    readers.data: 6,
    readers.init: 2,
    readers.inspect: 6,
    readers.predict: 5,
    readers.evaluate: 4,
    readers.dump: 4,
    readers.compare: 3,
    readers.walkthrough: 2,
    beside.read_while_written: 2,
    beside.move_results_while_written: 1,
    disks.in_a_read_only_folder: 2,
    disks.train_on_a_full_disk: 2,
    disks.sweep_on_a_full_disk: 2,
    disks.output_on_a_full_disk: 2,
    usage.random_usage: 12,
    usage.large_seeds: 1,
    usage.strange_names: 2,
    hostile.read_hostile_files: 8,
    damage.damage_run: 8,
    damage.whole_run_damaged: 1,
    damage.rename_run: 2,
    damage.damage_results: 4,
}
"""The operations, and how often each is chosen."""

MOST_RUNS = 12
"""More runs than these are removed, the oldest first, so that looking at all files stays quick."""


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int, nargs="?")
    parser.add_argument("--keep-going", action="store_true", help="continue after a broken rule")
    parser.add_argument("--history", type=Path, help="write the commands to this file, also if no rule is broken")
    parser.add_argument("--without", default="", help="disturbances and operations to leave out, with commas between")
    return parser.parse_args()


def chosen_operations(without: set[str]) -> dict:
    """The operations to choose from. Leaves out disturbances, too."""
    names = {operation.__name__ for operation in OPERATIONS} | set(processes.ANY)
    if without - names:
        raise SystemExit(f"--without: unknown: {', '.join(sorted(without - names))}; known: {', '.join(sorted(names))}")
    processes.LEFT_OUT |= without
    return {operation: weight for operation, weight in OPERATIONS.items() if operation.__name__ not in without}


def tidy(world: World) -> None:
    """Removes runs and files that have become too many."""
    while len(world.runs) > MOST_RUNS:
        world.forget(world.runs[0])
    for results in world.results[:-20]:
        world.results.remove(results)
        world.path(results.name).unlink(missing_ok=True)
    outputs = sorted(world.path("out").iterdir(), key=lambda path: path.lstat().st_mtime_ns)
    for path in outputs[:-20]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def soak(world: World, chosen: dict, seconds: float, keep_going: bool) -> dict[str, list[str]]:
    """Works until the time is over; returns the broken rules by kind."""
    end = time.monotonic() + seconds
    broken: dict[str, list[str]] = {}
    while time.monotonic() < end:
        operation = world.random.choices(list(chosen), list(chosen.values()))[0]
        world.tell(operation.__name__)
        world.counts["operations"] += 1
        try:
            operation(world)
        except Exception:  # A fault of the soak, too, is to be told with the history.
            world.problem("the soak itself", traceback.format_exc())
        if world.problems:
            for kind, text in world.problems:
                broken.setdefault(kind, []).append(f"{operation.__name__}: {text}")
            if not keep_going:
                break
            world.problems.clear()
            world.begin()
        tidy(world)
    return broken


def main() -> None:
    """Soaks, and prints the result."""
    given = arguments()
    seed = random.randrange(2**32) if given.seed is None else given.seed
    chosen = chosen_operations(set(filter(None, given.without.split(","))))
    mounts = processes.can_mount()
    folder = Path(tempfile.mkdtemp(prefix="headlight-soak-"))
    began = time.monotonic()
    world = World(str(given.binary.resolve()), folder, seed, CORPUS, mounts)
    broken = soak(world, chosen, given.seconds, given.keep_going)

    print(f"commands: {', '.join(f'{count} {name}' for name, count in sorted(world.counts.items()))}")
    print(f"ends, by disturbance: {', '.join(f'{end} ({count})' for end, count in sorted(world.ends.items()))}")
    if not mounts:
        print("not tried: full disks and folders that cannot be written, since nothing can be mounted here")
    for file in filter(None, [given.history, folder / "history.txt" if broken else None]):
        file.write_text("\n".join(world.history) + "\n")
    if broken:
        for kind, texts in sorted(broken.items()):
            print(f"\nBROKEN, {kind}: {len(texts)} times")
            print("\n".join(f"  {text}" for text in texts[:20]))
        if not given.keep_going:
            print("\nthe last commands, with their exit codes:\n" + "\n".join(world.history[-60:]))
        print(f"\nsoak: seed {seed} broke {sum(map(len, broken.values()))} rules; the folder and history.txt: {folder}")
        sys.exit(1)
    shutil.rmtree(folder)
    processor = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"soak: {world.counts['operations']} operations in {time.monotonic() - began:.0f} s with seed {seed}, "
        f"{processor.ru_utime + processor.ru_stime:.0f} s of processor time in commands: every rule held"
    )


if __name__ == "__main__":
    main()
