"""The shapes that are timed: a config each, with changes, and how many steps Headlight takes."""

import pathlib
from dataclasses import dataclass, field

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
CONFIGS = ROOT / "configs"
# Where an evaluation takes long beside the steps: at the first step and, as always, at the last.
EVALUATE_LITTLE = {"training.evaluate_at": [1]}


@dataclass
class Shape:
    config: pathlib.Path
    steps: int  # of the fused engine's long training, which takes one to three seconds
    burn_steps: int  # of Burn's
    changes: dict[str, object] = field(default_factory=dict)
    has_epochs: bool = True  # not if each step draws its own samples


def equal_positions(steps: int, burn_steps: int, **changes: object) -> Shape:
    keys = {
        "samples": "data.samples",
        "seq_len": "data.seq_len",
        "d_model": "model.d_model",
        "n_layers": "model.n_layers",
        "d_ff": "model.d_ff",
    }
    return Shape(CONFIGS / "equal_positions.toml", steps, burn_steps, {keys[key]: value for key, value in changes.items()})


def names(width: int, steps: int, burn_steps: int) -> Shape:
    """microgpt's model (Karpathy 2026)."""
    changes = {"model.d_model": width, "model.d_ff": 4 * width} | EVALUATE_LITTLE
    return Shape(CONFIGS / "names.toml", steps, burn_steps, changes)


SHAPES = {
    "the notebook": Shape(CONFIGS / "notebook.toml", 500_000, 10_000),
    "equal_positions": equal_positions(80_000, 2_000),
    "d_ff 64": equal_positions(40_000, 2_000, d_ff=64),
    "d_model 64, four blocks": equal_positions(5_000, 500, d_model=64, n_layers=4),
    "64 positions": equal_positions(5_000, 500, seq_len=63),
    "256 positions": equal_positions(1_000, 100, seq_len=255, samples=800),
    # Fresh samples need one that is held out.
    "max of four": Shape(FOLDER / "max_of_four.toml", 20_000, 1_000, {"data.held_out": 1}, has_epochs=False),
    "balanced brackets": Shape(FOLDER / "brackets.toml", 500, 100),
    "a + b mod 59": Shape(CONFIGS / "grokking.toml", 300, 20, {"training.evaluations_per_decade": 0} | EVALUATE_LITTLE),
    "names, width 16": names(16, 20_000, 3_000),
    "names, width 32": names(32, 8_000, 3_000),
    "names, width 64": names(64, 4_000, 2_000),
}


def operations(config: dict, tokens: np.ndarray) -> float:
    """Multiplications and additions of the matrix products of a step; `tokens`, `[sample, position]`, are those of training.

    They are those of the forward pass, as the fused engine needs them, three times. Neither padding nor keys that a mask
    hides count. Where one position is read, the last block has one query, and either keys and values or, if that is
    less, the products of its query with the matrices of keys and values.
    """
    get = lambda key, default: config.get(f"model.{key}", default)
    width, heads, hidden = get("d_model", None), get("n_heads", 1), get("d_ff", 0)
    inner = heads * get("d_head", width // heads)
    is_key = tokens != config.get("model.attention.padding_token", -1)
    positions = is_key.sum(1).mean()
    if get("attention.mask", "none") == "causal":
        pairs = np.where(is_key, is_key.cumsum(1), 0).sum(1).mean()
    else:
        pairs = (is_key.sum(1) ** 2).mean()
    feed_forward = 2 * width * hidden
    whole = positions * (4 * width * inner + feed_forward) + 2 * pairs * inner
    is_read = config.get("data.task", "classification") == "classification"
    classes = config.get("data.n_classes", 2)
    outputs = 1 if classes == 2 and get("logits", "log-odds") == "log-odds" else classes
    if is_read:
        with_keys = 2 * width * inner + 2 * positions * inner * (width + 1)
        without_keys = 4 * width * inner + 2 * heads * positions * width
        last, classifier = min(with_keys, without_keys) + feed_forward, width * outputs
    else:
        last, classifier = whole, positions * width * outputs
    forward = (get("n_layers", 1) - 1) * whole + last + classifier
    return 2.0 * 3.0 * config["training.batch_size"] * forward
