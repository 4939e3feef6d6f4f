"""Builds what a release consists of, for every system, into one folder.

    scripts/release/build.py                              everything, into dist
    scripts/release/build.py --check                      and runs each file where this machine can (check.py)
    scripts/release/build.py --only x86_64                the files whose names contain one of these
    scripts/release/build.py --list                       the names of the files

It fetches the tools that it needs from the registries of their languages, and keeps them in the target folder. Debian's packages
(debian-packages.txt) need root.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import hashlib
import io
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

from licences import third_party
from targets import FLAVOURS, ROOT, TARGETS, VERSION, Target, files

# Where the version of Cargo.toml stands again.
VERSIONED = ["crates/python/Cargo.toml", "crates/python/python/headlight/__init__.py", "CITATION.cff"]
REQUIREMENTS = ROOT / "scripts/release/requirements-release.txt"
AUDITABLE = "0.7.7"
# A link of a document to another file.
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)[^)\s]*\)")
# Cargo builds in these: the options of the two differ, and neither is to compile again what the other compiled.
FOLDERS = {"wheels": ROOT / "target/release-wheels", "binaries": ROOT / "target/release-binaries"}


def run(command: list, **options) -> subprocess.CompletedProcess:
    parts = [str(part) for part in command]
    ran = subprocess.run(parts, check=False, cwd=ROOT, **options)
    if ran.returncode != 0:
        sys.exit(f"`{' '.join(parts)}` ended with exit code {ran.returncode}")
    return ran


def output(command: list) -> str:
    return run(command, stdout=subprocess.PIPE, text=True).stdout.strip()


def tools() -> pathlib.Path:
    """The folder with maturin, zig and the auditing programs, made on first use."""
    folder, content = ROOT / "target/release-tools", REQUIREMENTS.read_bytes()
    if not (folder / "complete").exists() or (folder / "complete").read_bytes() != content:
        venv.create(folder, with_pip=True, clear=True)
        run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--requirement", REQUIREMENTS])
        (folder / "complete").write_bytes(content)
    return folder / "bin"


def zig_libraries(bin_folder: pathlib.Path) -> pathlib.Path:
    (found,) = bin_folder.parent.glob("lib/python*/site-packages/ziglang/lib")
    return found


def environment(bin_folder: pathlib.Path) -> dict[str, str]:
    """The environment of a build that leaves no path and no time of this machine in a file."""
    cargo = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    remapped = [(ROOT, "headlight"), *((folder, "registry") for folder in sorted((cargo / "registry/src").glob("*")))]
    flags = [f"--remap-path-prefix={path}={name}" for path, name in remapped]
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(bin_folder), str(ROOT / "target/tools/bin"), os.environ["PATH"]]),
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        "SOURCE_DATE_EPOCH": date(),
    }


@functools.cache
def date() -> str:
    """The seconds that every file of the release carries: those of the commit."""
    return output(["git", "log", "-1", "--format=%ct"])


def prepare() -> pathlib.Path:
    """Fetches the tools, the dependencies, and what the page is bundled from."""
    bin_folder = tools()
    # It does nothing if that version is there.
    run(["cargo", "install", "--quiet", "--debug", "--locked", "--root", ROOT / "target/tools", "--version", AUDITABLE, "cargo-auditable"])
    run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefix", "crates/page/script"])
    for manifest in ["Cargo.toml", "crates/python/Cargo.toml"]:
        run(["cargo", "fetch", "--quiet", "--locked", "--manifest-path", manifest])
    return bin_folder


def build_wheel(target: Target, out: pathlib.Path, bin_folder: pathlib.Path) -> None:
    run(["rustup", "--quiet", "target", "add", target.triple])
    licences = ROOT / "LICENSE-THIRD-PARTY"
    licences.write_text(third_party(ROOT / "crates/python/Cargo.toml", target.triple, [], zig_libraries(bin_folder)), encoding="utf-8")
    options = ["--profile", "dist", "--compatibility", target.wheel[0], "--target", target.triple]
    zig = ["--zig"] if target.linker == "zig" else []
    try:
        run(["maturin", "build", "--quiet", *options, *zig, "--target-dir", FOLDERS["wheels"], "--out", out], env=environment(bin_folder))
    finally:
        licences.unlink()
    # Zopfli's wheels are 2% smaller than those of maturin at its level 9.
    run(["advzip", "--recompress", "--shrink-insane", "--iter", "5", "--quiet", out / target.wheel_name()])


def build_archive(target: Target, flavour: str, out: pathlib.Path, bin_folder: pathlib.Path) -> None:
    files = {target.program: compiled(target, flavour, bin_folder).read_bytes(), **documents(target, flavour, bin_folder)}
    name = f"{flavour}-{VERSION}-{target.triple}"
    write = write_zip if target.is_windows else write_tar
    write(out / target.archive_name(flavour), {f"{name}/{path}": content for path, content in sorted(files.items())}, target.program)


def compiled(target: Target, flavour: str, bin_folder: pathlib.Path) -> pathlib.Path:
    """The program for a system; it lists the packages that it is built from, for `cargo audit bin`."""
    run(["rustup", "--quiet", "target", "add", target.triple])
    build = "zigbuild" if target.linker == "zig" else "build"
    folder = FOLDERS["binaries"] / flavour
    package = ["--package", "headlight", "--bin", "headlight", *FLAVOURS[flavour]]
    run(
        ["cargo", "auditable", build, "--quiet", "--release", "--locked", *package, "--target", target.triple, "--target-dir", folder],
        env=environment(bin_folder),
    )
    return folder / target.triple / "release" / target.program


def documents(target: Target, flavour: str, bin_folder: pathlib.Path) -> dict[str, bytes]:
    """What lies beside the program: licences, documents, completions, manual pages. The program for this machine writes the last two."""
    here = compiled(TARGETS["x86_64-unknown-linux-musl"], flavour, bin_folder)
    names = ["README.md", "ARCHITECTURE.md", "LICENSE-MIT", "LICENSE-APACHE", *output(["git", "ls-files", "docs"]).splitlines()]
    files = {name: linked(name, names) for name in names}
    third = third_party(ROOT / "crates/headlight/Cargo.toml", target.triple, FLAVOURS[flavour], zig_libraries(bin_folder))
    files["LICENSE-THIRD-PARTY"] = third.encode()
    for shell, name in [("bash", "headlight.bash"), ("zsh", "_headlight"), ("fish", "headlight.fish"), ("powershell", "_headlight.ps1"), ("elvish", "headlight.elv")]:
        files[f"completions/{name}"] = written([here, "completions", shell])
    if not target.is_windows:
        files["man/headlight.1"] = written([here, "man"])
        for command in commands(here):
            files[f"man/headlight-{command}.1"] = written([here, "man", command])
    return files


def linked(name: str, names: list[str]) -> bytes:
    """A file of an archive. In a document, a link to a file that is not among these becomes the file's place in the repository."""

    def replaced(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(name), link[2]))
        if place in names:
            return link[0]
        return f"`{place}` (in the repository)" if place.endswith(link[1].strip("`")) else f"{link[1]} (`{place}` in the repository)"

    content = (ROOT / name).read_bytes()
    return LINK.sub(replaced, content.decode()).encode() if name.endswith(".md") else content


