"""Checks that a failure to read harms no run: makes the n-th reading call of a command fail with strace, for every n.

    python3 scripts/checks/read_faults.py target/release/headlight [--sample SHARE] [--seed 0] [--only STATE]

The runs are whole, damaged in several ways, killed, interrupted, or trained on a file. Over each it runs `verify`,
`evaluate` and `train --resume`, and lets one call fail with EIO: open, read, list a folder, ask for a file's metadata.

What is required of each command:

- It exits with code 1 and one sentence, or as it does without a fault: with that code, output and end.
- `verify` and `evaluate` change nothing.
- After a `train --resume` that failed, no file that the manifest listed is missing, and the manifest has lost no name.
  If training goes on, the last files of the run so far may be gone, since they are no longer what the run is.
- The next `train --resume` ends with the bytes of the undisturbed run, and `verify` finds nothing wrong with it.

Exits with 1 if a command breaks these rules, and keeps the folder.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from disk_model import Tree, read_tree, write_tree
from power_loss import CONFIG, difference
from strace_record import environment

CALLS = ("openat", "read", "pread64", "statx", "newfstatat", "getdents64")
RUN = "run"
COMMANDS = {
    "verify": ["verify", RUN],
    "evaluate": ["evaluate", RUN, "--json"],
    "resume": ["train", "--resume", "--run", RUN, "--quiet"],
}
SHOWN = 8


@dataclass
class State:
    """A folder with a run, and what comes of it without a fault."""

    name: str
    tree: Tree
    # Whether `--resume` trains on.
    trains: bool = False
    # The exit code of `--resume` and of `verify` after it: 2 if a dump is lost.
    end_code: int = 0
    end: Tree | None = None


def launch(folder: Path, binary: str, command: list[str], inject: str | None = None) -> subprocess.CompletedProcess:
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={inject}"] if inject else []
    return subprocess.run(
        [*strace, binary, *command], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120
    )


def names(tree: Tree) -> set[str]:
    """The files that a run's manifest lists."""
    lines = (tree.get(f"{RUN}/manifest.sha256") or b"").decode(errors="replace").splitlines()[1:]
    return {f"{RUN}/{line.split('  ', 1)[1]}" for line in lines if "  " in line}


def own(tree: Tree) -> Tree:
    """Without what was put aside, and the lock."""
    return {name: contents for name, contents in tree.items() if not name.endswith((".damaged", "/.lock"))}


