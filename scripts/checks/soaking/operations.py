"""What the soak does with the binary: each function is one operation, which a random choice starts."""

import csv
import json
import os
import re
import shutil
import time
from pathlib import Path

from .experiments import EXPERIMENTS, SWEEPS
from .processes import FULL_DISK, LIMITS, Disturbance, Finished, Process, disturbance, in_namespace
from .snapshots import UNFINISHED, changes, is_whole, whole_lines
from .world import Results, Run, World

STOPS = ["SIGKILL", "SIGKILL", "SIGINT", "SIGTERM", "SIGUSR1", "twice"]
ANY = ["none", "none", "none", "none", *STOPS, *LIMITS]
WITHOUT_STOPS = ["none", "none", "none", *LIMITS]


# Training.


def new_run(world: World, experiment: str | None = None) -> Run:
    """A run that no command has begun yet."""
    experiment = experiment or world.random.choice(list(EXPERIMENTS))
    epochs = EXPERIMENTS[experiment].epochs
    run = Run(world.new("runs"), experiment, epochs, epochs)
    world.runs.append(run)
    return run


def train_arguments(run: Run, epochs: int, *more: str) -> list[str]:
    """The command that trains a run."""
    arguments = ["train", f"configs/{run.experiment}.toml", "--run", run.name]
    return [*arguments, "--set", f"training.epochs={epochs}", *more]


def written_epochs(world: World, run: Run) -> int | None:
    """The epochs in the run's own config, if it has one that can be read."""
    config = world.path(run.name) / "config.toml"
    if run.is_damaged or not config.is_file():
        return None
    found = re.search(r"^epochs = (\d+)$", config.read_text(), flags=re.M)
    return int(found[1]) if found else None


def resume(world: World, run: Run, what: Disturbance | None = None, epochs: int | None = None) -> None:
    """Starts, resumes or extends a run, and compares it if it comes to its end."""
    what = what or Disturbance()
    epochs = epochs or run.epochs
    begun = (world.path(run.name) / "config.toml").exists()
    if begun and epochs == run.epochs and world.random.random() < 0.3:
        # A command that was stopped may have been about to write more epochs into the config.
        epochs = written_epochs(world, run) or epochs
        arguments = ["train", "--resume", "--run", run.name]
    else:
        arguments = train_arguments(run, epochs, "--resume")
    arguments += world.random.choice([[], [], ["--json"], ["-q"], ["-v"]])
    codes = {0, 1, 2} if run.is_damaged else {0}
    finished = world.launch(arguments, codes=codes, writes=(run.name,), what=what)
    if not run.is_damaged:
        run.epochs = epochs
    run.has_ended = finished.code == 0
    # Without a manifest, damage to files that training does not read again goes unnoticed.
    if run.has_ended and (not run.is_damaged or world.has_verify):
        world.check_run(run)
        run.is_damaged = False


def train(world: World) -> None:
    """A new run, disturbed or not."""
    run = new_run(world)
    what = disturbance(world.random, ANY)
    finished = world.launch(train_arguments(run, run.epochs), writes=(run.name,), what=what)
    if finished.code == 0:
        run.has_ended = True
        world.check_run(run)
    elif not world.path(run.name).exists():
        world.runs.remove(run)


def resume_a_run(world: World) -> None:
    """A run that exists, resumed: disturbed, and then often to its end."""
    run = world.run() or new_run(world)
    resume(world, run, disturbance(world.random, ANY))
    if world.random.random() < 0.5:
        resume(world, run)
    if run.is_damaged and world.random.random() < 0.7:
        world.forget(run)


def kill_again_and_again(world: World) -> None:
    """A run that is stopped until it ends."""
    run = new_run(world, world.random.choice(["long", "dense", "patient"]))
    for _ in range(world.random.randrange(2, 6)):
        resume(world, run, disturbance(world.random, STOPS))
    resume(world, run)


def extend(world: World) -> None:
    """A run that is trained for longer."""
    run = world.run(lambda run: EXPERIMENTS[run.experiment].can_be_longer and not run.is_damaged and run.has_ended)
    if run is None or run.epochs > 4 * run.first_epochs:
        return
    longer = run.epochs + run.first_epochs
    resume(world, run, disturbance(world.random, ANY), longer)
    resume(world, run, epochs=longer)


