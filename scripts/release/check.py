"""Runs the files of a release where this machine can, and compares the weights of the notebook's run on each with those of the
README's first command.

    scripts/release/check.py FOLDER [FILE...]

It prints a row per file. A check of all files writes them to artefacts.md beside these files, too. `build.py --check` calls this program
with the packages of requirements-release.txt. It needs Debian's qemu-user-static, wine64 and binutils-mingw-w64-x86-64.
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
from systems import arm_python
from targets import ROOT, TARGETS, Target, files

TRAIN = "import headlight as hl; print(hl.train('notebook').weights_sha256)"
SWEEP = "import headlight as hl; print(len(hl.sweep('notebook', seeds=range(1000)).table['seed']), 'seeds')"
# The oldest processor that NumPy runs on; it has no AVX.
OLD = ["qemu-x86_64-static", "-cpu", "Nehalem"]
# What an extension module for Windows may import: Python's stable interface, and what every Windows has.
WINDOWS = ("python3.dll", "kernel32.dll", "ntdll.dll", "msvcrt.dll", "advapi32.dll", "bcrypt.dll", "bcryptprimitives.dll", "userenv.dll", "ws2_32.dll", "ole32.dll", "shell32.dll", "api-ms-win-")
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


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@functools.cache
def expected() -> str:
    """The weights of the notebook's run, trained by the program that `cargo build --release` makes."""
    return trained_by([ROOT / "target/release/headlight"])


def trained_by(program: list, **options) -> str:
    """The SHA-256 of the weights that a program trains, in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        output([*program, "train", "--quiet", "--run", "run"], cwd=folder, **options)
        return sha256(pathlib.Path(folder, "run/model.safetensors").read_bytes())


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
    match target.triple:
        case "x86_64-unknown-linux-gnu":
            return [*(installed(path, python) for python in pythons()), without_avx(path)]
        case "aarch64-unknown-linux-gnu":
            return [unpacked(path, arm_python(), "cp311", "manylinux_2_28_aarch64", "qemu, Python 3.11")]
        case "x86_64-pc-windows-gnu":
            return [windows_module(module)]
        case triple if "darwin" in triple:
            return [darwin(module, target)]
    return ["not run; needs musl's libc.so alone"]


def pythons() -> list[str]:
    """The Pythons of this machine that a wheel supports, those of pyenv included."""
    folders = [pathlib.Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += sorted(pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")).glob("versions/3.*/bin"))
    found: dict[str, str] = {}
    for program in (folder / f"python3.{minor}" for minor in range(10, 20) for folder in folders):
        if program.name not in found and program.is_file():
            # A program of pyenv's PATH may stand for a version that is not chosen.
            if subprocess.run([program, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
                found[program.name] = str(program)
    return list(found.values())


def installed(path: pathlib.Path, python: str) -> str:
    """Installs a wheel in a new environment, trains the notebook, and times the installation and a thousand seeds."""
    with tempfile.TemporaryDirectory() as folder:
        output([python, "-m", "venv", folder])
        own = pathlib.Path(folder, "bin/python")
        began = time.monotonic()
        output([own, "-m", "pip", "install", "--quiet", path])
        output([own, "-c", SWEEP])
        seconds = time.monotonic() - began
        return same(output([own, "-c", TRAIN]), f"{pathlib.Path(python).name}: installed and a thousand seeds in {seconds:.1f} s")


def without_avx(path: pathlib.Path) -> str:
    # A kernel of OpenBLAS that the environment chooses may need AVX.
    own = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    with tempfile.TemporaryDirectory() as folder:
        output([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, path])
        program = pathlib.Path(sys.executable).resolve()
        return same(output([*OLD, program, "-c", TRAIN], env={**own, "PYTHONPATH": folder}), "without AVX (qemu)")


def unpacked(path: pathlib.Path, python: list, abi: str, platform: str, where: str) -> str:
    """Runs a wheel by a Python of another system, beside NumPy's wheel for that system."""
    with tempfile.TemporaryDirectory() as folder:
        version = f"{abi[2]}.{abi[3:]}"
        output([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "--platform", platform, "--python-version", version, "--only-binary", ":all:", "numpy"])
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(folder)
        return same(output([*python, "-c", TRAIN], env={**os.environ, "PYTHONPATH": folder}), where)


def windows_module(module: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".pyd") as file:
        file.write(module)
        file.flush()
        shown = output(["x86_64-w64-mingw32-objdump", "--private-headers", file.name])
    imports = sorted({line.split(":")[1].strip().lower() for line in shown.splitlines() if line.strip().startswith("DLL Name:")})
    foreign = [name for name in imports if not name.startswith(WINDOWS)]
    require(not foreign, f"the module for Windows imports {', '.join(foreign)}")
    require("python3.dll" in imports and "PyInit__headlight" in shown, "the module for Windows does not export PyInit__headlight")
    return f"not run; exports PyInit__headlight, imports {len(imports)} libraries of Windows and python3.dll"


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


def built_again(folder: pathlib.Path) -> list[str]:
    """Builds the wheel and the program for Linux on x86-64 again, from a clone in another folder, and compares the bytes. Returns their names."""
    target = TARGETS["x86_64-unknown-linux-gnu"].wheel_name(), TARGETS["x86_64-unknown-linux-musl"].archive_name("headlight")
    with tempfile.TemporaryDirectory() as other:
        clone = pathlib.Path(other, "a clone of another name")
        output(["git", "clone", "--quiet", ROOT, clone])
        output([sys.executable, clone / "scripts/release/build.py", "--only", *target, "--out", clone / "dist"])
        for name in target:
            require((clone / "dist" / name).read_bytes() == (folder / name).read_bytes(), f"{name} has other bytes when it is built in another folder")
    return list(target)


def main() -> None:
    folder, everything = pathlib.Path(sys.argv[1]), files()
    chosen = sys.argv[2:] or list(everything)
    is_whole = set(chosen) == set(everything)
    if is_whole and output(["git", "status", "--porcelain", "--untracked-files=no"], cwd=ROOT):
        sys.exit("tracked files differ from the commit; commit them first: a release is built from a commit")
    rows, failed = [], False
    for name in chosen:
        kind, *what = everything[name]
        path = folder / name
        try:
            where = CHECKS[kind](path, *what)
        except Failed as error:
            failed = True
            where = [f"FAILED: {error}"]
        rows.append(f"| `{name}` | {path.stat().st_size / 1e6:.2f} | {'; '.join(where)} | `{sha256(path.read_bytes())[:16]}` |")
        print(rows[-1], flush=True)
    if failed:
        sys.exit(1)
    if is_whole:
        try:
            record(folder, rows, built_again(folder))
        except Failed as error:
            sys.exit(str(error))


def record(folder: pathlib.Path, rows: list[str], again: list[str]) -> None:
    commit = output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT)
    text = [
        "# The files of a release, and where they ran",
        "",
        f"`scripts/release/build.py --check` wrote this table at commit {commit}. Every file that ran trained the notebook, and its weights have the",
        f"SHA-256 `{expected()}`, as those of the README's first command.",
        f"{' and '.join(f'`{name}`' for name in again)} were built a second time, in another folder: the bytes are the same.",
        "",
        "| file | MB | where it ran | its SHA-256 |",
        "|---|---|---|---|",
        *rows,
        "",
    ]
    (folder / "artefacts.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
