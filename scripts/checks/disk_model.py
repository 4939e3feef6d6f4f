"""A model of what a disk may hold after a loss of power, for power_loss.py.

It is that of a file system that promises no more than POSIX (as in Pillai et al., "All File Systems Are Not Created
Equal", OSDI 2014; close to ext4 in its mode data=writeback without auto_da_alloc):

- `fsync` or `fdatasync` of a file: its contents are on the disk, but not its name.
- `fsync` of a folder: the names in it are on the disk (created, renamed and removed ones, and folders), but not the
  contents of these files, nor the folder's own name.
- Each other change of a name may be on the disk or not, independently of other names and of contents, except that
  changes of one name keep their order. A rename is on the disk in both of its names or in neither. So a file can
  have its final name and no contents, and a new folder can be lost with all that it holds.
- Contents without a later `fsync`: each page of 4,096 bytes, and the length of the file, is as it was at some time
  since the last `fsync`, independently of each other. So a file can end in zeros, have zeros in its middle, end in
  half a line, or lack a write although a later one is there. Bytes behind the length are lost; bytes that a
  truncation removed do not return once its length is on the disk, which file systems ensure for privacy.
- Not modelled: permissions, times, damaged sectors, disks that lie about `fsync`.
"""

import hashlib
import os
import random
from pathlib import Path

PAGE = 4096

# A folder: paths with the bytes of files, None for folders, a string for where a link leads.
Tree = dict[str, bytes | str | None]


class Inode:
    """A file, a link or a folder of the model; `live` is what a process sees."""

    def __init__(self, live: bytearray | str | dict):
        self.live = live
        self.base = bytes(live) if isinstance(live, bytearray) else dict(live) if isinstance(live, dict) else live
        # The writes and truncations of a file: (number of the operation, offset, bytes or None).
        self.writes: list[tuple[int, int, bytes | None]] = []
        # The numbers of the operations that synced it.
        self.syncs: list[int] = []


def apply(contents: bytearray, offset: int, data: bytes | None) -> None:
    """A write, or a truncation to `offset`."""
    if data is None:
        del contents[offset:]
        contents.extend(bytes(offset - len(contents)))
    else:
        contents.extend(bytes(max(0, offset - len(contents))))
        contents[offset : offset + len(data)] = data


def read_tree(folder: Path) -> Tree:
    tree: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        tree[name] = os.readlink(path) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
    return tree


