"""Folders that live as long as an object."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import weakref
from pathlib import Path


class Folder:
    """A temporary folder; it goes when nobody holds this object, or at the end of the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="headlight-"))
        self._removal = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


_held: list[Folder] = []


def lasting() -> Path:
    """A folder that lives as long as the process."""
    folder = Folder()
    _held.append(folder)
    return folder.path


# Before the interpreter takes down what removal needs.
atexit.register(_held.clear)
