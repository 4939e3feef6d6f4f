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
import re
import subprocess
import tempfile
import time
import tomllib
import zipfile
from html import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = ROOT / "crates/python/pyproject.toml"
CRATE = ROOT / "crates/python"
SHARED = ["_callbacks.py", "_changes.py", "_frames.py", "_page.py", "_plan.py", "_progress.py", "_rows.py", "_values.py", "keys.py", "py.typed"]
"""Files of the native module that need neither NumPy nor the native code."""
ENGINES = ["lab.wasm.lzma", "lab_words.wasm.lzma"]
"""The modules of `crates/lab`. Deflated, they would be a third larger; and the page holds them as they are."""
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
THIRD_PARTY = "LICENSE-THIRD-PARTY"

# Each key that has a usual value is left out.
SMALLEST = {
    "data": {"samples": 50, "vocab_size": 9, "seq_len": 3, "rule": '{ kind = "token-anywhere", token = 3 }'},
    "model": {"d_model": 4},
    "training": {"epochs": 1},
}
# The optimizer and the samples decide these.
DECIDED = {"training": ["epsilon", "token_second_moment"], "data": ["generator"], "model": [], "dump": [], "checkpoint": [], "compute": []}


class Program:
    """The binary, run in a folder of its own."""

    def __init__(self, path, folder):
        self.path, self.folder = pathlib.Path(path).resolve(), pathlib.Path(folder)

    def run(self, *arguments):
        return subprocess.run([self.path, *arguments], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def page(self, config):
        self.run("lab", config, "--quiet", "--force", "--html", "page.html")
        return (self.folder / "page.html").read_text(encoding="utf-8")

    def configs(self):
        """The built-in configs, and the names of those that repeat recorded runs."""
        found, left_out = {}, []
        for line in self.run("init", "--list").splitlines():
            name = line.split()[0]
            self.run("init", name, "--quiet", "--force", "--out", "config.toml")
            config = tomllib.loads((self.folder / "config.toml").read_text(encoding="utf-8"))
            if "reference" in config:
                left_out.append(name)
            else:
                found[name] = config
        return found, left_out


def facts(page):
    return re.search(r'(?s)<script type="application/json" id="facts">(.*?)</script>', page)[1]


def known(program):
    """What `_config.py` knows of configs."""
    configs, left_out = program.configs()
    text = "".join(
        f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items()) for section, values in SMALLEST.items()
    )
    (program.folder / "smallest.toml").write_text(text, encoding="utf-8")
    resolved = json.loads(facts(program.page("smallest.toml")))["lab"]["config"]
    usual = {
        section: {key: value for key, value in resolved[section].items() if key not in {*SMALLEST.get(section, {}), *decided}}
        for section, decided in DECIDED.items()
    }
    corpora = {}
    for name, config in configs.items():
        corpus = config.get("data", {}).get("rule", {}).get("corpus")
        if corpus is not None:
            data = json.loads(facts(program.page(name)))["lab"]["config"]["data"]
            corpora[corpus] = {key: data[key] for key in ("classes", "words")}
    return {"configs": configs, "usual": usual, "corpora": corpora, "left_out": left_out}


def template(program):
    """The page of an experiment without its config and its engine: `_template.py` puts them in between the zeros."""
    page = program.page("notebook")
    text = facts(page)
    question = escape(json.loads(text)["question"])
    page = page.replace(text, "\0facts\0").replace(question, "\0question\0").replace("Headlight lab: notebook", "\0title\0")
    page, engines = re.subn(r'<script type="text/plain" id="lab"[^<]*</script>', "\0lab\0", page)
    assert engines == 1 and page.count("\0title\0") >= 2, "the page of `headlight lab` has other parts than before"
    return {"facts": text, "page": page}


def metadata(project, version, licences):
    readme = (PROJECT.parent / project["readme"]).read_text(encoding="utf-8")
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
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
    parser.add_argument("--out", default=ROOT / "dist", type=pathlib.Path, help="the folder of the wheel")
    arguments = parser.parse_args()
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    version = tomllib.loads((CRATE / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments.program, folder)
        made = {"configs.json": known(program), "page.json": template(program)}
    package = {path.name: path.read_bytes() for path in (CRATE / "browser").glob("*.py")}
    package |= {name: (CRATE / "python/headlight" / name).read_bytes() for name in SHARED}
    package |= {name: json.dumps(value, sort_keys=True, ensure_ascii=False).encode() for name, value in made.items()}
    package |= {name: (ROOT / "crates/lab" / name).read_bytes() for name in ENGINES}
    name = f"{project['name'].replace('-', '_')}-{version}"
    info = f"{name}.dist-info"
    files = {f"headlight/{file}": content for file, content in package.items()}
    licences = {file: ROOT / file for file in LICENCES}
    if arguments.third_party:
        licences[THIRD_PARTY] = arguments.third_party
    files |= {f"{info}/licenses/{file}": path.read_bytes() for file, path in licences.items()}
    files[f"{info}/METADATA"] = metadata(project, version, licences).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: browser_wheel.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{info}/RECORD"
    files[record] = "".join([*(entry(*file) for file in sorted(files.items())), f"{record},,\n"]).encode()
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{name}-py3-none-any.whl"
    # The record is last, as wheels have it.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for file in [*sorted(files.keys() - {record}), record]:
            about = zipfile.ZipInfo(file, date)
            about.external_attr, about.create_system, about.compress_type = 0o644 << 16, 3, zipfile.ZIP_DEFLATED
            wheel.writestr(about, files[file], compresslevel=9)
    print(f"{path}: {path.stat().st_size:,} bytes, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
