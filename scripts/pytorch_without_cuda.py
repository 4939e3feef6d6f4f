"""Makes PyTorch's Linux wheel import without the 2 GB of CUDA libraries that it depends on.

    pip install --no-deps -r scripts/requirements-torch.txt
    python scripts/pytorch_without_cuda.py

The default wheel for Linux is linked against CUDA, so without these libraries even CPU code does
not load. This puts an empty library in the place of each one that is missing, beside PyTorch's own.
Each names the symbols that PyTorch looks for, in the versions that it asks for; none of them works,
and without a GPU none is called. Needs a C compiler and binutils. A CPU build of PyTorch needs none
of this: use it where you can get one.
"""

import collections
import importlib.util
import pathlib
import re
import subprocess
import sys


def output(*command: object) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def missing_libraries(own: list[pathlib.Path]) -> dict[str, set[str]]:
    """Names of the libraries that the loader does not find, and the versions wanted of each."""
    missing = {
        line.split()[0]: set()
        for library in own
        for line in output("ldd", library).splitlines()
        if line.endswith("not found")
    }
    for library in own:
        # "  required from libcublas.so.13:", then a line for each version, the version last.
        name = None
        for line in output("objdump", "-p", library).splitlines():
            if found := re.match(r"\s+required from (\S+):", line):
                name = found[1]
            elif name in missing and re.match(r"\s+0x", line):
                missing[name].add(line.split()[-1])
            else:
                name = None if not line.startswith(" ") else name
    return missing


def symbols_by_version(own: list[pathlib.Path]) -> dict[str, set[str]]:
    """Undefined symbols; those that ask for no version are under the empty string."""
    symbols = collections.defaultdict(set)
    for library in own:
        for line in output("nm", "-D", "--undefined-only", library).splitlines():
            symbol, _, version = line.split()[-1].partition("@")
            symbols[version].add(symbol)
    return symbols


def main() -> None:
    spec = importlib.util.find_spec("torch")
    if spec is None:
        sys.exit("PyTorch is not installed here")
    folder = pathlib.Path(spec.origin).parent / "lib"
    own = sorted(folder.glob("lib*.so"))
    symbols = symbols_by_version(own)
    for name, versions in sorted(missing_libraries(own).items()):
        stem = re.match(r"lib([a-zA-Z]+?)(_host)?\.", name)[1]  # libnvshmem_host.so.3: nvshmem
        groups = {version: symbols[version] for version in versions}
        if not groups:
            groups = {"": {symbol for symbol in symbols[""] if symbol.startswith(stem)}}
        script = "".join(
            f"{version} {{ global: {' '.join(f'{symbol};' for symbol in sorted(group))} }};\n"
            for version, group in groups.items()
            if group
        )
        code = "".join(f"long {symbol};\n" for symbol in sorted(set().union(*groups.values())))
        versions_file = folder / "versions.tmp"
        versions_file.write_text(script)
        command = ["cc", "-shared", "-fPIC", "-o", folder / name, f"-Wl,-soname,{name}"]
        if versions:
            command.append(f"-Wl,--version-script={versions_file}")
        subprocess.run([*command, "-x", "c", "-"], input=code.encode(), check=True)
        versions_file.unlink()
        print(f"{name}: {code.count(';')} symbols")
    print(output(sys.executable, "-c", "import torch; print('PyTorch', torch.__version__)").strip())


if __name__ == "__main__":
    main()