def train_over_a_run(world: World) -> None:
    """`train` without `--resume` into a folder that exists."""
    run = world.run(lambda run: world.path(run.name).exists())
    if run:
        world.launch(train_arguments(run, run.epochs), codes={2})


def two_processes(world: World) -> None:
    """Two processes that train one run: at most one at a time writes, and the run is the undisturbed one."""
    run = new_run(world, world.random.choice(["long", "patient", "dense"]))
    arguments = train_arguments(run, run.epochs, "--resume")
    argv = [world.binary, *arguments]
    first = Process(argv, str(world.work), Disturbance())
    time.sleep(0.03 * world.random.random())
    second = Process(argv, str(world.work), Disturbance())
    ends = [first.wait(), second.wait()]
    for finished in ends:
        world.record(arguments, Disturbance("beside another"), finished)
        world.check_end(arguments, finished, {0, 2})
    if all(finished.code != 0 for finished in ends):
        world.problem("two processes", f"none of them trained {run.name}")
    resume(world, run)


def move_while_written(world: World) -> None:
    """A run directory that is renamed while it is written, and another that takes its name."""
    run = new_run(world, "long")
    arguments = train_arguments(run, run.epochs, "--resume")
    process = Process([world.binary, *arguments], str(world.work), Disturbance())
    config = world.path(run.name) / "config.toml"
    while not config.exists() and process.child.poll() is None:
        time.sleep(0.0005)
    time.sleep(world.random.random() * world.usual.get("train", 0.1))
    old, run.name = run.name, world.new("moved")
    os.rename(world.path(old), world.path(run.name))
    other = world.run(lambda other: other.has_ended and not other.is_damaged and other is not run)
    if other:
        os.rename(world.path(other.name), world.path(old))
        other.name = old
    before = {name: what for name, what in world.snapshots.take().items() if name.startswith(old)}
    finished = process.wait()
    after = {name: what for name, what in world.snapshots.take().items() if name.startswith(old)}
    world.record(arguments, Disturbance("moved"), finished)
    world.check_end(arguments, finished, {0, 1, 2})
    # The process may have ended just before the folder moved, and only then.
    for name in sorted(changes(before, after)):
        world.problem("moved", f"{name} changed in the folder that took the name of a run being written")
    if finished.code == 0:
        run.has_ended = True
        world.check_run(run)
    resume(world, run)


def delete_while_written(world: World) -> None:
    """A run directory that is deleted while it is written: it does not come back."""
    run = new_run(world, "long")
    arguments = train_arguments(run, run.epochs, "--resume")
    process = Process([world.binary, *arguments], str(world.work), Disturbance())
    path = world.path(run.name)
    while not (path / "config.toml").exists() and process.child.poll() is None:
        time.sleep(0.0005)
    time.sleep(world.random.random() * world.usual.get("train", 0.1))
    while path.exists():
        shutil.rmtree(path, ignore_errors=True)
    finished = process.wait()
    world.record(arguments, Disturbance("deleted"), finished)
    world.check_end(arguments, finished, {0, 1, 2})
    if path.exists():
        world.problem("deleted", f"{run.name} came back: {sorted(path.rglob('*'))}")
    world.forget(run)


def diverge(world: World) -> None:
    """A run that diverges ends with exit code 3, also when it is resumed."""
    run = new_run(world, world.random.choice(["dense", "tiny"]))
    arguments = train_arguments(run, 3, "--set", "training.learning_rate=1e30", "--resume")
    for _ in range(2):
        world.launch(arguments, codes={3}, writes=(run.name,))
    world.forget(run)


def through_a_link(world: World) -> None:
    """A run that is trained through a link to its folder."""
    run = world.run(lambda run: world.path(run.name).is_dir() and not run.is_damaged)
    if run is None:
        return
    link = world.new("runs")
    world.path(link).symlink_to(world.path(run.name))
    arguments = ["train", f"configs/{run.experiment}.toml", "--set", f"training.epochs={run.epochs}"]
    finished = world.launch([*arguments, "--resume", "--run", link], writes=(run.name,))
    if finished.code == 0:
        run.has_ended = True
        world.check_run(run)
    world.path(link).unlink()


# Sweeps.


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


