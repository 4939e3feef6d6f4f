"""Applies what a command does to files to the model of a disk (disk_model.py), from a record of strace.

A call that could change a file and that is not known here ends the script. So does a folder whose files are not the
model's once the command has ended, such as after a write through mapped memory.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from disk_model import Disk, Inode, read_tree


class Wrong(Exception):
    """A folder breaks a rule."""


CALL = re.compile(r"^(\d+) +(?:(\w+)\((.*)|<\.\.\. (\w+) resumed>(.*))$", re.S)
RESULT = re.compile(r"^(.*)\) += (-?\d+|\?)(?:<(.*?)>)?.*$", re.S)
NAMED = re.compile(r'(?:\d+<([^>]*)>, )?"((?:\\x[0-9a-f]{2})*)"')
"""A path in a call, and the folder that it is relative to, if the call gives that as a number."""
NAMES = ("open", "openat", "creat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat")
NAMES += ("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "truncate", "ftruncate", "fallocate")
BYTES = ("read", "readv", "write", "writev", "pwrite64", "pwritev", "pwritev2", "lseek", "close", "dup", "dup2", "dup3")
COPIES = ("copy_file_range", "sendfile", "splice", "fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync")


def text(hexed: str) -> str:
    return bytes.fromhex(hexed.replace("\\x", "")).decode() if hexed.startswith("\\x") else hexed


def named(folder: str, path: str) -> str:
    """The path that a call names."""
    folder, path = text(folder), text(path)
    return path if not folder or path.startswith("/") else f"{folder}/{path}"


class Recorder:
    """Applies strace's record of one command to a disk."""

    def __init__(self, disk: Disk, folder: Path):
        self.disk, self.folder = disk, folder
        self.files: dict[int, Inode] = {}
        self.offsets: dict[int, int] = {}
        self.appends: set[int] = set()
        self.unfinished: dict[str, str] = {}

    def path(self, given: str) -> str | None:
        """A path within the folder; None elsewhere."""
        path = os.path.normpath(self.folder / text(given))
        return os.path.relpath(path, self.folder) if path.startswith(f"{self.folder}/") or path == str(self.folder) else None

    def line(self, line: str) -> None:
        found = CALL.match(line)
        if not found:
            return  # signals and exits
        process, name, rest, resumed, tail = found.groups()
        if rest is not None and rest.endswith("<unfinished ...>"):
            self.unfinished[process] = rest.removesuffix("<unfinished ...>").rstrip()
            return
        if resumed:
            name, rest = resumed, self.unfinished.pop(process) + tail
        result = RESULT.match(rest)
        if not result or result[2] == "?" or int(result[2]) < 0:
            return
        self.call(name, result[1], int(result[2]))

    def call(self, name: str, arguments: str, result: int) -> None:
        quoted = [named(*found) for found in NAMED.findall(arguments)] if name in NAMES else []
        first = re.match(r"(\d+)(?:<|,|$)", arguments)
        file = int(first[1]) if first else None
        disk = self.disk
        numbers = [int(number) for number in re.findall(r", (\d+)(?=,|$)", arguments)]
        if name in ("open", "openat", "creat"):
            self.open(quoted[0], arguments, result)
        elif name == "close":
            self.files.pop(file, None)
        elif name in NAMES and name != "ftruncate":
            paths = [self.path(path) for path in quoted]
            if all(path is None for path in paths):
                return
            shown = f"{name} {' '.join(map(str, paths))}"
            if name in ("mkdir", "mkdirat"):
                disk.rename(shown, [(paths[0], Inode({}))])
            elif name in ("rename", "renameat", "renameat2"):
                disk.rename(shown, [(paths[0], None), (paths[1], disk.find(paths[0]))])
            elif name in ("link", "linkat"):
                disk.rename(shown, [(paths[1], disk.find(paths[0]))])
            elif name in ("unlink", "unlinkat", "rmdir"):
                disk.rename(shown, [(paths[0], None)])
            else:
                sys.exit(f"{shown}: this script does not know the call")
        elif file in self.files:
            self.on_file(name, file, arguments, numbers, result)
        elif name in COPIES[:3] and re.search(r"<[^>]*>", arguments):
            targets = [int(number) for number in re.findall(r"(\d+)<", arguments)]
            if any(number in self.files for number in targets):
                sys.exit(f"{name}: this script does not know the call")
        elif name in ("sync", "syncfs"):
            sys.exit(f"{name}: this script does not know the call")

    def open(self, given: str, arguments: str, result: int) -> None:
        self.files.pop(result, None)
        path = self.path(given)
        if path is None:
            return
        inode = self.disk.find(path)
        if inode is None:
            inode = Inode(bytearray())
            self.disk.rename(f"create {path}", [(path, inode)])
        elif "O_TRUNC" in arguments and inode.live:
            self.disk.write(f"truncate {path}", inode, 0, None)
        if "SYNC" in arguments or "O_TMPFILE" in arguments or "O_DIRECT," in arguments:
            sys.exit(f"open {path}: this script does not know the flags of {arguments[-80:]}")
        self.files[result], self.offsets[result] = inode, 0
        (self.appends.add if "O_APPEND" in arguments else self.appends.discard)(result)

    def on_file(self, name: str, file: int, arguments: str, numbers: list[int], result: int) -> None:
        inode, disk = self.files[file], self.disk
        found = re.match(r"\d+<(.*?)>", arguments)
        shown = f"{name} {self.path(found[1]) if found else file}"
        if name == "read":
            self.offsets[file] += result
        elif name == "lseek":
            self.offsets[file] = result
        elif name in ("write", "pwrite64"):
            data = bytes.fromhex(re.search(r'"((?:\\x[0-9a-f]{2})*)"', arguments)[1].replace("\\x", ""))[:result]
            offset = numbers[-1] if name == "pwrite64" else self.offsets[file]
            if file in self.appends:
                offset = len(inode.live)
            if name == "write":
                self.offsets[file] = offset + len(data)
            disk.write(f"{shown}, {len(data)} bytes at {offset}", inode, offset, data)
        elif name == "ftruncate":
            if numbers[-1] != len(inode.live):
                disk.write(f"{shown} to {numbers[-1]}", inode, numbers[-1], None)
        elif name in ("fsync", "fdatasync"):
            disk.sync(shown, inode)
        else:
            sys.exit(f"{shown}: this script does not know the call")


