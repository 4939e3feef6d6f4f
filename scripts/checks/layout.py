"""The layout of the code: no circle of files in Rust or in the page's script, no folder that uses one above it, and no file of tests
that is not compiled.

    python3 scripts/checks/layout.py

A file names another if it uses an item of it, by a `use` or by a path. Names that a file only re-exports (`pub use`) are followed to
the file that defines them. Tests inside a file do not count. A module of the page names another if it imports it; types in comments do
not count. The script prints a circle with the names that tie it, and ends with exit code 1 if anything is wrong.
"""

import graphlib
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2] / "crates"
PAGE = ROOT / "page/script/src"
LAYERS = {"trainer": ["messages", "files", "run", "burn", "session", "show", "training"]}
"""The folders of a crate, each of which uses only those before it."""


def code(text):
    """The text without comments, strings and tests."""
    text = re.sub(r'r(#*)".*?"\1', '""', text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.split(r"#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*mod \w+ \{", text)[0]


def trees(text):
    """The paths of a `use` tree, each with the name that it gets."""
    text = text.strip()
    found = re.match(r"^(.*?)\{(.*)\}$", text, flags=re.S)
    if not found:
        path, _, alias = text.partition(" as ")
        path = path.strip()
        return [(path, (alias or path.rsplit("::", 1)[-1]).strip())] if path else []
    prefix, inner, depth, part, paths = found[1], found[2], 0, "", []
    for letter in inner + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            paths += [(prefix + path, name) for path, name in trees(part)]
            part = ""
        else:
            part += letter
    return paths


class Crate:
    """The modules of a crate: files, what they hand on, and the paths that they name."""

    def __init__(self, folder):
        self.files = {}
        for path in sorted((folder / "src").rglob("*.rs")):
            parts = list(path.relative_to(folder / "src").with_suffix("").parts)
            if parts[-1] in ("lib", "main", "mod"):
                parts.pop()
            self.files[tuple(parts)] = path
        self.code = {module: code(path.read_text()) for module, path in self.files.items()}
        self.handed_on = {}
        self.named = {}
        for module, text in self.code.items():
            handed_on, imported, named = {}, {}, []
            for public, tree in re.findall(r"\b(pub(?:\([^)]*\))? )?use ([^;]+);", text):
                for path, name in trees(re.sub(r"\s+", " ", tree)):
                    (handed_on if public else imported)[name] = path
            named += imported.values()
            rest = re.sub(r"\buse [^;]+;", "", text)
            for path in re.findall(r"(?<![\w:])[a-z_]\w*(?:::\w+)+", rest):
                first, _, item = path.partition("::")
                named.append(f"{imported[first]}::{item}" if first in imported else path)
            self.handed_on[module], self.named[module] = handed_on, named

    def resolve(self, module, path, inline=0, seen=()):
        """The file that defines the item of a path named in `module`, and the item; None if elsewhere."""
        steps = path.replace(" ", "").split("::")
        here = list(module)
        if steps[0] == "crate":
            here, steps = [], steps[1:]
        elif steps[0] == "self":
            steps = steps[1:]
        elif steps[0] == "super":
            while steps and steps[0] == "super":
                here, steps = here[:-1], steps[1:]
        elif tuple([*here, steps[0]]) not in self.files:
            return None
        while steps and tuple([*here, steps[0]]) in self.files:
            here, steps = [*here, steps[0]], steps[1:]
        target, item = tuple(here), steps[0] if steps else ""
        handed_on = self.handed_on.get(target, {}).get(item)
        if handed_on and (target, item) not in seen:
            return self.resolve(target, handed_on, seen=(*seen, (target, item))) or (target, item)
        return (target, item) if target in self.files else None

    def arrows(self):
        arrows = {}
        for module, paths in self.named.items():
            inline = re.search(r"\bmod \w+ \{", self.code[module]) is not None
            for path in paths:
                found = self.resolve(module, path)
                # `super` inside a module of the same file means this file or one above it: not an arrow.
                if found is None or found[0] == module or inline and path.startswith("super"):
                    continue
                if found[1]:
                    arrows.setdefault(module, {}).setdefault(found[0], set()).add(found[1])
        return arrows


def imports(folder):
    """The modules of a script that each of its modules imports, by their paths without an ending, with the names that it takes."""
    arrows = {}
    for path in sorted([*folder.rglob("*.ts"), *folder.rglob("*.tsx")]):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for names, target in re.findall(r'^(?:import|export)\s+(?:([^;"]*?)\s+from\s+)?"(\.[^"]+)"', text, flags=re.M):
            goal = (path.parent / target).resolve()
            arrows.setdefault(path.with_suffix(""), {}).setdefault(goal, set()).update(re.findall(r"[\w$*]+", names))
    return arrows


def has_circles(place, arrows, name):
    """Prints a circle of files, whose names `name` gives."""
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1][::-1]
        print(f"a circle of {len(circle) - 1} files in {place}:")
        for module, target in zip(circle, circle[1:]):
            print(f"    {name(module)} -> {name(target)}: {', '.join(sorted(arrows[module][target]))}")
        return True
    return False


def climbs(crate, arrows, layers):
    """Prints each arrow from a folder of `layers` to one after it."""
    def level(module):
        return layers.index(module[0]) if module and module[0] in layers else None

    found = [
        (module, target)
        for module, targets in arrows.items()
        for target in targets
        if level(module) is not None and level(target) is not None and level(module) < level(target)
    ]
    for module, target in found:
        names = ", ".join(sorted(arrows[module][target]))
        print(f"{crate.files[module]} uses {names} of {crate.files[target]}, which is in a folder above its own")
    return bool(found)


def are_left_out():
    """Prints each file of tests that no test program of a crate has, where Cargo does not look for programs itself."""
    found = False
    for manifest in ROOT.glob("*/Cargo.toml"):
        keys = tomllib.loads(manifest.read_text())
        if keys["package"].get("autotests", True):
            continue
        programs = {program["name"] for program in keys["test"]}
        folder = manifest.parent / "tests"
        listed = programs.union(*(re.findall(r"^mod (\w+);", (folder / f"{name}.rs").read_text(), re.M) for name in programs))
        for path in sorted(folder.glob("*.rs")):
            if path.stem not in listed:
                print(f"{path.relative_to(ROOT.parent)} is not compiled; add `mod {path.stem};` to a test program of its crate")
                found = True
    return found


def main():
    failed = are_left_out()
    for folder in sorted(path for path in ROOT.iterdir() if (path / "src").is_dir()):
        crate = Crate(folder)
        arrows = crate.arrows()
        failed |= climbs(crate, arrows, LAYERS.get(folder.name, []))
        failed |= has_circles(folder.name, arrows, lambda module, crate=crate, folder=folder: crate.files[module].relative_to(folder))
    files = imports(PAGE)
    failed |= has_circles("the page's script", files, lambda path: path.relative_to(PAGE))
    folders = {}
    for path, targets in files.items():
        for target, names in targets.items():
            if target.parent != path.parent:
                folders.setdefault(path.parent, {}).setdefault(target.parent, set()).update(names)
    failed |= has_circles("the folders of the page's script", folders, lambda path: path.relative_to(PAGE))
    sys.exit(failed)


if __name__ == "__main__":
    main()
