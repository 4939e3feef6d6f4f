"""Makes PyTorch's Linux wheel importable without the 2 GB of CUDA libraries that it depends on.

    pip install --no-deps -r scripts/evidence/pytorch/requirements.txt
    python scripts/evidence/pytorch/without_cuda.py

The default wheel for Linux is linked against CUDA, so without these libraries even CPU code does not
load. This script puts an empty library in the place of each missing one, beside PyTorch's own. Each
defines the symbols that PyTorch looks for, in the versions that it asks for. None of them works, and
without a GPU none is called. Needs a C compiler and binutils. A CPU build of PyTorch needs none of this:
use it if you can get one.
"""

import collections
import importlib.util
import pathlib
import subprocess
import sys
import tempfile


def output(*command: object) -> str:
    command = [str(part) for part in command]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def missing_libraries(folder: pathlib.Path) -> list[str]:
    """The libraries that the loader would not find for `import torch`."""
    lines = output("ldd", folder / "libtorch_python.so").splitlines()
    return sorted({line.split()[0] for line in lines if line.endswith("not found")})


def wanted_symbols(own: list[pathlib.Path]) -> dict[str, dict[str, set[str]]]:
    """Undefined symbols by library and version; those without a version are under "" and ""."""
    by_version = collections.defaultdict(set)
    library_of = {"": ""}
    for path in own:
        for line in output("nm", "-D", "--undefined-only", path).splitlines():
            symbol, _, version = line.split()[-1].partition("@")
            by_version[version].add(symbol)
        # "  required from libcublas.so.13:", then a line for each version, the version last.
        for block in output("objdump", "-p", path).split("required from ")[1:]:
            library, *lines = block.splitlines()
            for line in lines:
                if line.startswith("    0x"):
                    library_of[line.split()[-1]] = library.rstrip(":")
    wanted = collections.defaultdict(dict)
    for version, symbols in by_version.items():
        wanted[library_of[version]][version] = symbols
    return wanted


def build(library: pathlib.Path, symbols: dict[str, set[str]]) -> None:
    """A library that only defines these symbols, by version."""
    code = "".join(f"long {symbol};\n" for symbol in set().union(*symbols.values()))
    command = ["cc", "-shared", "-fPIC", "-o", library, f"-Wl,-soname,{library.name}"]
    with tempfile.NamedTemporaryFile("w", suffix=".map") as script:
        if "" not in symbols:
            for version, names in symbols.items():
                script.write(f"{version} {{ global: {'; '.join(names)}; }};\n")
            script.flush()
            command.append(f"-Wl,--version-script={script.name}")
        subprocess.run([*command, "-x", "c", "-"], input=code.encode(), check=True)


def main() -> None:
    spec = importlib.util.find_spec("torch")
    if spec is None:
        sys.exit(f"PyTorch is not installed for {sys.executable}; install it first")
    folder = pathlib.Path(spec.origin).parent / "lib"
    wanted = wanted_symbols(sorted(folder.glob("lib*.so")))
    for name in missing_libraries(folder):
        # Some libraries have no versions; their symbols begin with their name.
        stem = name.removeprefix("lib").split(".")[0].lower()
        unversioned = {symbol for symbol in wanted[""][""] if symbol.lower().startswith(stem)}
        build(folder / name, wanted.get(name, {"": unversioned}))
        print(f"{name}: empty")
    print(output(sys.executable, "-c", "import torch; print('PyTorch', torch.__version__)").strip())


if __name__ == "__main__":
    main()
