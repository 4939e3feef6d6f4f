"""The licences of all that a binary or a wheel of Headlight contains.

Their texts ask to be passed on with what is compiled from them.
"""

from __future__ import annotations

import html
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What is embedded, for the files that Headlight writes: name with licence, and the file of its text.
EMBEDDED = [
    ("preact, MIT", ROOT / "crates/page/script/node_modules/preact/LICENSE"),
    ("names.txt of makemore, MIT", ROOT / "data/LICENSE-names"),
    ("@preact/signals, MIT", ROOT / "crates/page/script/node_modules/@preact/signals/LICENSE"),
]
BEGINNINGS = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def third_party(manifest: pathlib.Path, triple: str, options: list[str], zig: pathlib.Path) -> str:
    """The licences of the dependencies that a package is compiled with, for a target and with some features, and those of
    what is linked and embedded. Each text stands once, below the names that it is for. `zig` is the folder of zig's libraries."""
    cargo = ["--locked", "--manifest-path", manifest]
    tree = ["cargo", "tree", *cargo, "--target", triple, *options, "--edges", "normal", "--prefix", "none", "--format", "{p}"]
    listed = subprocess.run(tree, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    # A package is "name v1.2.3", and in brackets where it lies if that is here.
    used = {tuple(line.replace(" v", " ").split()[:2]) for line in listed if line and "(/" not in line}
    metadata = ["cargo", "metadata", *cargo, "--format-version", "1", "--filter-platform", triple]
    packages = json.loads(subprocess.run(metadata, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    names: dict[str, list[str]] = {}
    for package in sorted(packages, key=lambda package: (package["name"], package["version"])):
        if (package["name"], package["version"]) in used:
            folder = pathlib.Path(package["manifest_path"]).parent
            files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(BEGINNINGS))
            texts = [path.read_text(encoding="utf-8", errors="replace").strip() for path in files]
            _add(names, f"{package['name']} {package['version']}, {package['license']}; source: {package['repository'] or 'crate of this name'}", texts)
    for name, path in [*_linked(triple, zig), *EMBEDDED]:
        text = path.read_text(encoding="utf-8", errors="replace")
        _add(names, name, [_plain(text) if path.suffix == ".html" else text.strip()])
    line = "=" * 100
    parts = ["What this file comes with is compiled from the packages below, besides Headlight's own code."]
    parts += [f"{line}\n{chr(10).join(above)}\n{line}\n\n{text}" for text, above in names.items()]
    return "\n\n".join(parts) + "\n"


def _linked(triple: str, zig: pathlib.Path) -> list[tuple[str, pathlib.Path]]:
    """What every program in Rust for a target is linked to: the standard library, and the target's C library where it is part of the file."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, text=True, stdout=subprocess.PIPE, cwd=ROOT).stdout.strip()
    linked = [("The standard library of Rust, MIT OR Apache-2.0", pathlib.Path(sysroot, "share/doc/rust/COPYRIGHT-library.html"))]
    if triple.endswith("linux-musl"):
        linked.append(("musl, MIT", zig / "libc/musl/COPYRIGHT"))
    if triple.endswith("windows-gnu"):
        linked.append(("The runtime of MinGW-w64", zig / "libc/mingw/COPYING"))
    return linked


def _plain(text: str) -> str:
    """The words of an HTML file."""
    text = re.sub(r"(?s)<(style|head)\b.*?</\1>|<[^>]*>", "", text)
    return re.sub(r"\n\s*\n\s*", "\n\n", html.unescape(text)).strip()


def _add(names: dict[str, list[str]], name: str, texts: list[str]) -> None:
    for text in texts or ["The source has no file of its licence; the name of the licence is above."]:
        names.setdefault(text, []).append(name)
