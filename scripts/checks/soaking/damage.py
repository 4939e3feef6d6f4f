"""Damage to runs and results files, and what commands must make of it."""

import os
import shutil
from pathlib import Path

from .hostile import noise
from .processes import ANY, Disturbance, disturbance
from .snapshots import whole_lines
from .sweeps import sweep_arguments
from .training import new_run, resume
from .world import Results, Run, World


def damage_file(world: World, path: Path) -> str:
    """Damages a file so that it is another one; says how."""
    kind = world.random.choice(["flip", "flip", "cut", "empty", "delete", "noise", "pipe", "link", "folder"])
    before = path.read_bytes()
    if kind == "flip" and before:
        data = bytearray(before)
        data[world.random.randrange(len(data))] ^= 1 << world.random.randrange(8)
        path.write_bytes(data)
    elif kind == "cut" and before:
        os.truncate(path, world.random.randrange(len(before)))
    elif kind == "empty":
        path.write_bytes(b"" if before else b"x")
    elif kind == "noise":
        path.write_bytes(noise(world) + b"x")
    else:
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "link":
            path.symlink_to(world.path("data/labelled.csv"))
        elif kind == "folder":
            path.mkdir()
    return kind


def damage_run(world: World) -> None:
    """A damaged run: `verify` finds the damage, and commands still obey the rules.

    Without the manifest nothing tells whether a dump was changed, so that no other file is damaged with it.
    """
    run = world.run(lambda run: world.path(run.name).is_dir() and not run.is_damaged) or new_run(world)
    path = world.path(run.name)
    # No file of the run: the lock, and what a resumed run put aside.
    others = (".lock", ".damaged")
    files = sorted(found for found in path.rglob("*") if found.is_file() and not found.name.endswith(others))
    if not files:
        return
    chosen = world.random.sample(files, k=min(len(files), world.random.choice([1, 1, 1, 2])))
    for file in [file for file in chosen if file.name == "manifest.sha256"] or chosen:
        kind = damage_file(world, file)
        world.counts["damage"] += 1
        world.tell(f"       {kind}: {file.relative_to(world.work)}")
    run.is_damaged = True
    if run.has_ended:
        world.verify(run, {2})
    else:
        world.verify(run, {0, 2})
    resume(world, run, disturbance(world.random, ANY) if world.random.random() < 0.3 else None)


def whole_run_damaged(world: World) -> None:
    """A run that lost a folder, or that was deleted."""
    run = world.run(lambda run: world.path(run.name).is_dir() and not run.is_damaged)
    if run is None:
        return
    folder = world.path(run.name) / world.random.choice(["attention", "checkpoint"])
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
        world.tell(f"       deleted: {folder.relative_to(world.work)}")
        run.is_damaged = True
        world.counts["damage"] += 1
        if run.has_ended:
            world.verify(run, {2})
        resume(world, run)


def rename_run(world: World) -> None:
    """A run that is moved resumes and reads as before."""
    run: Run | None = world.run(lambda run: world.path(run.name).is_dir())
    if run:
        old, run.name = run.name, world.new("moved")
        os.rename(world.path(old), world.path(run.name))
        world.tell(f"       moved: {old} to {run.name}")
        resume(world, run)


def damage_results(world: World) -> None:
    """A results file with an invalid row: commands refuse it, or say what they leave out, and lose no other row."""
    known = [results for results in world.results if results.rows > 1]
    if not known:
        return
    results = world.random.choice(known)
    world.results.remove(results)
    path = world.path(results.name)
    lines, _ = whole_lines(path)
    at = world.random.randrange(len(lines))
    kind = world.random.choice(["cut", "noise", "repeated", "flip"])
    world.counts["damage"] += 1
    world.tell(f"       {kind}: {results.name}, row {at + 1} of {len(lines)}")
    damage_row(world, path, lines, at, kind)
    # A kill leaves a cut row, too: `report` leaves it out, and says so. A flipped digit is a number like any other.
    codes = {"cut": {0} if at else {0, 2}, "noise": {2}, "repeated": {0, 2}, "flip": {0, 2}}[kind]
    finished = world.launch(["report", results.name, *world.random.choice([[], ["--json"]])], codes=codes)
    if kind == "cut" and not finished.stderr:
        world.problem("damage", f"report does not say that it left out the cut row of {results.name}")
    out = world.new("out", ".jsonl")
    world.launch(["merge", results.name, "--out", out], codes={0, 2}, outputs=(out,))
    sweep_into_damaged(world, results, kind)


def damage_row(world: World, path: Path, lines: list[bytes], at: int, kind: str) -> None:
    """Damages row `at` of a results file, whose rows are `lines`."""
    if kind == "cut":
        cut = lines[at][: world.random.randrange(1, len(lines[at]))]
        path.write_bytes(b"\n".join([*lines[:at], cut]))
    elif kind == "flip":
        data = bytearray(path.read_bytes())
        data[world.random.randrange(len(data))] ^= 1 << world.random.randrange(8)
        path.write_bytes(data)
    else:
        noises = [b"\x00\xff", b"{}", b"[1]", b"null", b'{"seed": -1}', b"x" * 100]
        lines[at] = lines[at - 1] if kind == "repeated" else world.random.choice(noises)
        path.write_bytes(b"\n".join([*lines, b""]))


def sweep_into_damaged(world: World, results: Results, kind: str) -> None:
    """A sweep resumes after a row that was cut; it refuses a file with other damage, and leaves it as it is."""
    path = world.path(results.name)
    before = path.read_bytes()
    codes = {"cut": {0, 3}, "noise": {2}, "repeated": {2}, "flip": {0, 2, 3}}[kind]
    own = (results.name, results.name.replace(".jsonl", ".svg"))
    finished = world.launch(sweep_arguments(results), codes=codes, writes=own)
    if finished.code == 2 and path.read_bytes() != before:
        world.problem("damage", f"{results.name} was refused, and changed")
    if kind == "cut":
        results.rows = 0
        world.check_results(results, finished, Disturbance())
