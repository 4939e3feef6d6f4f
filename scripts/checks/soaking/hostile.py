"""Hostile files, wherever a command reads a file."""

import shutil

from .readers import sample_of
from .world import World


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
    commands = [["report", name], ["merge", name, "--out", out], ["inspect", name]]
    commands += [["train", name, "--run", world.new("out")]]
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