def two_sweeps(world: World) -> None:
    """Two processes with one results file."""
    results = new_results(world, world.random.choice(["slow", "plain"]))
    arguments = sweep_arguments(results, "--threads", "1")
    argv = [world.binary, *arguments]
    first = Process(argv, str(world.work), Disturbance())
    time.sleep(0.02 * world.random.random())
    second = Process(argv, str(world.work), Disturbance())
    for finished in (first.wait(), second.wait()):
        world.record(arguments, Disturbance("beside another"), finished)
        world.check_end(arguments, finished, {0, 2})
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
    # Nothing can be merged of files in which no row is yet.
    codes = codes if rows else {0, 2}
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
    finished = world.launch(["merge", *names, "--out", out, *extra], codes=codes, outputs=(out,), what=what)
    if finished.code != 0:
        return
    if out.endswith(".csv"):
        with world.path(out).open(newline="") as table:
            if sum(1 for _ in csv.DictReader(table)) != len(rows):
                world.problem("merge", f"{out} has not {len(rows)} rows")
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


# Outputs.


def output(world: World, extension: str, inputs: list[str]) -> tuple[str, list[str], set[int]]:
    """A place for an output: its name, more arguments, and the exit codes that are right for it."""
    existing = sorted(path.name for path in world.path("out").glob(f"*{extension}") if path.is_file() and not path.is_symlink())
    kind = world.random.choice(["new"] * 4 + ["exists", "forced", "input", "run", "folder", "nowhere", "link", "-"])
    if kind == "exists" and existing:
        return f"out/{world.random.choice(existing)}", [], {2}
    if kind == "forced" and existing:
        return f"out/{world.random.choice(existing)}", ["--force"], {0}
    if kind == "input":
        return world.random.choice(inputs), ["--force"], {2}
    run = world.run(lambda run: (world.path(run.name) / "environment.json").is_file())
    if kind == "run" and run:
        own = ["config.toml", "metrics.jsonl", f"attention/new{extension}", "inspector.html", f"checkpoint/x{extension}"]
        return f"{run.name}/{world.random.choice(own)}", ["--force"], {2}
    if kind == "folder":
        return "out", ["--force"], {2}
    if kind == "nowhere":
        return f"nowhere/x{extension}", [], {2}
    if kind == "link" and existing:
        link = world.new("out", extension)
        world.path(link).symlink_to(world.random.choice(existing))
        return link, [], {2}
    if kind == "-" and extension in (".jsonl", ".html", ".svg"):
        return "-", [], {0}
    return world.new("out", extension), [], {0}


def launch_with_output(
    world: World, arguments: list[str], form: str, inputs: list[str], codes: set[int], what: Disturbance
) -> Finished:
    """Runs a command that prints, or writes the file that the flag `form` names."""
    outputs: tuple[str, ...] = ()
    if form == "--json":
        arguments = [*arguments, "--json"]
    elif form:
        out, extra, right = output(world, "." + form.removeprefix("--"), inputs)
        arguments = [*arguments, form, out, *extra]
        codes = codes if right == {0} else right
        outputs = (out,) if right == {0} else ()
    if world.mounts and world.random.random() < 0.05:
        # What only prints works in a folder that cannot be written.
        what = world.read_only()
    return world.launch(arguments, codes=codes, outputs=outputs, what=what)


def data(world: World) -> None:
    """A dataset as a file."""
    experiment = world.random.choice(["tiny", "counted", "labelled"])
    extension = world.random.choice([".csv", ".npz", ".jsonl"])
    inputs = [f"configs/{experiment}.toml"] + ["data/labelled.csv"] * (experiment == "labelled")
    out, extra, codes = output(world, extension, inputs)
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL", "SIGTERM"])
    arguments = ["data", f"configs/{experiment}.toml", "--out", out, *extra]
    world.launch(arguments, codes=codes, outputs=(out,) if codes == {0} else (), what=what)


def init(world: World) -> None:
    """A built-in config, written into the folder."""
    name = world.random.choice(["quick", "count", "notebook", "token_anywhere"])
    exists = world.path(f"{name}.toml").exists()
    extra = world.random.choice([[], ["--force"]])
    codes = {2} if exists and not extra else {0}
    world.launch(["init", name, *extra], codes=codes, outputs=(f"{name}.toml",))


# Reading runs.


def codes_of(run: Run) -> set[int]:
    """How a command may end that reads this run."""
    return {0} if run.has_ended and not run.is_damaged else {0, 2}


