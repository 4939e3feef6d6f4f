"""docs/config.schema.json by jsonschema, a validator that is not Headlight's.

It accepts every committed config, and the config.toml of a run. It refuses what the program refuses: each wrong value below, in the
notebook's config.
"""

import json
import tomllib

import pytest
from common import ROOT
from jsonschema import Draft7Validator

SCHEMA = Draft7Validator(json.loads((ROOT / "docs/config.schema.json").read_text()))
CONFIGS = [*ROOT.glob("configs/*.toml"), *ROOT.glob("configs/claims/*.toml"), *ROOT.glob("data/*.toml")]

# Replacements in configs/notebook.toml.
WRONG = [
    ("epochs = 3", "epochs = 0"),
    ("epochs = 3", "epochs = 2.5"),
    ("epochs = 3", "epoch = 3"),
    ("epochs = 3", ""),
    ("beta_1 = 0.9", "beta_1 = 1"),
    ("learning_rate = 1e-3", "learning_rate = 0"),
    ("d_model = 8", "d_model = 4097"),
    ("d_model = 8", "d_model = 8\npositions = 1"),
    ("d_model = 8", "d_model = 8\nattention = { mask = [[2]], scale = \"yes\" }"),
    ("vocab_size = 51", "vocab_size = 1"),
    ("token-at-position", "nowhere"),
    (", position = 3", ""),
    ("position = 3", "position = 3, corpus = \"bank\""),
    ("generator = \"numpy\"", "generator = \"pandas\""),
    ("formats = [\"npz\"", "formats = [\"pickle\""),
]


def test_the_schema_is_valid():
    Draft7Validator.check_schema(SCHEMA.schema)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_committed_config_fits(path):
    SCHEMA.validate(tomllib.loads(path.read_text()))


def test_the_config_of_a_run_fits(headlight):
    SCHEMA.validate(headlight.train("quick", "training.epochs=1").config)


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_what_the_program_refuses_does_not_fit(headlight, old, new):
    notebook = (ROOT / "configs/notebook.toml").read_text()
    text = notebook.replace(old, new)
    assert text != notebook
    wrong = headlight.folder / "wrong.toml"
    wrong.write_text(text)
    headlight("data", wrong, "--out", "wrong.csv", status=2)
    assert not SCHEMA.is_valid(tomllib.loads(text))
