"""Checks docs/config.schema.json with jsonschema, a validator that is not Headlight's.

    python scripts/checks/check_schema.py HEADLIGHT

The schema is valid. It accepts every committed config, and the config.toml of a run. It refuses what the program
refuses: each wrong value below, in the notebook's config. Needs scripts/requirements.txt.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from jsonschema import Draft7Validator

ROOT = Path(__file__).resolve().parents[2]
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


def main() -> None:
    headlight = str(Path(sys.argv[1]).resolve())
    schema = json.loads((ROOT / "docs/config.schema.json").read_text())
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        train = [headlight, "train", "quick", "--quiet", "--set", "training.epochs=1", "--run", run]
        subprocess.run(train, check=True, stdout=subprocess.DEVNULL)
        for path in [*CONFIGS, run / "config.toml"]:
            for error in validator.iter_errors(tomllib.loads(path.read_text())):
                sys.exit(f"{path}: the schema refuses {error.json_path}: {error.message}")
        notebook = (ROOT / "configs/notebook.toml").read_text()
        wrong = Path(folder, "wrong.toml")
        for old, new in WRONG:
            text = notebook.replace(old, new)
            wrong.write_text(text)
            out = Path(folder, "data.csv")
            refused = subprocess.run([headlight, "data", wrong, "--out", out], capture_output=True).returncode == 2
            if text == notebook or not refused or validator.is_valid(tomllib.loads(text)):
                sys.exit(f"the program or the schema takes {new!r} in place of {old!r}")
    print(f"{len(CONFIGS)} configs and a run's fit docs/config.schema.json; {len(WRONG)} wrong ones do not")


if __name__ == "__main__":
    main()
