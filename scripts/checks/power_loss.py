"""Checks that losing power loses nothing: rebuilds what a disk may hold after it, and resumes from there.

One file, because the record, its replay and the rules for the states are read together.

    python3 scripts/checks/power_loss.py target/release/headlight [--states 1000] [--seed 0] [--only KIND]

Records with strace the file operations of runs, sweeps, merges and other outputs, each also resumed after a kill
and after a loss of power. After every operation, it lets the power fail: it builds folders that the disk may then
hold, runs the command that resumes, and compares. It tries at least `--states` different folders of each kind.

What the disk may hold is the model of disk_model.py, which promises no more than POSIX.

What is required of every such folder:

- A run: `train --resume --run DIR` ends with the bytes of the undisturbed run, except for environment.json,
  inspector.html (docs/promises.md) and their hashes. It loses at most one checkpoint of those before the power
  failed. It may refuse only if the folder has no config.toml, as the run never began: then it exits with code 2 and
  one sentence, changes nothing, and the same command with the config starts the run.
- A sweep: the same command again ends with the undisturbed bytes. It may never refuse. Of its rows, those that are
  older than 10 seconds are on the disk.
- Another output: the file is absent, the old one, or the new one; an old one never vanishes. The same command again
  writes the new one.
- Once a command has ended, with exit code 0 or 130, all that it wrote is on the disk.

Unfinished files (`.unfinished-*`) may stay beside an output, as after a kill, but not in a run directory. Exits
with 1 if a folder breaks these rules, and keeps the first few: as the power left them, and after the command.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from disk_model import Choice, Disk, Inode, Tree, digest, read_tree, write_tree
from strace_record import Wrong, environment, record

UNFINISHED = ".unfinished-"
# Differ once a run was resumed: docs/promises.md.
DIFFERENT = ("environment.json", "inspector.html")
SHOWN = 5

CONFIG = """
[data]
generator = "chacha"
positive_rate = 0.5
samples = 96
held_out = 24
vocab_size = 5
seq_len = 3
rule = { kind = "token-at-position", token = 2, position = 1 }
[model]
d_model = 4
[training]
epochs = 3
batch_size = 16
learning_rate = 1e-2
evaluate_every = 2
keep_best = "loss"
[dump]
every_steps = 3
positives = 1
negatives = 1
formats = ["npz", "json"]
[checkpoint]
every_seconds = 0
every_epochs = 0
every_steps = 4
[compute]
engine = "fused"
"""


@dataclass
class Ended:
    code: int
    error: str


@dataclass
class Scenario:
    """Commands recorded in one folder. The power fails from operation `start` on."""

    name: str
    kind: str
    disk: Disk
    start: int
    check: object
    # What the run of all commands, and of those that resume it, leaves.
    end: Tree
    # The most rows of a sweep that may be lost, if its rows come slowly enough to tell.
    most_lost: int | None = None
    # How far a resumed run had come, by the state it was resumed from.
    progress: dict[str, int] = field(default_factory=dict)
    extremes: dict[tuple[int, str], str] = field(default_factory=dict)


class Check:
    """Runs commands in folders that a loss of power left."""

    def __init__(self, binary: Path, work: Path):
        self.binary, self.work = str(binary), work

    def run(self, folder: Path, arguments: list[str]) -> Ended:
        done = subprocess.run(
            [self.binary, *arguments], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120
        )
        return Ended(done.returncode, done.stderr)

    def succeed(self, folder: Path, arguments: list[str], code: int = 0) -> str:
        ended = self.run(folder, arguments)
        if ended.code != code:
            raise Wrong(f"`{' '.join(arguments)}` exits with {ended.code}: {ended.error.strip()}")
        return ended.error


def comparable(tree: Tree) -> Tree:
    """Without unfinished files outside runs and without the files that may differ; other files may quote their
    hashes."""
    runs = {name.rpartition("/")[0] for name in tree if name.rpartition("/")[2] == "config.toml"}
    within = lambda name: any(name.startswith(f"{run}/") for run in runs)  # noqa: E731
    differ = {name for name in tree if name.rpartition("/")[2] in DIFFERENT and within(name)}
    hashes = {hashlib.sha256(tree[name]).hexdigest().encode(): name.rpartition("/")[2].encode() for name in differ}
    found: Tree = {}
    for name, contents in tree.items():
        if name.rpartition("/")[2].startswith(UNFINISHED) and not within(name):
            continue
        if name in differ:
            contents = b""
        if isinstance(contents, bytes):
            for value, stands_for in hashes.items():
                contents = contents.replace(value, stands_for)
        found[name] = contents
    return found


def difference(found: Tree, wanted: Tree) -> list[str]:
    found, wanted = comparable(found), comparable(wanted)
    lines = [f"{name} is missing" for name in sorted(wanted.keys() - found.keys())]
    lines += [f"{name} is left over" for name in sorted(found.keys() - wanted.keys())]
    return lines + [f"{name} differs" for name in sorted(wanted) if name in found and found[name] != wanted[name]]


def require_same(found: Tree, wanted: Tree, when: str) -> None:
    if lines := difference(found, wanted):
        raise Wrong(f"{when}: {'; '.join(lines[:6])}")


class RunCheck:
    """`train --resume` of `run`; `begin` starts it if it never began."""

    def __init__(self, check: Check, run: str, begin: list[str], more: list[str] = ()):
        self.check, self.run, self.begin = check, run, begin
        self.resume = ["train", "--resume", "--run", run, *more]

    def __call__(self, folder: Path, state: Tree, end: Tree) -> int:
        if f"{self.run}/config.toml" in state:
            said = self.check.succeed(folder, self.resume)
            found = re.search(r"resuming from step (\d+)", said)
            progress = int(found[1]) if found else 1 << 30
        else:
            ended = self.check.run(folder, self.resume)
            errors = ended.error.strip().splitlines()
            if ended.code != 2 or len(errors) != 1 or not errors[0].startswith("error:"):
                raise Wrong(f"without config.toml, --resume exits with {ended.code}: {ended.error.strip()}")
            left = {name: contents for name, contents in read_tree(folder).items() if not name.endswith("/.lock")}
            if left != {name: contents for name, contents in state.items() if not name.endswith("/.lock")}:
                raise Wrong("--resume refuses, but changes the folder")
            self.check.succeed(folder, self.begin)
            progress = -1
        tree = read_tree(folder)
        require_same(tree, end, "after --resume")
        try:
            json.loads(tree[f"{self.run}/environment.json"])
        except ValueError:
            raise Wrong("environment.json is not JSON") from None
        if not tree[f"{self.run}/inspector.html"].rstrip().endswith(b"</html>"):
            raise Wrong("inspector.html is not whole")
        return progress


class SweepCheck:
    """The same sweep again."""

    def __init__(self, check: Check, commands: list[list[str]]):
        self.check, self.commands = check, commands

    def __call__(self, folder: Path, state: Tree, end: Tree) -> int:
        said = [self.check.succeed(folder, command) for command in self.commands]
        require_same(read_tree(folder), end, "after the same commands")
        found = re.search(r"(\d+) of \d+ runs are already in", said[0])
        return int(found[1]) if found else 0


class OutputCheck:
    """The same command again; each output is absent, old or new before it."""

    def __init__(self, check: Check, command: list[str], outputs: list[str], before: Tree):
        self.check, self.command, self.outputs, self.before = check, command, outputs, before

    def __call__(self, folder: Path, state: Tree, end: Tree) -> int:
        exist = False
        for output in self.outputs:
            allowed = [self.before.get(output, None), end[output]]
            if state.get(output, None) not in allowed:
                raise Wrong(f"{output} is neither old nor new: {len(state.get(output) or b'')} bytes")
            exist |= output in state
        force = ["--force"] if exist and "--force" not in self.command else []
        self.check.succeed(folder, [*self.command, *force])
        require_same(read_tree(folder), end, "after the same command")
        return 0


class House:
    """Records all scenarios."""

    def __init__(self, check: Check, work: Path, seed: int):
        self.check, self.work, self.seed = check, work, seed
        self.recorded = 0
        # Recordings that could not be made, because a command refused what a loss of power left.
        self.failed: list[tuple[str, str]] = []
        self.config: Tree = {"tiny.toml": CONFIG.encode()}

    def record(self, disk: Disk, command: list[str], **more) -> Tree:
        """Runs a command where the disk's files are, and records it."""
        self.recorded += 1
        folder = self.work / f"record-{self.recorded}"
        write_tree(disk.live(), folder)
        record(disk, folder, [self.check.binary, *command], **more)
        tree = read_tree(folder)
        shutil.rmtree(folder)
        return tree

    def plain(self, tree: Tree, *commands: list[str]) -> Tree:
        """The files after commands, without a record."""
        self.recorded += 1
        folder = self.work / f"plain-{self.recorded}"
        write_tree(tree, folder)
        for command in commands:
            self.check.succeed(folder, command)
        tree = read_tree(folder)
        shutil.rmtree(folder)
        return tree

    def killed(self, tree: Tree, command: list[str], part: float) -> Disk:
        """A disk on which a command was killed after a part of its operations; what it did stays unsynced."""
        whole = Disk(tree)
        self.record(whole, command)
        return cut(whole, tree, round(len(whole.operations) * part))

    def crashed(self, scenario: Scenario, number: int) -> Tree:
        """A folder of a scenario, drawn at random from those in which its command can be resumed."""
        draw = random.Random(f"{self.seed}/{scenario.name}/crashed/{number}")
        while True:
            count = draw.randint(scenario.start, len(scenario.disk.operations))
            tree, _ = scenario.disk.after_crash(count, Choice("random", draw))
            if scenario.kind != "run" or any(name.endswith("/config.toml") for name in tree):
                return tree

    def again(self, scenario: Scenario, command: list[str]) -> list[Scenario]:
        """Second losses of power, while a command resumes after a first one."""
        scenarios = []
        for number in range(3):
            disk = Disk(self.crashed(scenario, number))
            name = f"{scenario.name}-again-{number}"
            try:
                end = self.record(disk, command)
            except Wrong as wrong:
                self.failed.append((name, str(wrong)))
                continue
            scenarios.append(Scenario(name, scenario.kind, disk, 0, scenario.check, end))
        return scenarios

    def runs(self) -> list[Scenario]:
        run, numbered = "deep/er/run", "runs/tiny-1"
        begin = ["train", "tiny.toml", "--run", run]
        check = RunCheck(self.check, run, [*begin, "--resume"])
        disk = Disk(self.config)
        end = self.record(disk, begin)
        first = Scenario("run", "run", disk, 0, check, end)
        scenarios = [first]

        # Killed, and resumed: what was not synced before the kill still is not.
        begin = ["train", "tiny.toml"]
        check = RunCheck(self.check, numbered, [*begin, "--run", numbered, "--resume"])
        disk = self.killed(self.config, begin, 0.6)
        start = len(disk.operations)
        end = self.record(disk, check.resume)
        scenarios.append(Scenario("run-resumed", "run", disk, start, check, end))

        # Interrupted: saves, and ends with code 130.
        disk = Disk(self.config)
        self.record(disk, begin, inject="/^rename:signal=SIGINT:when=15", code=130)
        scenarios.append(Scenario("run-interrupted", "run", disk, 0, check, self.plain(self.config, begin)))

        # Resumed for another epoch.
        more = ["--set", "training.epochs=4"]
        longer = RunCheck(self.check, numbered, [*begin, "--run", numbered, "--resume", *more], more)
        disk = Disk(self.plain(self.config, begin))
        end = self.record(disk, longer.resume)
        scenarios.append(Scenario("run-extended", "run", disk, 0, longer, end))

        return scenarios + self.again(first, first.check.resume)

    def sweep(self, name: str, disk: Disk, command: list[str]) -> Scenario:
        start = len(disk.operations)
        end = self.record(disk, command)
        return Scenario(name, "sweep", disk, start, SweepCheck(self.check, [command]), end)

    def sweeps(self) -> list[Scenario]:
        command = ["sweep", "tiny.toml", "--seeds", "0..20", "--grid", "training.learning_rate=1e-2,1e-3"]
        command += ["--threads", "1", "--out", "seeds.jsonl"]
        more = [*command[:3], "0..30", *command[4:]]
        shard = [*command[:-1], "out/shard.jsonl", "--shard", "2/3"]
        first = self.sweep("sweep", Disk(self.config), command)
        scenarios = [first]
        scenarios.append(self.sweep("sweep-resumed", self.killed(self.config, command, 0.6), command))
        scenarios.append(self.sweep("sweep-extended", Disk(self.plain(self.config, command)), more))
        scenarios.append(self.sweep("shard", Disk(self.config | {"out": None}), shard))
        # A row each 6 seconds: of those that are 10 seconds old, none is lost.
        slow = ["sweep", "tiny.toml", "--seeds", "0..4", "--threads", "1", "--out", "seeds.jsonl"]
        disk = Disk(self.config)
        end = self.record(disk, [*slow, "--quiet"], inject="write:delay_enter=6000000:when=1..4")
        scenarios.append(Scenario("sweep-slow", "sweep", disk, 0, SweepCheck(self.check, [slow]), end, most_lost=2))
        return scenarios + self.again(first, command)

    def output(self, name: str, kind: str, tree: Tree, command: list[str], outputs: list[str]) -> list[Scenario]:
        """A command that writes files: new ones, and with --force over old ones."""
        scenarios = []
        for forced in (False, True):
            before = dict(tree)
            if forced:
                before |= {output: b"the old file\n" * 700 for output in outputs}
            given = [*command, "--force"] if forced else command
            disk = Disk(before)
            end = self.record(disk, given)
            check = OutputCheck(self.check, given, outputs, before)
            scenarios.append(Scenario(f"{name}{'-forced' if forced else ''}", kind, disk, 0, check, end))
        return scenarios

    def merges(self) -> list[Scenario]:
        sweep = ["sweep", "tiny.toml", "--seeds", "0..40", "--threads", "1"]
        files = ["shard-1.jsonl", "shard-2.jsonl"]
        shards = [[*sweep, "--out", file, "--shard", f"{number}/2"] for number, file in enumerate(files, 1)]
        tree = self.plain(self.config, *shards)
        scenarios = []
        for name in ("merged.jsonl", "merged.csv"):
            command = ["merge", *files, "--out", name]
            scenarios += self.output(name, "merge", tree, command, [name])
        # Shards, one of them killed and resumed, then merged: what was not synced on the way still is not.
        disk = self.killed(self.config, shards[0], 0.5)
        start = len(disk.operations)
        for command in shards:
            self.record(disk, command)
        command = ["merge", *files, "--out", "merged.jsonl", "--force"]
        end = self.record(disk, command)
        check = SweepCheck(self.check, [*shards, command])
        return [*scenarios, Scenario("shards-merged", "merge", disk, start, check, end)]

    def outputs(self) -> list[Scenario]:
        run = "runs/tiny-1"
        sweep = ["sweep", "tiny.toml", "--seeds", "0..20", "--threads", "1", "--out", "seeds.jsonl"]
        tree = self.plain(self.config, ["train", "tiny.toml"], sweep) | {"new": None}
        weights = ["--weights", f"{run}/model.safetensors"]
        commands = {
            "data.npz": ["data", "tiny.toml", "--out", "new/data.npz"],
            "data.jsonl": ["data", "tiny.toml", "--out", "new/data.jsonl"],
            "predictions": ["predict", run, "--tokens", "samples.csv", "--out", "new/predictions.csv"],
            "report": ["report", "seeds.jsonl", "--html", "new/report.html", "--svg", "new/report.svg"],
            "page": ["inspect", run, "--html", "new/page.html"],
            "svg": ["inspect", run, "--svg", "new/picture.svg"],
            "png": ["inspect", run, "--png", "new/picture.png"],
            "evaluation": ["evaluate", run, "--html", "new/evaluation.html", "--svg", "new/evaluation.svg"],
        }
        tree = self.plain(tree, ["data", "tiny.toml", "--out", "samples.csv"])
        for extension in ("npz", "json", "csv"):
            command = ["dump", "tiny.toml", *weights, "--tokens", "samples.csv", "--out", f"new/dump.{extension}"]
            commands[f"dump.{extension}"] = command
        scenarios = []
        for name, command in commands.items():
            scenarios += self.output(name, "output", tree, command, [part for part in command if part.startswith("new/")])
        # Through a link, into another folder.
        linked = tree | {"other": None, "other/data.csv": b"old\n", "new/link.csv": "../other/data.csv"}
        command = ["data", "tiny.toml", "--out", "new/link.csv", "--force"]
        disk = Disk(linked)
        end = self.record(disk, command)
        check = OutputCheck(self.check, command, ["other/data.csv"], linked)
        return [*scenarios, Scenario("link", "output", disk, 0, check, end)]