def sample_of(run: Run) -> str:
    """Tokens that suit the run's model."""
    return {"counted": "1 2 3 4 7", "labelled": "3 2 1"}.get(run.experiment, "45 48 42 4 4 40")


def inspect(world: World) -> None:
    """A run's attention as text, picture or page, with flags that may be wrong."""
    run = world.run()
    if run is None:
        return
    form = world.random.choice(["", "--html", "--svg", "--png"])
    wrong = world.random.random() < 0.2
    flags = ["--head", "7"] if wrong and form != "--html" else world.random.choice([[], ["--scores"], ["--layer", "all"]])
    if form == "--html":
        flags = []
    codes = {2} if flags[:1] == ["--head"] and codes_of(run) == {0} else codes_of(run)
    dump = world.path(run.name) / "attention/step-000000.npz"
    inputs = [f"{run.name}/attention/step-000000.npz"] if dump.exists() else [f"{run.name}/config.toml"]
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
    launch_with_output(world, ["inspect", run.name, *flags], form, inputs, codes, what)


def predict(world: World) -> None:
    """One sample, classified by a run's model."""
    run = world.run()
    if run is None:
        return
    tokens, codes = sample_of(run), codes_of(run)
    if world.random.random() < 0.3:
        tokens = world.random.choice(["", "x", "0", "-1 2 3", "1 2 3 4 5 6 7 8 9", "99999999999999999999", "\x1b[2J"])
        codes = {2}
    more = world.random.choice([[], ["--json"]])
    what = disturbance(world.random, WITHOUT_STOPS)
    world.launch(["predict", run.name, "--tokens", tokens, *more], codes=codes, what=what)


def evaluate(world: World) -> None:
    """A run's model, evaluated."""
    run = world.run()
    if run:
        form = world.random.choice(["", "--json", "--html", "--svg"])
        what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
        inputs = [f"{run.name}/model.safetensors", f"{run.name}/config.toml"]
        launch_with_output(world, ["evaluate", run.name], form, inputs, codes_of(run), what)


def dump(world: World) -> None:
    """Weights of a run on samples of a file."""
    run = world.run(lambda run: run.experiment in ("tiny", "dense", "long", "patient"))
    if run is None:
        return
    weights = f"{run.name}/model.safetensors"
    arguments = ["dump", f"configs/{run.experiment}.toml", "--weights", weights, "--tokens", "data/tokens.txt"]
    form = world.random.choice([".npz", ".json", ".csv"])
    out, extra, right = output(world, form, [weights, "data/tokens.txt"])
    codes = codes_of(run) if right == {0} else right
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
    outputs = (out,) if right == {0} else ()
    world.launch([*arguments, "--out", out, *extra], codes=codes, outputs=outputs, what=what)


def compare(world: World) -> None:
    """Runs side by side."""
    if world.runs:
        chosen = world.random.choices(world.runs, k=world.random.randrange(1, 4))
        codes = {0} if all(codes_of(run) == {0} for run in chosen) else {0, 2}
        more = world.random.choice([[], ["--json"]])
        world.launch(["compare", *(run.name for run in chosen), *more], codes=codes)


def walkthrough(world: World) -> None:
    """A worked example, where the binary has them."""
    if "walkthrough" not in world.usual:
        probe = Process([world.binary, "walkthrough", "she-did-not"], str(world.work), Disturbance()).wait()
        world.usual["walkthrough"] = probe.seconds if probe.code == 0 else -1.0
    if world.usual["walkthrough"] > 0:
        form = world.random.choice(["", "--html", "--svg"])
        launch_with_output(
            world, ["walkthrough", "she-did-not"], form, ["data/tokens.txt"], {0}, disturbance(world.random, WITHOUT_STOPS)
        )


# Readers and movers beside writers.


def read_while_written(world: World) -> None:
    """Commands that read a run during training."""
    run = new_run(world, "long")
    arguments = train_arguments(run, run.epochs)
    process = Process([world.binary, *arguments], str(world.work), Disturbance())
    for _ in range(3):
        time.sleep(0.02 * world.random.random())
        out = world.new("out", ".html")
        reader = world.random.choice(
            [
                ["inspect", run.name],
                ["inspect", run.name, "--html", out],
                ["compare", run.name],
                ["predict", run.name, "--tokens", sample_of(run)],
                ["evaluate", run.name, "--json"],
            ]
        )
        # Until the run has what the command needs, it is refused.
        world.launch(reader, codes={0, 2}, outputs=(out,) if out in reader else (), writes=(run.name,))
    finished = process.wait()
    world.record(arguments, Disturbance("being read"), finished)
    world.check_end(arguments, finished, {0})
    run.has_ended = finished.code == 0
    if run.has_ended:
        world.check_run(run)


