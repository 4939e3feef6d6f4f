"""Runs that are started, stopped, resumed, extended and refused."""

import re

from .experiments import EXPERIMENTS
from .processes import ANY, STOPS, Disturbance, disturbance
from .world import Run, World


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
    if run.has_ended:
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