def written(command: list) -> bytes:
    return run(command, stdout=subprocess.PIPE).stdout


def commands(program: pathlib.Path) -> list[str]:
    """The commands of a program, from its `--help`."""
    listed = output([program, "--help"]).split("Commands:")[1].split("Options:")[0]
    names = re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)
    return [name for name in names if name != "help"]


def write_tar(path: pathlib.Path, files: dict[str, bytes], program: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), int(date())
            entry.mode = 0o755 if name.endswith(f"/{program}") else 0o644
            archive.addfile(entry, io.BytesIO(content))
    path.write_bytes(gzip.compress(packed.getvalue(), compresslevel=9, mtime=0))


def write_zip(path: pathlib.Path, files: dict[str, bytes], program: str) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(f"/{program}") else 0o644) << 16
            archive.writestr(entry, content, compresslevel=9)


def build_source(out: pathlib.Path, bin_folder: pathlib.Path) -> None:
    run(["maturin", "sdist", "--out", out], env=environment(bin_folder))


BUILDERS = {"source": build_source, "wheel": build_wheel, "archive": build_archive}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="only files whose names contain one of these")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist", help="the folder to write them to (default: dist)")
    parser.add_argument("--check", action="store_true", help="also run each file where this machine can")
    parser.add_argument("--list", action="store_true", help="print the names of the files, and build nothing")
    arguments = parser.parse_args()
    chosen = {name: how for name, how in files().items() if any(text in name for text in arguments.only)}
    if not chosen:
        parser.error(f"no file of a release has one of {', '.join(arguments.only)} in its name; --list prints their names")
    if arguments.list:
        print("\n".join(chosen))
        return
    for path in VERSIONED:
        if not re.search(rf"version.*\b{re.escape(VERSION)}\b", (ROOT / path).read_text(encoding="utf-8")):
            sys.exit(f"{path} has another version than Cargo.toml, {VERSION}; change one of them")
    needs_advzip = any(kind == "wheel" for kind, *_ in chosen.values())
    needs_mingw = any(isinstance(part, Target) and part.linker == "mingw" for how in chosen.values() for part in how)
    for program, is_needed in [("advzip", needs_advzip), ("x86_64-w64-mingw32-gcc", needs_mingw)]:
        if is_needed and not shutil.which(program):
            sys.exit(f"{program} is missing; install the packages of scripts/release/debian-packages.txt")
    arguments.out.mkdir(parents=True, exist_ok=True)
    out = arguments.out.resolve()
    bin_folder = prepare()
    for name, (kind, *what) in chosen.items():
        print(name, flush=True)
        BUILDERS[kind](*what, out, bin_folder)
        if not (out / name).is_file():
            sys.exit(f"no {name} was written; the folder has {', '.join(sorted(path.name for path in out.iterdir()))}")
    built = sorted(path for path in out.iterdir() if path.name in files())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in built]
    (out / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    if arguments.check:
        run([bin_folder / "python", "scripts/release/check.py", out, *chosen])


if __name__ == "__main__":
    main()