def move_results_while_written(world: World) -> None:
    """A results file that is renamed while a sweep writes it: no row goes to a file that takes its name."""
    results = Results(world.new("results", ".jsonl"), "slow", 20)
    arguments = sweep_arguments(results, "--threads", "1")
    process = Process([world.binary, *arguments], str(world.work), Disturbance())
    path = world.path(results.name)
    while not path.exists() and process.child.poll() is None:
        time.sleep(0.0005)
    time.sleep(world.random.random() * 0.05)
    results.name = world.new("results", ".jsonl")
    os.rename(path, world.path(results.name))
    path.write_text("somebody else's\n")
    finished = process.wait()
    world.record(arguments, Disturbance("moved"), finished)
    world.check_end(arguments, finished, {0, 1, 2})
    if path.read_text() != "somebody else's\n":
        world.problem("moved", f"{path.name} took the name of a results file, and was written to")
    path.unlink()
    sweep_into(world, results)
    world.results.append(results)


def in_a_read_only_folder(world: World) -> None:
    """Commands that write, where nothing can be written."""
    if not world.mounts:
        return
    run, what = world.run(), world.read_only()
    out = world.new("out", ".csv")
    commands = [["data", "quick", "--out", out], ["train", "quick"], ["init", "quick", "--force"]]
    commands += [["sweep", "configs/tiny.toml", "--seeds", "0..2", "--out", out.replace("csv", "jsonl")]]
    if run:
        commands += [train_arguments(run, 2 * run.epochs, "--resume")] * 2
    # A damaged run may be refused before anything is to be written.
    world.launch(world.random.choice(commands), codes={1, 2} if run and run.is_damaged else {1}, what=what)


# Full disks.


def on_a_full_disk(world: World, arguments: list[str], saved: str) -> int:
    """Runs a command whose output goes to a small disk at `disk`, and copies the disk to `saved`."""
    kilobytes = str(world.random.choice([4, 12, 20, 40, 80, 160, 320, 640]))
    world.path(saved).mkdir()
    wrapper = in_namespace(FULL_DISK, "disk", kilobytes, saved, "--")
    what = Disturbance(f"disk of {kilobytes} kB", wrapper=wrapper)
    finished = world.launch(arguments, writes=(saved,), what=what)
    for path in world.path(saved).rglob(f"{UNFINISHED}*"):
        world.problem("unfinished", f"{path.name} was left behind on a full disk")
    return finished.code


def train_on_a_full_disk(world: World) -> None:
    """A run whose disk is full resumes on another one."""
    if not world.mounts:
        return
    run = new_run(world, world.random.choice(["dense", "tiny", "patient"]))
    saved = world.new("moved")
    arguments = train_arguments(run, run.epochs, "--resume")
    on_a_full_disk(world, ["disk/run" if argument == run.name else argument for argument in arguments], saved)
    run.name = f"{saved}/run"
    resume(world, run)


def sweep_on_a_full_disk(world: World) -> None:
    """A sweep whose disk is full keeps its whole rows."""
    if not world.mounts:
        return
    results = Results("disk/x.jsonl", world.random.choice(["plain", "grid"]), world.random.choice([8, 20]))
    saved = world.new("moved")
    on_a_full_disk(world, sweep_arguments(results), saved)
    results.name = f"{saved}/x.jsonl"
    sweep_into(world, results)
    world.results.append(results)


def output_on_a_full_disk(world: World) -> None:
    """An output for which there is no space is not written."""
    if not world.mounts:
        return
    saved, extension = world.new("moved"), world.random.choice([".csv", ".npz", ".jsonl"])
    code = on_a_full_disk(world, ["data", "quick", "--out", f"disk/x{extension}"], saved)
    files = [path for path in world.path(saved).rglob("*") if path.is_file()]
    if code != 0 and files or code == 0 and not all(is_whole(path.name, path.read_bytes()) for path in files):
        world.problem("output", f"exit code {code}, and on the disk: {files}")


