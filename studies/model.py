"""A trained model in NumPy, in float64, for what one study alone measures; and the random numbers of these measures.

    python -m studies.brackets.measures target/release/headlight small small.jsonl small.csv    # of rows that have weights beside them
"""

import functools
import itertools
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import tomllib

import numpy as np
import pandas as pd
from safetensors.numpy import load_file

from studies import common as c


class Model:
    """The forward pass of a batch: one vector per position, read at one position."""

    def __init__(self, config: dict, parameters: dict[str, np.ndarray]) -> None:
        model = config["model"]
        self.parameters = {name: values.astype(np.float64) for name, values in parameters.items()}
        self.heads, self.layers = model.get("n_heads", 1), model.get("n_layers", 1)
        self.norm_place, self.epsilon = model.get("norm", "post"), model.get("layer_norm_eps", 1e-6)
        attention = model.get("attention", {})
        self.rate, self.padding = attention.get("rate", 1.0), attention.get("padding_token")
        self.read = -1 if config["data"].get("cls") == "none" else 0

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        """A linear map, with a bias if it has one."""
        return x @ self.parameters[f"{name}.weight"] + self.parameters.get(f"{name}.bias", 0.0)

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        """Layer normalisation."""
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + self.epsilon)
        return scaled * self.parameters[f"{name}.gamma"] + self.parameters[f"{name}.beta"]

    def around(self, name: str, x: np.ndarray, layer) -> np.ndarray:
        """A layer with its residual connection, and a norm before or after it."""
        if self.norm_place == "pre":
            return x + layer(self.norm(name, x))
        return self.norm(name, x + layer(x)) if self.norm_place == "post" else x + layer(x)

    def forward(self, tokens: np.ndarray, moved: np.ndarray | float = 0.0, left_out: tuple = (), replaced: tuple | None = None) -> np.ndarray:
        """Logits. `moved` is added to the embeddings; `left_out` are positions that nothing attends to; `replaced` is a layer, a head and
        its contexts at the position that is read. Keeps the contexts there, `[layer][sample, head, d_head]`."""
        hidden = tokens == (-1 if self.padding is None else self.padding)
        hidden[:, list(left_out)] = True
        self.contexts = []

        def attention(layer: int, x: np.ndarray) -> np.ndarray:
            name = f"blocks.{layer}.attention"
            heads = (*x.shape[:2], self.heads, -1)
            query, key, value = (self.linear(f"{name}.{part}", x).reshape(heads).swapaxes(1, 2) for part in ("query", "key", "value"))
            scores = query @ key.swapaxes(2, 3) / np.sqrt(query.shape[-1])
            scores = np.where(hidden[:, None, None], -np.inf, scores)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            weights = self.rate * weights + (1 - self.rate) * ~hidden[:, None, None]
            contexts = weights @ value
            if replaced is not None and replaced[0] == layer:
                contexts[:, replaced[1], self.read] = replaced[2]
            self.contexts.append(contexts[:, :, self.read].copy())
            return self.linear(f"{name}.output", contexts.swapaxes(1, 2).reshape(x.shape[0], x.shape[1], -1))

        x = self.parameters["token_embedding"][tokens] + moved + self.parameters["position_embedding"][: tokens.shape[1]]
        for layer in range(self.layers):
            name = f"blocks.{layer}"
            x = self.around(f"{name}.norm", x, lambda own, layer=layer: attention(layer, own))
            if f"{name}.feed_forward.hidden.weight" in self.parameters:
                part = f"{name}.feed_forward"
                x = self.around(
                    f"{part}.norm", x, lambda own, part=part: self.linear(f"{part}.output", np.maximum(self.linear(f"{part}.hidden", own), 0))
                )
        x = x[:, self.read]
        return self.linear("classifier", self.norm("final_norm", x) if "final_norm.gamma" in self.parameters else x)

    def log_odds(self, *arguments, **changes) -> np.ndarray:
        """The log-odds of class 1."""
        logits = self.forward(*arguments, **changes)
        return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


