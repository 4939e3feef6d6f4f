"""Runs the files of a release where this machine can, and compares the weights of the notebook's run on each with those of the
README's first command.

    scripts/release/check.py FOLDER [FILE...]

It prints a row per file: its name, its size in MB, where it ran. `build.py --check` calls this program with the packages of
requirements-release.txt. It needs Debian's qemu-user-static and wine64.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib

from elftools.elf.elffile import ELFFile
from targets import ROOT, Target, files

TRAIN = "import headlight as hl; print(hl.train('notebook').weights_sha256)"
SWEEP = "import headlight as hl; print(len(hl.sweep('notebook', seeds=range(1000)).table['seed']), 'seeds')"
# The oldest processor that NumPy runs on; it has no AVX.
OLD = ["qemu-x86_64-static", "-cpu", "Nehalem"]
# The kinds of processor in the header of a Mach-O file.
DARWIN = {"x86_64": 0x01000007, "aarch64": 0x0100000C}
# Bytes of the wheel for Linux on x86-64.
LARGEST_WHEEL = 4_600_000


class Failed(Exception):
    """A file of the release does not do what it should."""


def output(command: list, **options) -> str:
    ran = subprocess.run([str(part) for part in command], text=True, capture_output=True, check=False, **options)
    if ran.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with exit code {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout.strip()


def require(holds: bool, sentence: str) -> None:
    if not holds:
        raise Failed(sentence)


@functools.cache
def expected() -> str:
    """The weights of the notebook's run, trained by the program that `cargo build --release` makes."""
    return trained_by([ROOT / "target/release/headlight"])


