"""The folder in which the soak works, and the rules that hold after each command."""

import random
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .experiments import EXPERIMENTS, LABELLED, References
from .processes import READ_ONLY, Disturbance, Finished, Process, in_namespace
from .snapshots import UNFINISHED, Snapshots, changes, is_json, is_whole, run_files, whole_lines


@dataclass
class Run:
    """What is known of a run."""

    name: str
    experiment: str
    epochs: int
    """Of the last command that may have begun to train it."""
    first_epochs: int
    """Of the command that started it: the dumps of its steps name them."""
    has_ended: bool = False
    """Whether a command trained it to its end, so that all its bytes are known."""
    is_damaged: bool = False


@dataclass
class Results:
    """What is known of a results file."""

    name: str
    sweep: str
    seeds: int
    shard: tuple[int, int] | None = None
    rows: int = 0
    """Whole rows that it had after the last command: it must never have fewer."""


def config_beside(results: str) -> str:
    """The config that a sweep writes beside its results; its shards share one."""
    return re.sub(r"(-\d+-of-\d+)?\.jsonl$", ".config.toml", results)


class World:
    """A folder of configs, datasets, runs and results, and the history of what was done there."""

    def __init__(self, binary: str, folder: Path, seed: int, corpus: Path, mounts: bool):
        self.binary, self.folder, self.corpus, self.mounts = binary, folder, corpus, mounts
        self.random = random.Random(seed)
        self.work = folder / "work"
        self.history: list[str] = []
        self.counts: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.problems: list[tuple[str, str]] = []
        self.usual: dict[str, float] = {}
        self.number = 0
        self.begin()
        self.references = References(binary, self.work, folder / "undisturbed")
        # The dataset of an experiment is made by the binary, once.
        data = ["data", "configs/tiny.toml", "--out", "data/samples.npz"]
        self.references.headlight({0}, *data)

    def begin(self) -> None:
        """Empties the folder of all but configs and datasets."""
        for name in ("runs", "results", "out", "moved"):
            shutil.rmtree(self.work / name, ignore_errors=True)
            (self.work / name).mkdir(parents=True)
        self.runs: list[Run] = []
        self.results: list[Results] = []
        self.snapshots = Snapshots(self.work)
        if (self.work / "configs").exists():
            return
        for name in ("configs", "data", "hostile", "disk"):
            (self.work / name).mkdir()
        for name, experiment in EXPERIMENTS.items():
            (self.work / f"configs/{name}.toml").write_text(experiment.toml())
        (self.work / "data/labelled.csv").write_text(LABELLED)
        (self.work / "data/tokens.txt").write_text("0 45 48 42 4 4 40\n0 1 2 3 4 5 6\n")

    # Names and choices.

    def new(self, folder: str, extension: str = "") -> str:
        """A name that nothing has yet."""
        self.number += 1
        return f"{folder}/{self.number}{extension}"

    def path(self, name: str) -> Path:
        """The path of a name within the folder."""
        return self.work / name

    def run(self, wanted=lambda run: True) -> Run | None:
        """A random run of the wanted kind."""
        found = [run for run in self.runs if wanted(run)]
        return self.random.choice(found) if found else None

    def forget(self, run: Run) -> None:
        """Removes a run."""
        self.runs.remove(run)
        path = self.path(run.name)
        if path.is_symlink() or path.is_file():
            path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)

    # History.

    def tell(self, text: str) -> None:
        """Adds a line to the history."""
        self.history.append(text)

    def problem(self, kind: str, text: str) -> None:
        """Notes that a rule was broken."""
        self.problems.append((kind, text))
        self.tell(f"    BROKEN, {kind}: {text}")

    # Commands, and the rules for each.

    def launch(
        self,
        arguments: list[str],
        *,
        codes: set[int] = frozenset({0}),
        outputs: tuple[str, ...] = (),
        writes: tuple[str, ...] = (),
        what: Disturbance | None = None,
        environment: dict[str, str] | None = None,
    ) -> Finished:
        """Runs a command to its end, and checks the rules.

        `codes` are the exit codes that are right when nothing disturbs the command. `outputs` are files that appear
        whole or not at all; `writes` are runs and results files, which grow, and have rules of their own.
        """
        what = what or Disturbance()
        outputs = tuple(name for name in outputs if name != "-")
        writes = (*writes, *(config_beside(name) for name in (*writes, *outputs) if name.endswith(".jsonl")))
        before = self.snapshots.take()
        process = Process([self.binary, *arguments], str(self.work), what, environment)
        process.disturb(what, self.usual.get(arguments[0], 0.02))
        finished = process.wait()
        if what.name == "none" and finished.code == 0:
            self.usual[arguments[0]] = finished.seconds
        self.record(arguments, what, finished)
        self.check_end(arguments, finished, what.codes(set(codes)))
        after = self.snapshots.take()
        self.check_files(before, after, finished, what, outputs, writes)
        return finished

    def record(self, arguments: list[str], what: Disturbance, finished: Finished) -> None:
        """Notes a command and its end."""
        self.counts[arguments[0]] += 1
        self.ends[f"{what.name}: {finished.code}"] += 1
        disturbed = "" if what.name == "none" else f"   [{what}]"
        self.tell(f"  {finished.code:4} headlight {' '.join(map(repr, arguments))}{disturbed}")
        for line in finished.errors():
            self.tell(f"       | {line[:300]}")

    def check_end(self, arguments: list[str], finished: Finished, codes: set[int]) -> None:
        """Rules for exit code and messages."""
        told = "\n".join(finished.errors()) or finished.stderr[-300:]
        if finished.timed_out:
            self.problem("time", f"did not end: {arguments}")
        elif finished.code not in codes:
            self.problem("exit code", f"{finished.code}, not one of {sorted(codes)}: {arguments}\n{told}")
        if "panicked" in finished.stderr:
            self.problem("panic", told)
        errors = finished.errors()
        if finished.code in (1, 2, 3) and len(errors) != 1:
            self.problem("message", f"{len(errors)} lines begin with `error: `: {arguments}\n{told}")
        if any(ord(letter) < 32 and letter not in "\n\t" or letter == "\x7f" for letter in finished.stderr):
            self.problem("control characters", repr(told))
        if "--json" in arguments and arguments[0] != "walkthrough":
            printed = finished.stdout.splitlines()
            is_right = len(printed) == 1 and is_json(printed[0])
            # These two also print what they found of a damaged run.
            refused_all = finished.code in (1, 2) and arguments[0] not in ("train", "verify")
            if finished.code == 0 and not is_right or refused_all and printed:
                self.problem("json", f"{finished.code} {finished.stdout[-500:]!r}: {arguments}")

    def check_files(
        self,
        before: dict[str, str],
        after: dict[str, str],
        finished: Finished,
        what: Disturbance,
        outputs: tuple[str, ...],
        writes: tuple[str, ...],
    ) -> None:
        """Rules for files: a command changes its own alone, and an output is whole or as it was."""
        for name in sorted(changes(before, after)):
            if any(name == own or name.startswith(own + "/") for own in writes):
                continue
            if name.rsplit("/", 1)[-1].startswith(UNFINISHED):
                if not what.is_kill:
                    self.problem("unfinished", f"{name} was left behind")
                # Nobody but their writer knows these files, so that the soak removes them.
                elif self.path(name).is_file():
                    self.path(name).unlink()
                    self.counts["unfinished files of killed commands"] += 1
                continue
            if name not in outputs:
                self.problem("foreign file", f"{name}: {before.get(name)} became {after.get(name)}")
            elif finished.code != 0 and not what.is_kill:
                self.problem("output", f"{name} changed though the command failed")
            elif after.get(name) not in (None, "special") and not is_whole(name, self.path(name).read_bytes()):
                self.problem("output", f"{name} is not whole")
        for name in outputs:
            if finished.code == 0 and not self.path(name).exists():
                self.problem("output", f"{name} was not written")

    # Rules for runs and results.

    def check_run(self, run: Run) -> None:
        """A run that a command has trained to its end has the bytes of the undisturbed run."""
        expected = dict(self.references.run(run.experiment, run.epochs))
        found = run_files(self.path(run.name))
        if run.epochs != run.first_epochs:
            # Dumps before the extension name the epochs of their time; the last is compared.
            dumps = sorted(name for name in expected if name.startswith("attention/"))
            last = dumps[-1].split(".")[0]
            for name in dumps:
                if name in found and not name.startswith(last):
                    found[name] = expected[name]
        for name in sorted(changes(expected, found)):
            how = "is missing" if name not in found else "should not be there" if name not in expected else "differs"
            self.problem("run", f"{run.name} ({run.experiment}, {run.epochs} epochs): {name} {how}")
        self.verify(run, {0})

    def verify(self, run: Run, codes: set[int]) -> None:
        """Asks the binary whether a run is whole."""
        self.launch(["verify", run.name], codes=codes)

    def expected_rows(self, results: Results) -> list[bytes]:
        """The rows that a results file has at the end of its sweep."""
        rows = self.references.rows(results.sweep, results.seeds)
        if results.shard is None:
            return rows
        index, count = results.shard
        return rows[len(rows) * (index - 1) // count : len(rows) * index // count]

    def check_results(self, results: Results, finished: Finished, what: Disturbance) -> None:
        """Whole rows are never lost, none is there twice, and their bytes depend on the sweep alone."""
        rows, rest = whole_lines(self.path(results.name))
        expected = self.expected_rows(results)
        if rows != expected[: len(rows)]:
            self.problem("rows", f"{results.name} has other rows than the undisturbed sweep")
        if len(rows) < results.rows:
            self.problem("rows", f"{results.name} had {results.rows} rows and has {len(rows)}")
        if rest and "SIGKILL" not in what.signals and finished.code not in (-2, -15, -10):
            self.problem("rows", f"{results.name} ends with a part of a row")
        if finished.code in (0, 3) and len(rows) != len(expected):
            self.problem("rows", f"{results.name} has {len(rows)} of {len(expected)} rows")
        results.rows = len(rows)

    def read_only(self) -> Disturbance:
        """The folder, in which nothing can be written."""
        return Disturbance("read-only", wrapper=in_namespace(READ_ONLY, str(self.work)))
