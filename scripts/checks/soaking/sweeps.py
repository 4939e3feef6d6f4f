"""Sweeps, shards, merges and reports."""

import csv
import json

from .experiments import SWEEPS
from .outputs import launch_with_output, output
from .processes import ANY, WITHOUT_STOPS, Disturbance, disturbance
from .snapshots import is_whole, whole_lines
from .world import Results, World


def new_results(world: World, sweep: str | None = None) -> Results:
    """A results file that no command has written yet."""
    sweep = sweep or world.random.choice(list(SWEEPS))
    seeds = world.random.choice([3, 8, 20])
    shard = None
    if world.random.random() < 0.3:
        count = world.random.randrange(2, 4)
        shard = (world.random.randrange(1, count + 1), count)
    results = Results(world.new("results", ".jsonl"), sweep, seeds, shard)
    world.results.append(results)
    return results


def sweep_arguments(results: Results, *more: str) -> list[str]:
    """The command of a sweep."""
    experiment, flags, _ = SWEEPS[results.sweep]
    arguments = ["sweep", f"configs/{experiment}.toml", *flags, "--seeds", f"0..{results.seeds}"]
    if results.shard:
        arguments += ["--shard", "{}/{}".format(*results.shard)]
    return [*arguments, "--out", results.name, *more]


def sweep_into(world: World, results: Results, what: Disturbance | None = None) -> None:
    """Starts or resumes a sweep."""
    what = what or Disturbance()
    codes = SWEEPS[results.sweep][2]
    if results.shard and codes == {3}:
        codes = {0, 3}
    threads = ["--threads", str(world.random.randrange(1, 4))]
    picture = results.name.replace(".jsonl", ".svg")
    arguments = sweep_arguments(results, *threads)
    finished = world.launch(arguments, codes=codes, writes=(results.name, picture), what=what)
    world.check_results(results, finished, what)
    drawn = world.path(picture)
    if drawn.exists() and not is_whole(picture, drawn.read_bytes()):
        world.problem("output", f"{picture} is not whole")


def sweep(world: World) -> None:
    """A sweep, disturbed, and then often resumed to its end."""
    known = world.results and world.random.random() < 0.5
    results = world.random.choice(world.results) if known else new_results(world)
    if results.shard is None and world.random.random() < 0.3:
        results.seeds = max(results.seeds, 20)
    sweep_into(world, results, disturbance(world.random, ANY))
    if world.random.random() < 0.5:
        sweep_into(world, results)


def list_shards(world: World) -> None:
    """Shards that schedulers name, merged: the bytes of the unsplit sweep."""
    name = world.random.choice([name for name in SWEEPS if name != "failing"])
    out, count = world.new("results", ".jsonl"), world.random.randrange(1, 4)
    variable, first = world.random.choice([("SLURM_ARRAY_TASK_ID", 1), ("HQ_TASK_ID", 1), ("JOB_COMPLETION_INDEX", 0)])
    whole = Results(out, name, 8)
    arguments = sweep_arguments(whole, "--shards", str(count))
    world.launch([*arguments, "--list"])
    parts = []
    for index in range(count):
        part = out.replace(".jsonl", f"-{index + 1}-of-{count}.jsonl")
        parts.append(part)
        results = Results(part, name, 8, (index + 1, count))
        own = (part, part.replace(".jsonl", ".svg"))
        for what in (disturbance(world.random, ANY), Disturbance()):
            task = {variable: str(index + first)}
            finished = world.launch(arguments, writes=own, what=what, environment=task)
            world.check_results(results, finished, what)
        world.results.append(results)
    world.random.shuffle(parts)
    merged = world.new("out", ".jsonl")
    world.launch(["merge", *parts, "--out", merged], outputs=(merged,))
    rows, _ = whole_lines(world.path(merged))
    if rows != world.references.rows(name, 8):
        world.problem("merge", f"{merged} differs from the unsplit sweep")


def merge(world: World) -> None:
    """Any files of one sweep, in any order and repeatedly: its rows, sorted, each once."""
    name = world.random.choice(list(SWEEPS))
    found = [results for results in world.results if results.sweep == name and world.path(results.name).exists()]
    if not found:
        return
    chosen = world.random.choices(found, k=world.random.randrange(1, 5))
    names = [results.name for results in chosen]
    rows = set().union(*(whole_lines(world.path(name))[0] for name in names))
    out, extra, codes = output(world, world.random.choice([".jsonl", ".jsonl", ".csv"]), names)
    # Files without rows cannot be merged.
    codes = codes if rows else {0, 2}
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
    finished = world.launch(["merge", *names, "--out", out, *extra], codes=codes, outputs=(out,), what=what)
    if finished.code != 0:
        return
    if out.endswith(".csv"):
        with world.path(out).open(newline="") as table:
            if sum(1 for _ in csv.DictReader(table)) != len(rows):
                world.problem("merge", f"{out} does not have {len(rows)} rows")
        return
    seeds = max(results.seeds for results in chosen)
    merged = finished.stdout.splitlines() if out == "-" else whole_lines(world.path(out))[0]
    if merged != [row for row in world.references.rows(name, seeds) if row in rows]:
        world.problem("merge", f"{out} is not the sorted rows of {names}")


def report(world: World) -> None:
    """A report of a results file, as text, JSON, a page or a picture."""
    if not world.results:
        return
    results = world.random.choice(world.results)
    if not world.path(results.name).exists():
        return
    form = world.random.choice(["", "--json", "--html", "--svg"])
    codes = {0} if results.rows else {0, 2}
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL", "SIGINT"])
    finished = launch_with_output(world, ["report", results.name], form, [results.name], codes, what)
    if form == "--json" and finished.code == 0 and json.loads(finished.stdout)["runs"] != results.rows:
        world.problem("report", f"it does not count the {results.rows} rows of {results.name}")
