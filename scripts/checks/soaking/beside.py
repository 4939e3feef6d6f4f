"""Processes beside each other: at one run or results file, reading it, or taking it away."""

import os
import shutil
import time

from .processes import Disturbance, Process
from .readers import sample_of
from .sweeps import new_results, sweep_arguments, sweep_into
from .training import new_run, resume, train_arguments
from .world import Results, World


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
    # A sweep that notices it only at its end, when it reads the other file, calls that file invalid.
    world.check_end(arguments, finished, {0, 1, 2})
    if path.read_text() != "somebody else's\n":
        world.problem("moved", f"{path.name} took the name of a results file, and was written to")
    path.unlink()
    sweep_into(world, results)
    world.results.append(results)
