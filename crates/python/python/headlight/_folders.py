"""Temporary folders."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import weakref
from pathlib import Path

from . import _headlight

try:
    import fcntl
except ImportError:  # Windows, where folders of a process that was killed stay.
    fcntl = None  # type: ignore[assignment]

# The file that a process keeps locked in its folder while it lives.
LOCK = "headlight.lock"


class Folder:
    """A temporary folder, deleted when nothing refers to this object any more, or at the end of the process that made it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(dir=_folder_of_process()))
        self._removal = weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    # A forked process has a copy of the object, but the folder is its parent's.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


# The process, its folder and the lock in it: of a forked process, its parent's.
_own: tuple[int, Path, int] | None = None


def _folder_of_process() -> Path:
    """The folder of this process, which has its other ones."""
    global _own
    # Systems delete old temporary folders, also of a process that lives.
    if _own is None or _own[0] != os.getpid() or not _own[1].is_dir():
        _remove_leftovers()
        path = Path(tempfile.mkdtemp(prefix="headlight-"))
        # It has its name once it is locked: until then, no other process takes it for a leftover.
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT)
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (path / "lock").rename(path / LOCK)
        _headlight.hide_folder(path)
        _own = (os.getpid(), path, lock)
        atexit.register(_remove, path, os.getpid())
    return _own[1]


def _remove_leftovers() -> None:
    """Deletes the folders of processes that were killed: nothing holds their locks."""
    for path in Path(tempfile.gettempdir()).glob(f"headlight-*/{LOCK}"):
        try:
            with open(path, "r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path.parent, ignore_errors=True)
        except OSError:
            # Another process lives, or the folder is another user's.
            continue


_held: list[Folder] = []


def lasting() -> Path:
    """A folder that lives as long as the process."""
    _held.append(Folder())
    return _held[-1].path
