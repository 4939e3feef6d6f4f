"""What a folder holds, and whether a file is whole."""

import contextlib
import hashlib
import io
import json
import os
import stat
import zipfile
from pathlib import Path

UNFINISHED = ".unfinished-"
"""How the names of files begin that are still being written."""


def sha256(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Snapshots:
    """Takes snapshots of a folder. Files whose times, size and inode are unchanged are not read again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.known: dict[str, tuple[tuple[int, ...], str]] = {}

    def take(self) -> dict[str, str]:
        """Each path of the folder, with its kind and a hash of its bytes."""
        return dict(self.entries(self.folder, ""))

    def entries(self, folder: Path, prefix: str):
        for entry in os.scandir(folder):
            name = prefix + entry.name
            # Another process may remove what was just listed.
            with contextlib.suppress(FileNotFoundError):
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISLNK(found.st_mode):
                    yield name, f"link to {os.readlink(entry.path)}"
                elif stat.S_ISDIR(found.st_mode):
                    yield name, "folder"
                    yield from self.entries(Path(entry.path), name + "/")
                elif stat.S_ISREG(found.st_mode):
                    yield name, self.file(name, Path(entry.path), found)
                else:
                    yield name, "special"

    def file(self, name: str, path: Path, found: os.stat_result) -> str:
        identity = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        known = self.known.get(name)
        if known is None or known[0] != identity:
            known = (identity, sha256(path))
            self.known[name] = known
        return known[1]


def changes(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """The paths that came, went or changed."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def run_files(run: Path) -> dict[str, str]:
    """The hashes of the files that a run's config and seed determine.

    These are not the files with dates, the manifest, which has their hashes, and damaged files that were put aside. Of
    the checkpoints only the last counts: which came before it depends on where the run was stopped.
    """
    dated = ("environment.json", "inspector.html", ".lock", "manifest.sha256")
    files = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.is_file() and name not in dated and not name.endswith(".damaged"):
            files[name] = sha256(path)
    for name in sorted(name for name in files if name.endswith(".checkpoint"))[:-1]:
        del files[name]
    return files


def whole_lines(path: Path) -> tuple[list[bytes], bytes]:
    """The whole lines of a file, and what follows the last of them."""
    data = path.read_bytes() if path.exists() else b""
    *lines, rest = data.split(b"\n")
    return lines, rest


def is_whole(name: str, data: bytes) -> bool:
    """Whether a file with this name ends as its format does."""
    text = data.rstrip()
    if name.endswith((".html", ".svg")):
        return text.endswith(b"</html>" if name.endswith(".html") else b"</svg>")
    if name.endswith(".png"):
        return text.endswith(b"IEND\xaeB`\x82")
    if name.endswith(".npz"):
        return zipfile.is_zipfile(io.BytesIO(data)) and zipfile.ZipFile(io.BytesIO(data)).testzip() is None
    if name.endswith((".json", ".jsonl")):
        lines = data.splitlines() if name.endswith(".jsonl") else [data]
        return all(is_json(line) for line in lines)
    return data.endswith(b"\n")


def is_json(data: bytes) -> bool:
    """Whether this is one JSON value."""
    try:
        json.loads(data)
    except ValueError:
        return False
    return True