# Usage.

WORDS = ["", "-", "0", "1", "-1", "1e999", "nan", "18446744073709551615", "18446744073709551616", "../x", "\x1b[31m",
         "ü", "a\nb", "'", "all", "x" * 5000, "0..2", "2..0", "1/2", "3/2", "0/0", "train", "held-out", "uniform"]  # fmt: skip

KEYS = ["seed", "data.seed", "data.samples", "data.held_out", "data.seq_len", "data.vocab_size", "data.positive_rate",
        "data.rule.token", "data.file", "data.classes", "model.d_model", "model.n_heads", "model.attention.mask",
        "training.batch_size", "training.learning_rate", "training.keep_best", "training.patience", "dump.samples",
        "dump.formats", "dump.every_steps", "checkpoint.every_seconds", "compute.engine", "compute.device", "x.y"]  # fmt: skip

VALUES = ["0", "1", "2", "-1", "1.5", "nan", "inf", "true", "[]", "[0]", "[[1]]", '"x"', "x", "9223372036854775807",
          "9223372036854775808", "18446744073709551615", "{}", "", "1e-300", '"\\u001b[31m"', '["csv"]', "'a\nb'"]  # fmt: skip

FLAGS = {
    "train": ["--set", "--device", "--engine", "--run", "--resume", "--json"],
    "data": ["--set", "--out", "--force"],
    "sweep": ["--seeds", "--grid", "--shard", "--shards", "--list", "--threads", "--out", "--set"],
    "predict": ["--tokens", "--out", "--weights", "--json"],
    "evaluate": ["--weights", "--split", "--json", "--svg", "--html"],
    "inspect": ["--sample", "--step", "--layer", "--head", "--query", "--range", "--scores", "--svg", "--html", "--sweep"],
    "report": ["--by", "--position", "--svg", "--html", "--json"],
    "merge": ["--out", "--force"],
    "compare": ["--json"],
    "dump": ["--weights", "--tokens", "--out", "--set"],
    "init": ["--list", "--force"],
    "man": [],
    "devices": ["--json"],
    "completions": [],
}


def value_of(world: World, flag: str) -> list[str]:
    """A random value for a flag, if it takes one."""
    if flag in ("--resume", "--json", "--force", "--list", "--scores"):
        return []
    if flag in ("--set", "--grid"):
        return [f"{world.random.choice(KEYS)}={world.random.choice(VALUES)}"]
    if flag in ("--out", "--html", "--svg", "--run"):
        extension = world.random.choice([".csv", ".npz", ".jsonl", ".json", ".html", ".svg", "", ".txt"])
        return [world.new("out", extension)]
    if flag == "--threads":
        return [world.random.choice(["0", "1", "2", "-1", "x"])]
    if flag == "--seeds":
        return [world.random.choice(["0..2", "2..0", "0..0", "x", "9223372036854775807..9223372036854775809"])]
    return [world.random.choice(WORDS)]


def random_usage(world: World) -> None:
    """A command with random arguments: refused with one sentence, or done."""
    command = world.random.choice(list(FLAGS))
    arguments = [command]
    if world.random.random() < 0.8:
        names = [run.name for run in world.runs] + [results.name for results in world.results]
        names += [f"configs/{name}.toml" for name in ("tiny", "counted", "labelled")] + ["quick", "out", *WORDS]
        arguments.append(world.random.choice(names))
    for flag in world.random.choices(FLAGS[command], k=world.random.randrange(4)) if FLAGS[command] else []:
        arguments += [flag, *value_of(world, flag)]
    writes = ("out", "runs/notebook-1")
    if command == "init":
        writes = tuple(f"{name}.toml" for name in ("quick", "notebook", "count", "token_anywhere"))
    # A run that the flags name is resumed as it should be, or not at all.
    if command == "train" and "--resume" in arguments:
        arguments.remove("--resume")
    if command == "train" and "--run" not in arguments:
        arguments += ["--run", world.new("out")]
    if command == "sweep" and "--seeds" not in arguments:
        arguments += ["--seeds", "0..2"]
    world.launch(arguments, codes={0, 2, 3}, writes=writes)