def environment() -> dict[str, str]:
    """Without the variables of schedulers, which choose shards."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ} | {"NO_COLOR": "1"}


def record(disk: Disk, folder: Path, command: list[str], inject: str | None = None, code: int = 0) -> None:
    """Runs a command in `folder`, and applies what it did to the disk."""
    calls = ",".join(f"?{name}" for name in (*NAMES, *BYTES, *COPIES))
    trace = folder.parent / f"{folder.name}.strace"
    strace = ["strace", "-f", "-y", "-xx", "-s", str(1 << 24), "-e", f"trace={calls}", "-o", str(trace)]
    strace += ["-e", f"inject={inject}"] if inject else []
    done = subprocess.run([*strace, *command], cwd=folder, env=environment(), capture_output=True, text=True)
    if done.returncode != code:
        raise Wrong(f"`{' '.join(command[1:])}` exits with {done.returncode}, not {code}: {done.stderr.strip()}")
    recorder = Recorder(disk, folder)
    with trace.open() as lines:
        for line in lines:
            recorder.line(line.rstrip("\n"))
    trace.unlink()
    real, model = read_tree(folder), disk.live()
    different = [name for name in real.keys() | model.keys() if real.get(name, 0) != model.get(name, 0)]
    if different:
        sys.exit(f"{' '.join(command)}: the record does not explain {', '.join(sorted(different))}")