def write_tree(tree: Tree, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, contents in sorted(tree.items()):
        if contents is None:
            (folder / name).mkdir()
        elif isinstance(contents, str):
            (folder / name).symlink_to(contents)
        else:
            (folder / name).write_bytes(contents)


def digest(tree: Tree) -> str:
    whole = hashlib.sha256()
    for name, contents in sorted(tree.items()):
        kind = type(contents).__name__
        data = contents.encode() if isinstance(contents, str) else contents or b""
        whole.update(f"{name}\0{kind}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()


class Disk:
    """The model: folders, files, and every operation on them in order."""

    def __init__(self, tree: Tree):
        self.root = Inode({})
        self.operations: list[str] = []
        # Changes of names: (number of the operation, [(folder, name, inode or None)]).
        self.names: list[tuple[int, list[tuple[Inode, str, Inode | None]]]] = []
        for name, contents in sorted(tree.items()):
            live = {} if contents is None else contents if isinstance(contents, str) else bytearray(contents)
            folder, last = self.place(name)
            folder.live[last] = folder.base[last] = Inode(live)

    def place(self, path: str) -> tuple[Inode, str]:
        """The folder of a path, and its last name."""
        *parents, last = path.split("/")
        folder = self.root
        for parent in parents:
            folder = folder.live[parent]
        return folder, last

    def find(self, path: str) -> Inode | None:
        if path in ("", "."):
            return self.root
        folder, last = self.place(path)
        return folder.live.get(last)

    def operate(self, text: str) -> int:
        self.operations.append(text)
        return len(self.operations) - 1

    def rename(self, text: str, changes: list[tuple[str, Inode | None]]) -> None:
        placed = [(*self.place(path), inode) for path, inode in changes]
        self.names.append((self.operate(text), placed))
        for folder, name, inode in placed:
            if inode is None:
                folder.live.pop(name)
            else:
                folder.live[name] = inode

    def write(self, text: str, inode: Inode, offset: int, data: bytes | None) -> None:
        inode.writes.append((self.operate(text), offset, data))
        apply(inode.live, offset, data)

    def sync(self, text: str, inode: Inode) -> None:
        inode.syncs.append(self.operate(text))

    def live(self) -> Tree:
        return self.tree(self.root, "live", lambda inode: bytes(inode.live))

    @staticmethod
    def tree(root: Inode, side, contents) -> Tree:
        tree: Tree = {}
        left = [("", root)]
        while left:
            path, folder = left.pop()
            entries = folder.live if side == "live" else side(folder)
            for name, inode in entries.items():
                below = f"{path}{name}"
                if isinstance(inode.live, dict):
                    tree[below] = None
                    left.append((f"{below}/", inode))
                else:
                    tree[below] = inode.live if isinstance(inode.live, str) else contents(inode)
        return tree

    def after_crash(self, count: int, choose: "Choice") -> tuple[Tree, list[str]]:
        """What the disk may hold if the power fails after the first `count` operations, and what is lost."""
        changes = [(number, change) for number, change in self.names if number < count]
        durable, needed = set(), set()
        for number, change in reversed(changes):
            places = {(id(folder), name) for folder, name, _ in change}
            synced = any(number < sync < count for folder, _, _ in change for sync in folder.syncs)
            if synced or places & needed:
                durable.add(number)
                needed |= places
        entries: dict[int, dict[str, Inode]] = {}
        lost, blocked = [], set()
        for number, change in changes:
            places = {(id(folder), name) for folder, name, _ in change}
            if number not in durable and (places & blocked or not choose.name()):
                blocked |= places
                lost.append(self.operations[number])
                continue
            for folder, name, inode in change:
                of_folder = entries.setdefault(id(folder), dict(folder.base))
                if inode is None:
                    of_folder.pop(name, None)
                else:
                    of_folder[name] = inode

        def contents(inode: Inode) -> bytes:
            synced = max((sync for sync in inode.syncs if sync < count), default=-1)
            whole = bytearray(inode.base)
            pending = []
            for number, offset, data in inode.writes:
                if number < synced:
                    apply(whole, offset, data)
                elif number < count:
                    pending.append((number, offset, data))
            if not pending:
                return bytes(whole)
            found, described = choose.contents(bytes(whole), [(offset, data) for _, offset, data in pending])
            lost.append(f"{self.operations[pending[0][0]]} and {len(pending) - 1} later ones: {described}")
            return found

        tree = self.tree(self.root, lambda folder: entries.get(id(folder), folder.base), contents)
        return tree, lost


class Choice:
    """Which changes that are not synced survive: `all`, `none`, or drawn at random."""

    def __init__(self, kind: str, random: random.Random | None = None):
        self.kind = kind
        self.random = random
        self.chance = random.choice((0.0, 0.2, 0.5, 0.8, 1.0)) if random else 0.0

    def name(self) -> bool:
        return self.kind == "all" or self.kind == "random" and self.random.random() < self.chance

    def contents(self, base: bytes, pending: list[tuple[int, bytes | None]]) -> tuple[bytes, str]:
        """A length and pages, each from some time since the last sync."""
        times = len(pending)
        if self.kind != "random":
            length_at = times if self.kind == "all" else 0
            page_at = lambda _: length_at  # noqa: E731
            how = self.kind
        else:
            how = self.random.choice(("all", "none", "zeros", "prefix", "pages", "pages"))
            cut = self.random.randint(0, times)
            length_at = {"all": times, "none": 0, "zeros": times, "prefix": cut}.get(how, self.random.randint(0, times))
            fixed = {"all": times, "none": 0, "zeros": 0, "prefix": cut}.get(how)
            page_at = lambda _: self.random.randint(0, times) if fixed is None else fixed  # noqa: E731
        length, truncated = len(base), 0
        for time, (offset, data) in enumerate(pending[:length_at], 1):
            if data is None:
                length, truncated = offset, time
            else:
                length = max(length, offset + len(data))
        if how in ("all", "none"):
            whole = bytearray(base)
            for offset, data in pending[:length_at]:
                apply(whole, offset, data)
            return bytes(whole), how
        whole = bytearray(length)
        for start in range(0, length, PAGE):
            at = max(page_at(start), truncated)
            page = bytearray(base[start : start + PAGE].ljust(PAGE, b"\0"))
            for offset, data in pending[:at]:
                if data is None:
                    keep = min(max(offset - start, 0), PAGE)
                    page[keep:] = bytes(PAGE - keep)
                    continue
                first, last = max(offset, start), min(offset + len(data), start + PAGE)
                if first < last:
                    page[first - start : last - start] = data[first - offset : last - offset]
            whole[start : start + PAGE] = page[: min(PAGE, length - start)]
        return bytes(whole), f"{how}, the length after {length_at} of {times}"