def trained_by(program: list, **options) -> str:
    """The SHA-256 of the weights that a program trains, in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        output([*program, "train", "--quiet", "--run", "run"], cwd=folder, **options)
        return hashlib.sha256(pathlib.Path(folder, "run/model.safetensors").read_bytes()).hexdigest()


def same(weights: str, where: str) -> str:
    require(weights == expected(), f"{where}: the notebook's weights are {weights}, not {expected()}")
    return where


# Wheels


def check_wheel(path: pathlib.Path, target: Target) -> list[str]:
    bin_folder = pathlib.Path(sys.executable).parent
    if target.triple == "x86_64-unknown-linux-gnu":
        size = path.stat().st_size
        require(size <= LARGEST_WHEEL, f"the wheel has {size} bytes, more than {LARGEST_WHEEL}")
    output([bin_folder / "twine", "check", "--strict", path])
    output([bin_folder / "abi3audit", "--strict", "--summary", path])
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        for licence in ["LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY"]:
            require(any(name.endswith(f".dist-info/licenses/{licence}") for name in names), f"{path.name} has no {licence}")
        module = wheel.read(next(name for name in names if name.endswith((".so", ".pyd"))))
    if target.triple.endswith("linux-gnu"):
        shown = output([bin_folder / "auditwheel", "show", path])
        require(target.wheel[1].split(".")[-1] in shown.replace("\n", " "), f"auditwheel: {shown}")
    if target.triple.endswith("linux-musl"):
        # auditwheel reads such wheels on systems with musl only. The policy is that musl's libc is the one library needed.
        dynamic = ELFFile(io.BytesIO(module)).get_section_by_name(".dynamic")
        needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
        require(needed == ["libc.so"], f"the module needs {', '.join(needed)}, not libc.so alone")
    if target.triple == "x86_64-unknown-linux-gnu":
        return [installed(path), without_avx(path)]
    return [darwin(module, target)] if "darwin" in target.triple else ["not run"]


def installed(path: pathlib.Path) -> str:
    """Installs a wheel in a new environment, trains the notebook, and times the installation and a thousand seeds."""
    with tempfile.TemporaryDirectory() as folder:
        output([sys.executable, "-m", "venv", folder])
        own = pathlib.Path(folder, "bin/python")
        began = time.monotonic()
        output([own, "-m", "pip", "install", "--quiet", path])
        output([own, "-c", SWEEP])
        seconds = time.monotonic() - began
        return same(output([own, "-c", TRAIN]), f"installed and a thousand seeds in {seconds:.1f} s")


def without_avx(path: pathlib.Path) -> str:
    # A kernel of OpenBLAS that the environment chooses may need AVX.
    own = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    with tempfile.TemporaryDirectory() as folder:
        output([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, path])
        program = pathlib.Path(sys.executable).resolve()
        return same(output([*OLD, program, "-c", TRAIN], env={**own, "PYTHONPATH": folder}), "without AVX (qemu)")


def darwin(program: bytes, target: Target) -> str:
    magic, kind = struct.unpack_from("<II", program)
    require(magic == 0xFEEDFACF and kind == DARWIN[target.triple.split("-")[0]], f"the file for {target.triple} is of another kind")
    return "linked, not run"


# Archives of the binary


def check_archive(path: pathlib.Path, target: Target, flavour: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        if target.is_windows:
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
        else:
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
        (top,) = pathlib.Path(folder).iterdir()
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY", "README.md", "docs/reference/python.md", "completions/_headlight", "completions/headlight.bash"]:
            require((top / name).is_file(), f"{path.name} has no {name}")
        require(target.is_windows or (top / "man/headlight-train.1").is_file(), f"{path.name} has no manual page of `headlight train`")
        program = top / target.program
        if "darwin" in target.triple:
            return [darwin(program.read_bytes(), target)]
        if target.is_windows:
            return [same(under_wine(program, pathlib.Path(folder, "wine")), "Wine")]
        check_program(program)
        if target.triple.startswith("aarch64"):
            return [same(trained_by(["qemu-aarch64-static", program]), "qemu")]
        return [same(trained_by([program]), "here"), same(trained_by([*OLD, program]), "without AVX (qemu)")]


def under_wine(program: pathlib.Path, prefix: pathlib.Path) -> str:
    # A library of Windows that Debian's Wine lacks.
    library = [program.parent / "bcryptprimitives.dll", ROOT / "scripts/release/wine/bcryptprimitives.c", "-ladvapi32"]
    output(["x86_64-w64-mingw32-gcc", "-shared", "-o", *library])
    # Debian has it outside of PATH.
    wine = shutil.which("wine64", path=os.pathsep.join([os.environ["PATH"], "/usr/lib/wine"]))
    require(wine is not None, "Wine is missing; install the packages of scripts/release/debian-packages.txt")
    return trained_by([wine, program], env={**os.environ, "WINEPREFIX": str(prefix), "WINEDEBUG": "-all"})


def check_program(program: pathlib.Path) -> None:
    """A program for Linux is static, and lists the packages that it is built from."""
    with program.open("rb") as file:
        elf = ELFFile(file)
        require(not any(segment["p_type"] == "PT_INTERP" for segment in elf.iter_segments()), f"{program.name} is not static")
        section = elf.get_section_by_name(".dep-v0")
        require(section is not None and b'"headlight"' in zlib.decompress(section.data()), f"{program.name} does not list its packages")


# All


def check_source(path: pathlib.Path) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        output([sys.executable, "-m", "venv", folder])
        own = pathlib.Path(folder, "bin/python")
        output([own, "-m", "pip", "install", "--quiet", path])
        return [same(output([own, "-c", TRAIN]), "built from it in a new environment")]


CHECKS = {"source": check_source, "wheel": check_wheel, "archive": check_archive}


def main() -> None:
    folder, everything = pathlib.Path(sys.argv[1]), files()
    failed = False
    for name in sys.argv[2:] or everything:
        kind, *what = everything[name]
        path = folder / name
        try:
            where = "; ".join(CHECKS[kind](path, *what))
        except Failed as error:
            failed, where = True, f"FAILED: {error}"
        print(f"{name}  {path.stat().st_size / 1e6:.2f}  {where}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