class Check:
    def __init__(self, binary: Path, work: Path):
        self.binary, self.work, self.count = str(binary), work, 0
        self.wrong: list[str] = []

    def folder(self, tree: Tree) -> Path:
        self.count += 1
        folder = self.work / f"{self.count}"
        write_tree(tree, folder)
        return folder

    def after(self, tree: Tree, *commands: list[str], code: int = 0, inject: str | None = None) -> Tree:
        """The files after commands that end with a code."""
        folder = self.folder(tree)
        for command in commands:
            done = launch(folder, self.binary, command, inject)
            if done.returncode != code:
                sys.exit(f"`{' '.join(command)}` exits with {done.returncode}, not {code}: {done.stderr}")
        found = read_tree(folder)
        shutil.rmtree(folder)
        return found

    def states(self) -> list[State]:
        train = ["train", "tiny.toml", "--run", RUN, "--quiet"]
        # Few files, since each is read often.
        shorter = CONFIG.replace("every_steps = 3", "every_steps = 9").replace('["npz", "json"]', '["npz"]')
        config: Tree = {"tiny.toml": shorter.encode()}
        whole = self.after(config, train)
        states = [State("whole", whole)]

        def damaged(name: str, files: dict[str, bytes | None], **more) -> None:
            files = {f"{RUN}/{file}": contents for file, contents in files.items()}
            tree = {file: contents for file, contents in (whole | files).items() if contents is not None or file not in files}
            states.append(State(name, tree, **more))

        dump, checkpoint = "attention/step-0000{}.npz", "checkpoint/step-0000000{}.checkpoint"
        contents = {"environment.json": b"{\xff}", "model.safetensors": b"weights", dump.format(18): b"PK"}
        damaged("contents", contents | {checkpoint.format(16): b"headlight"})
        metrics = whole[f"{RUN}/metrics.jsonl"] + b"{}\n"
        damaged("missing", {"config.toml": None, "report.md": None, "metrics.jsonl": metrics})
        damaged("manifest", {"manifest.sha256": b"# 0 files, for sha256sum --check\n"})
        damaged("earlier-dump", {dump.format("09"): b"PK"}, end_code=2)
        damaged("newest-checkpoint", {checkpoint.format(18): b"headlight"}, trains=True)

        for name, signal, code in (("killed", "SIGKILL", -9), ("interrupted", "SIGINT", 130)):
            tree = self.after(config, train, code=code, inject=f"/^rename:signal={signal}:when=10")
            # As with power_loss.py, what a killed command left unfinished is no file of the run.
            states.append(State(name, tree, trains=True, end=own(whole)))

        # Trained on a file, which all folders share.
        samples = self.after(config, ["data", "tiny.toml", "--out", "samples.csv"])["samples.csv"]
        (self.work / "samples.csv").write_bytes(samples)
        data = f'file = "{self.work}/samples.csv"\nvocab_size = 5\nseq_len = 3\n'
        text = re.sub(r"\[data\].*?\[model\]", f"[data]\n{data}[model]", shorter, flags=re.S)
        states.append(State("file", self.after({"tiny.toml": text.encode()}, train)))
        for state in states:
            if state.end is None:
                state.end = own(self.after(state.tree, COMMANDS["resume"], code=state.end_code))
            verified = launch(self.folder(state.end), self.binary, COMMANDS["verify"])
            if verified.returncode != state.end_code:
                sys.exit(f"{state.name}: verify after the end: {verified.stdout} {verified.stderr}")
        return states

    def faults(self, state: State, name: str) -> list[tuple[State, str, str]]:
        """A fault for each reading call of a command. strace counts the calls of each name, in each thread."""
        folder = self.folder(state.tree)
        trace = folder / "trace"
        calls = ",".join(f"?{call}" for call in CALLS)
        subprocess.run(
            ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={calls}", self.binary, *COMMANDS[name]],
            cwd=folder,
            env=environment(),
            capture_output=True,
        )
        counts: dict[tuple[str, str], int] = {}
        faults: dict[str, None] = {}
        # The system's loader and Rust's runtime read before the program does.
        has_begun = False
        for line in trace.read_text(errors="replace").splitlines():
            if found := re.match(r"(\d+) +(\w+)\(", line):
                counts[found.groups()] = count = counts.get(found.groups(), 0) + 1
                has_begun |= f'"{RUN}' in line
                if has_begun:
                    faults[f"{found[2]}:error=EIO:when={count}"] = None
        shutil.rmtree(folder)
        return [(state, name, fault) for fault in faults]

    def usual(self, state: State, name: str) -> subprocess.CompletedProcess:
        folder = self.folder(state.tree)
        done = launch(folder, self.binary, COMMANDS[name])
        shutil.rmtree(folder)
        return done

    def trial(self, state: State, name: str, inject: str, usual: subprocess.CompletedProcess) -> None:
        folder = self.folder(state.tree)
        done = launch(folder, self.binary, COMMANDS[name], inject)
        found = read_tree(folder)
        problems = []
        if done.returncode not in (1, usual.returncode):
            problems.append(f"exits with {done.returncode}: {done.stderr.strip()}")
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        if done.returncode == 1 and len(errors) != 1:
            problems.append(f"{len(errors)} lines begin with `error: `: {done.stderr.strip()}")
        if name != "resume":
            if own(found) != own(state.tree):
                problems.append("changes the folder")
            if done.returncode == usual.returncode and done.stdout != usual.stdout:
                problems.append(f"prints {done.stdout!r}, not {usual.stdout!r}")
        elif done.returncode == 1:
            problems += self.kept(state, found)
            again = launch(folder, self.binary, COMMANDS["resume"])
            found = read_tree(folder)
            if again.returncode != usual.returncode:
                problems.append(f"then --resume exits with {again.returncode}: {again.stderr.strip()}")
        if name == "resume":
            problems += difference(own(found), state.end)[:4]
            verified = launch(folder, self.binary, COMMANDS["verify"])
            # A lost dump that was put aside before the fault is not reported again.
            if verified.returncode != state.end_code:
                problems.append(f"then verify exits with {verified.returncode}: {verified.stdout}")
        if problems:
            self.wrong.append(f"{state.name}, {name}, {inject}: {'; '.join(problems)}")
        else:
            shutil.rmtree(folder)

    def kept(self, state: State, found: Tree) -> list[str]:
        """What a failed `--resume` lost."""
        before, after = names(state.tree), names(found)
        # The manifest lets go of the report before it is removed.
        if state.trains and f"{RUN}/report.md" not in found.keys() & after:
            before = {name for name in before if re.search(r"config.toml|environment.json|step-\d{6}\.", name)}
            step = max(int(name[-20:-11]) for name in found if re.search(r"step-\d{9}\.checkpoint$", name))
            before = {name for name in before if not (dump := re.search(r"step-(\d{6})\.", name)) or int(dump[1]) < step}
        there = {name for name in before if name in state.tree}
        # What was damaged may be put aside, and an earlier checkpoint is then of no use.
        whole = {name for name in there if state.end.get(name) == state.tree[name]}
        lost = [f"{name} is gone" for name in sorted(whole - found.keys())]
        return lost + [f"the manifest no longer lists {name}" for name in sorted(whole - after)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Checks that a failure to read harms no run.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--sample", type=float, default=1.0, help="the share of faults that are tried")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one state")
    arguments = parser.parse_args()
    if not shutil.which("strace"):
        sys.exit("strace is missing; install it: apt-get install strace")
    memory = Path("/dev/shm")
    fast = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 29
    work = Path(tempfile.mkdtemp(prefix="read-faults-", dir=memory if fast else None)).resolve()
    check = Check(arguments.binary.resolve(), work)
    states = [state for state in check.states() if arguments.only in (None, state.name)]
    draw = random.Random(arguments.seed)
    tried = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for state in states:
            for name in COMMANDS:
                usual = check.usual(state, name)
                faults = [fault for fault in check.faults(state, name) if draw.random() < arguments.sample]
                list(pool.map(lambda fault: check.trial(*fault, usual), faults))  # noqa: B023
                tried += len(faults)
    print(f"{tried} faults over {len(states)} runs: {len(check.wrong)} break a rule", flush=True)
    if check.wrong:
        sys.exit("\n".join(check.wrong[:SHOWN]))
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