def cut(disk: Disk, tree: Tree, count: int) -> Disk:
    """The same disk after its first `count` operations only."""
    twin: dict[int, Inode] = {}
    found = Disk(tree)

    def pair(before: Inode, after: Inode) -> None:
        twin[id(before)] = after
        if isinstance(before.base, dict):
            for name, inode in before.base.items():
                pair(inode, after.base[name])

    pair(disk.root, found.root)
    changes, writes, syncs = dict(disk.names), {}, {}
    seen: list[Inode] = [disk.root]
    for inode in seen:
        inner = [*inode.base.values()] if isinstance(inode.base, dict) else []
        inner += [new for _, change in disk.names for folder, _, new in change if folder is inode and new]
        seen += [new for new in inner if all(new is not old for old in seen)]
        writes |= {number: (inode, offset, data) for number, offset, data in inode.writes}
        syncs |= {number: inode for number in inode.syncs}
    for number, shown in enumerate(disk.operations[:count]):
        if number in writes:
            inode, offset, data = writes[number]
            found.write(shown, twin[id(inode)], offset, data)
        elif number in syncs:
            found.sync(shown, twin[id(syncs[number])])
        else:
            changed = []
            for folder, name, inode in changes[number]:
                if inode is not None and id(inode) not in twin:
                    twin[id(inode)] = Inode({} if isinstance(inode.live, dict) else bytearray())
                changed.append((twin[id(folder)], name, inode and twin[id(inode)]))
            found.names.append((found.operate(shown), changed))
            for folder, name, inode in changed:
                if inode is None:
                    folder.live.pop(name)
                else:
                    folder.live[name] = inode
    return found


