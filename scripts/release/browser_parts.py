"""What the program gives for the wheel of `browser_wheel.py`: configs, and the page of an experiment as a template."""

import json
import pathlib
import re
import subprocess
import tomllib
from html import escape

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
