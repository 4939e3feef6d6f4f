"""Disks that are full, or cannot be written."""

from .processes import FULL_DISK, Disturbance, in_namespace
from .snapshots import UNFINISHED, is_whole
from .sweeps import sweep_arguments, sweep_into
from .training import new_run, resume, train_arguments
from .world import Results, World


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
