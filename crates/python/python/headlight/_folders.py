"""Folders that live as long as an object."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import weakref
from pathlib import Path


class Folder:
    """A temporary folder, deleted when nothing refers to this object any more, or at the end of the process that made it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="headlight-"))
        self._removal = weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    # A forked process has a copy of the object, but the folder is its parent's.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


_held: list[Folder] = []


def lasting() -> Path:
    """A folder that lives as long as the process."""
    folder = Folder()
    _held.append(folder)
    return folder.path


# Before the interpreter takes down what removal needs.
atexit.register(_held.clear)