# ---- the states of a kind


@dataclass
class State:
    scenario: Scenario
    count: int
    kind: str
    tree: Tree
    lost: list[str]
    hash: str

    def describe(self) -> str:
        operations = self.scenario.disk.operations
        last = operations[self.count - 1] if self.count else "nothing"
        lost = "".join(f"\n    not wholly on the disk: {line}" for line in self.lost[:8])
        more = f"\n    and {len(self.lost) - 8} more" if len(self.lost) > 8 else ""
        return f"{self.scenario.name}, after {self.count} of {len(operations)} operations, {last} ({self.kind}){lost}{more}"


class Trial:
    """Builds the states of one kind, and counts those that break a rule."""

    def __init__(self, kind: str, scenarios: list[Scenario], work: Path, seed: int):
        self.kind, self.scenarios, self.work, self.seed = kind, scenarios, work, seed
        self.seen: set[str] = set()
        self.tried = self.wrong = 0

    def state(self, scenario: Scenario, count: int, kind: str, number: int = 0) -> State:
        draw = random.Random(f"{self.seed}/{scenario.name}/{count}/{number}") if kind == "random" else None
        tree, lost = scenario.disk.after_crash(count, Choice(kind, draw))
        return State(scenario, count, kind, tree, lost, f"{scenario.name} {digest(tree)}")

    def extremes(self):
        for scenario in self.scenarios:
            for count in range(scenario.start, len(scenario.disk.operations) + 1):
                for kind in ("none", "all"):
                    yield self.state(scenario, count, kind)

    def places(self):
        return [
            (scenario, count)
            for scenario in self.scenarios
            for count in range(scenario.start, len(scenario.disk.operations) + 1)
        ]

    def sampled(self, wanted: int):
        """Both extremes after every operation, or half as many as are wanted; then states at random, in rounds over
        all places, until 50 of them find no more."""
        draw = random.Random(f"{self.seed}/{self.kind}")
        extremes = [(*place, kind) for place in self.places() for kind in ("none", "all")]
        if len(extremes) > wanted // 2 and wanted < 1000:
            extremes = sorted(draw.sample(extremes, wanted // 2), key=extremes.index)
        for scenario in self.scenarios:
            yield self.state(scenario, len(scenario.disk.operations), "none")
        for place in extremes:
            yield self.state(*place)
        found, last_found, number = 0, 0, 0
        while number - last_found < 50:
            if len(self.seen) > found:
                found, last_found = len(self.seen), number
            number += 1
            places = self.places()
            draw.shuffle(places)
            for place in places:
                yield self.state(*place, "random", number)

    def run(self, wanted: int) -> None:
        with ThreadPoolExecutor(2) as pool:
            batch: list[State] = []
            for state in self.sampled(wanted):
                scenario = state.scenario
                if state.kind != "random":
                    scenario.extremes[state.count, state.kind] = state.hash
                if state.hash in self.seen:
                    continue
                self.seen.add(state.hash)
                batch.append(state)
                if len(batch) == 32:
                    self.finish(pool, batch)
                if len(self.seen) >= wanted and state.kind == "random":
                    break
            self.finish(pool, batch)
        for scenario in self.scenarios:
            self.check_end(scenario)
            self.check_progress(scenario)

    def finish(self, pool: ThreadPoolExecutor, batch: list[State]) -> None:
        numbered = list(enumerate(batch, self.tried))
        for state, reason in zip(batch, pool.map(lambda one: self.attempt(*one), numbered)):
            if reason:
                self.fail(state.describe(), reason)
        self.tried += len(batch)
        batch.clear()

    def attempt(self, number: int, state: State) -> str | None:
        folder = self.work / f"state-{number}"
        write_tree(state.tree, folder)
        try:
            state.scenario.progress[state.hash] = state.scenario.check(folder, state.tree, state.scenario.end)
        except Wrong as wrong:
            reason = str(wrong)
        except subprocess.TimeoutExpired:
            reason = "the command does not end"
        else:
            shutil.rmtree(folder)
            return None
        if self.wrong >= SHOWN:
            shutil.rmtree(folder)
            return reason
        kept = self.work / "kept" / f"{self.kind}-{number}"
        write_tree(state.tree, kept / "before")
        shutil.move(folder, kept / "after")
        return f"{reason}\n    kept in {kept}"

    def fail(self, what: str, reason: str) -> None:
        self.wrong += 1
        if self.wrong <= SHOWN:
            print(f"{what}\n    {reason}", flush=True)

    def check_end(self, scenario: Scenario) -> None:
        """Once the commands have ended, everything is on the disk."""
        tree, _ = scenario.disk.after_crash(len(scenario.disk.operations), Choice("none"))
        if lines := difference(tree, scenario.disk.live()):
            self.fail(f"{scenario.name}, after the command has ended", f"not on the disk: {'; '.join(lines[:6])}")

    def check_progress(self, scenario: Scenario) -> None:
        """A resumed run has lost at most one checkpoint of those that a kill would have left; a sweep, few rows."""
        levels = sorted(set(scenario.progress.values()))
        for (count, kind), state in scenario.extremes.items():
            killed = scenario.progress.get(scenario.extremes.get((count, "all"), ""))
            resumed = scenario.progress.get(state)
            if kind == "all" or killed is None or resumed is None:
                continue
            if scenario.kind == "run":
                lost = levels.index(resumed) < levels.index(killed) - 1
            else:
                lost = scenario.most_lost is not None and resumed < killed - scenario.most_lost
            if lost:
                reason = f"resumes after {resumed} steps or runs, but after {killed} if it is only killed"
                self.fail(f"{scenario.name}, after {count} operations, {scenario.disk.operations[count - 1]}", reason)


def main() -> None:
    parser = argparse.ArgumentParser(description="Checks that losing power loses nothing.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--states", type=int, default=1000, help="the number of different folders of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("run", "sweep", "merge", "output"))
    arguments = parser.parse_args()
    if not shutil.which("strace"):
        sys.exit("strace is missing; install it: apt-get install strace")
    memory = Path("/dev/shm")
    fast = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 29
    work = Path(tempfile.mkdtemp(prefix="power-loss-", dir=memory if fast else None)).resolve()
    house = House(Check(arguments.binary.resolve(), work), work, arguments.seed)
    kinds = {"run": house.runs, "sweep": house.sweeps, "merge": house.merges, "output": house.outputs}
    wrong = 0
    for kind, scenarios in kinds.items():
        if arguments.only in (None, kind):
            trial = Trial(kind, scenarios(), work, arguments.seed)
            while house.failed:
                trial.fail(*house.failed.pop())
            trial.run(arguments.states)
            operations = sum(len(scenario.disk.operations) - scenario.start for scenario in trial.scenarios)
            places = f"{len(trial.scenarios)} commands with {operations} operations"
            print(f"{kind}: {trial.tried} states of {places}: {trial.wrong} break a rule", flush=True)
            wrong += trial.wrong
    if wrong:
        sys.exit(1)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