def random_words(seed: int):
    """The 32-bit words of ChaCha8 with a seed, of the stream of measures."""
    key = struct.unpack("<8I", struct.pack("<Q", seed) + bytes(24))
    for counter in itertools.count():
        start = [*struct.unpack("<4I", b"expand 32-byte k"), *key, *struct.unpack("<4I", struct.pack("<2Q", counter, 8))]
        x = list(start)
        for turn in range(8):
            for i in range(4):
                places = [4 * part + (i + part * (turn % 2)) % 4 for part in range(4)]
                for (first, second, third), bits in zip([(0, 1, 3), (2, 3, 1)] * 2, (16, 12, 8, 7), strict=True):
                    first, second, third = places[first], places[second], places[third]
                    x[first] = (x[first] + x[second]) & 0xFFFFFFFF
                    mixed = x[third] ^ x[first]
                    x[third] = ((mixed << bits) | (mixed >> (32 - bits))) & 0xFFFFFFFF
        yield from ((a + b) & 0xFFFFFFFF for a, b in zip(x, start, strict=True))


def below(n: int, words) -> int:
    """A random number below n, by masked rejection."""
    mask = (1 << (n - 1).bit_length()) - 1
    return 0 if n == 1 else next(word & mask for word in words if word & mask < n)


def measure(page: str, of_model, keep: tuple[str, ...] = ()) -> None:
    """Writes the measures of a part's rows as CSV: of each run, `of_model(config, model, held_out)`, and some numbers of its row."""
    headlight, part, rows, out = sys.argv[1:]
    home, rows = pathlib.Path(page).parent, pathlib.Path(rows)
    plan = tomllib.loads((home / "plan.toml").read_text(encoding="utf-8"))
    plan = next(own for own in plan["part"] if own["name"] == part)
    found = []
    table = c.read_rows(rows)
    kept = {name: c.numbers(table, name) for name in keep}
    for run, row in table.iterrows():
        values = {key: row[key] for key in row.index if "." in key}
        changes = [*plan.get("set", []), *(f"{key}={value}" for key, value in values.items())]
        config, held_out = experiment(headlight, home / plan["config"], tuple(changes))
        point = "" if "point" not in row.index else f"-{row['point']}"
        # All shards share a folder.
        folder = rows.with_name(re.sub(r"-\d+-of-\d+$", "", rows.stem) + ".weights")
        parameters = load_file(folder / f"{row['seed']}{point}.safetensors")
        last = {name.removeprefix("last/"): value for name, value in parameters.items() if name.startswith("last/")}
        measures = of_model(config, Model(config, last), held_out)
        found.append({"seed": row["seed"], **values, **{name: numbers[run] for name, numbers in kept.items()}, **measures})
    pd.DataFrame(found).to_csv(out, index=False, float_format="%.9g")


@functools.lru_cache(maxsize=1)
def experiment(headlight: str, config: pathlib.Path, changes: tuple[str, ...]) -> tuple[dict, np.ndarray]:
    """A config with its changes, and its held-out samples."""
    parsed = tomllib.loads(config.read_text(encoding="utf-8"))
    for change in changes:
        key, value = change.split("=", 1)
        section = parsed
        for name in key.split(".")[:-1]:
            section = section.setdefault(name, {})
        section[key.split(".")[-1]] = tomllib.loads(f"value = {value.lower() if value in ('True', 'False') else value}")["value"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "samples.npz"
        if parsed["data"].get("samples") == "fresh":
            # `headlight data` writes no such dataset. Held-out samples are drawn apart from others.
            changes = (*changes, "data.samples=1", "data.exclude_held_out=true")
        changed = [part for change in changes for part in ("--set", change)]
        subprocess.run([headlight, "--quiet", "data", config, *changed, "--out", path], check=True, stdout=subprocess.DEVNULL)
        with np.load(path) as data:
            return parsed, data["held_out_tokens"]