def large_seeds(world: World) -> None:
    """Seeds up to the largest are like any other."""
    seed = world.random.choice([2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
    run, out = world.new("out"), world.new("out", ".jsonl")
    world.launch(["train", "configs/tiny.toml", "--set", f"seed={seed}", "--run", run], writes=(run,))
    world.launch(["predict", run, "--tokens", "1 2 3 4 5 6"])
    world.launch(["train", "--resume", "--run", run], writes=(run,))
    last = min(seed + 1, 2**64 - 1)
    sweep_ = ["sweep", "configs/tiny.toml", "--seeds", f"{last - 2}..{last}", "--out", out]
    world.launch(sweep_, writes=(out, out.replace(".jsonl", ".svg")))
    world.launch(["report", out, "--json"])


def strange_names(world: World) -> None:
    """Names of files with spaces, quotes and control characters."""
    name = world.random.choice(["a b", "it's", "ü", "a\x1b[31mb", "a\nb", "-x", "$HOME", "a\x07"])
    out = f"out/{name}{world.new('x').replace('/', '')}.csv"
    codes = {0} if name == "a b" else {0, 2}
    world.launch(["data", "configs/tiny.toml", "--out", out], codes=codes, outputs=(out,))
    if world.path(out).exists():
        world.launch(["data", "configs/tiny.toml", "--out", out], codes={2})
        world.launch(["report", out], codes={2})
        world.launch(["train", out, "--run", world.new("out")], codes={2})


def hostile_copy(world: World, extension: str) -> str:
    """A file that no reader should take, as a file of the folder."""
    names = {
        ".npz": ["npz", "npy"],
        ".npy": ["npy"],
        ".toml": ["config", "config-grid", "walkthrough"],
        ".jsonl": ["dataset-jsonl", "sweep-merge", "run-metrics"],
        ".safetensors": ["weights"],
    }.get(extension, ["npz"])
    found = sorted(path for name in names for path in (world.corpus / name).glob("*"))
    target = world.new("hostile", extension)
    if found and world.random.random() < 0.6:
        shutil.copyfile(world.random.choice(found), world.path(target))
    else:
        world.path(target).write_bytes(noise(world))
    return target


def noise(world: World) -> bytes:
    """Bytes that claim to be much, or nothing."""
    kind = world.random.choice(["random", "zeros", "huge header", "empty", "brackets", "archive"])
    size = world.random.randrange(1, 5000)
    return {
        "random": world.random.randbytes(size),
        "zeros": bytes(size),
        "huge header": (2**62).to_bytes(8, "little") + b"{" * size,
        "empty": b"",
        "brackets": b"[" * size,
        "archive": b"PK\x03\x04" + world.random.randbytes(size) + b"PK\x05\x06" + b"\xff" * 18,
    }[kind]


def read_hostile_files(world: World) -> None:
    """A command that is given a hostile file."""
    run = world.run(lambda run: run.has_ended and not run.is_damaged)
    extension = world.random.choice([".npz", ".jsonl", ".csv", ".toml", ".safetensors", ".txt"])
    name = hostile_copy(world, extension)
    out = world.new("out", ".jsonl")
    commands = [["report", name], ["merge", name, "--out", out], ["inspect", name], ["train", name, "--run", world.new("out")]]
    if run:
        weights = f"{run.name}/model.safetensors"
        config = f"configs/{run.experiment}.toml"
        commands += [
            ["predict", run.name, "--tokens", name],
            ["evaluate", run.name, name],
            ["predict", run.name, "--weights", name, "--tokens", sample_of(run)],
            ["dump", config, "--weights", name, "--tokens", "data/tokens.txt", "--out", out.replace(".jsonl", ".npz")],
            ["dump", config, "--weights", weights, "--tokens", name, "--out", out.replace(".jsonl", ".npz")],
            ["inspect", run.name, "--html", out.replace(".jsonl", ".html"), "--sweep", name],
        ]
    world.launch(world.random.choice(commands), codes={0, 2}, writes=("out",))
    # As a results file that a sweep is to add to.
    if extension == ".jsonl":
        picture = name.replace(".jsonl", ".svg")
        before = world.path(name).read_bytes()
        finished = world.launch(
            ["sweep", "configs/tiny.toml", "--seeds", "0..2", "--out", name], codes={0, 2}, writes=(name, picture)
        )
        if finished.code == 2 and world.path(name).read_bytes() != before:
            world.problem("output", f"{name} was refused, and changed")
    world.path(name).unlink(missing_ok=True)


