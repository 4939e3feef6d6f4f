"""Assembles the wheel for Pyodide, Python in the browser: `crates/python/browser`, what it shares with the native module, and the engine.

    python3 scripts/release/browser_wheel.py [--program target/release/headlight] [--out FOLDER]

The program gives the built-in configs, the usual values of keys and the template of the page. The same inputs give the same bytes; files
in the wheel have the date SOURCE_DATE_EPOCH, or 1980-01-01.
"""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import tempfile
import time
import tomllib
import zipfile

from browser_parts import Program, known, template
from targets import BROWSER, ROOT, VERSION

PROJECT = ROOT / "pyproject.toml"
CRATE = ROOT / "crates/python"
SHARED = ["_callbacks.py", "_changes.py", "_frames.py", "_page.py", "_plan.py", "_progress.py", "_rows.py", "_values.py", "keys.py", "py.typed"]
"""Files of the native module that need neither NumPy nor the native code."""
ENGINES = ["lab.wasm.lzma", "lab_words.wasm.lzma"]
"""The modules of `crates/lab`. Deflated, they would be a third larger; and the page holds them as they are."""
UNPACKER = ROOT / "crates/inspector/page/src/engine/lzma.js"
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
THIRD_PARTY = "LICENSE-THIRD-PARTY"


def metadata(project, licences):
    readme = (PROJECT.parent / project["readme"]).read_text(encoding="utf-8")
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {VERSION}",
        f"Summary: {project['description']}",
        *(f"Author: {author['name']}" for author in project.get("authors", [])),
        *(f"Keywords: {','.join(project[key])}" for key in project if key == "keywords"),
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in licences),
        *(f"Classifier: {name}" for name in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        # Installers may take the metadata of one wheel for those of all.
        *(f'Requires-Dist: {name} ; sys_platform != "emscripten"' for name in project["dependencies"]),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + readme


def entry(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default=ROOT / "target/release/headlight", help="the binary")
    parser.add_argument("--third-party", type=pathlib.Path, help="a file with the licences of what the engine and the page are compiled from")
    parser.add_argument("--out", default=ROOT / "target/wheels", type=pathlib.Path, help="the folder of the wheel")
    arguments = parser.parse_args()
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments.program, folder)
        made = {"configs.json": known(program), "page.json": template(program)}
    package = {path.name: path.read_bytes() for path in (CRATE / "browser").glob("*.py")}
    package |= {name: (CRATE / "python/headlight" / name).read_bytes() for name in SHARED}
    package |= {name: json.dumps(value, sort_keys=True, ensure_ascii=False).encode() for name, value in made.items()}
    package |= {name: (ROOT / "crates/lab" / name).read_bytes() for name in ENGINES}
    package[UNPACKER.name] = UNPACKER.read_bytes()
    info = f"{BROWSER.partition('-py3')[0]}.dist-info"
    files = {f"headlight/{file}": content for file, content in package.items()}
    licences = {file: ROOT / file for file in LICENCES}
    if arguments.third_party:
        licences[THIRD_PARTY] = arguments.third_party
    files |= {f"{info}/licenses/{file}": path.read_bytes() for file, path in licences.items()}
    files[f"{info}/METADATA"] = metadata(project, licences).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: browser_wheel.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{info}/RECORD"
    files[record] = "".join([*(entry(*file) for file in sorted(files.items())), f"{record},,\n"]).encode()
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / BROWSER
    # The record is last, as wheels have it.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for file in [*sorted(files.keys() - {record}), record]:
            about = zipfile.ZipInfo(file, date)
            about.external_attr, about.create_system, about.compress_type = 0o644 << 16, 3, zipfile.ZIP_DEFLATED
            wheel.writestr(about, files[file], compresslevel=9)
    print(f"{path}: {path.stat().st_size:,} bytes, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
