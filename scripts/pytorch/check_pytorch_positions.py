"""Compares models that answer at each position with PyTorch's: the gradient of each parameter at the start, and 50 losses.

    python scripts/pytorch/check_pytorch_positions.py --headlight target/release/headlight

For each task Headlight draws 96 samples and the initial weights of a model of two blocks, and trains for 50 steps of all
samples. PyTorch trains the model of `every_model.py` from the same weights, in float64. A step of gradient descent at rate 1
gives Headlight's gradients: what it takes from the weights.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import safetensors.numpy
import torch
from check_pytorch_training import Headlight, PyTorch, difference

STEPS = 50
# In shares of a loss, and of the largest number of a gradient.
LOSS, GRADIENT = 1e-5, 1e-5
# Smaller gradients are compared with this: a step of rate 1 is rounded as the weights are.
FLOOR = 0.01

# A rectifier bends, and turns rounding into steps.
MODEL = {"model.d_model": 32, "model.n_heads": 4, "model.n_layers": 2, "model.d_ff": 128, "model.activation": "gelu"}
SHORT = {"data.vocab_size": 8, "data.seq_len": 7, "model.attention.padding_token": 7}
ENDED = {"data.rule.padding": 7, "data.rule.end": 6}
TASKS = {
    "histogram": SHORT | {"data.rule.padding": 7},
    "double-histogram": SHORT | {"data.rule.padding": 7},
    "ranking": SHORT | {"data.rule.padding": 7},
    "reverse": SHORT | ENDED,
    "sort": SHORT | ENDED,
    "dyck": {"data.vocab_size": 5, "data.seq_len": 15, "data.rule.kinds": 2, "model.attention.mask": "causal"},
    "repeat": {"data.vocab_size": 8, "data.seq_len": 16, "data.rule.period": 5, "model.attention.mask": "causal", "data.cls": "none"},
}


def config_of(rule: str) -> dict:
    """The config of a task."""
    task = "next-token" if rule == "repeat" else "token-classification"
    data = {"data.task": task, "data.generator": "chacha", "data.samples": 96, "data.rule.kind": rule}
    training = {
        "training.steps": STEPS,
        "training.batch_size": 96,
        "training.optimizer": "adamw",
        "training.learning_rate": 1e-3,
        # Adam divides a gradient by its size, even where it is all rounding, as that of the biases of keys.
        "training.epsilon": 1e-4,
    }
    return data | MODEL | TASKS[rule] | training


def taken(program: str, config: dict, folder: pathlib.Path, weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a step of gradient descent at rate 1 takes from the weights."""
    still = {"training.optimizer": "sgd", "training.learning_rate": 1.0, "training.steps": 1}
    kept = {key: value for key, value in config.items() if key != "training.epsilon"}
    folder.mkdir()
    Headlight(program, kept | still, folder).losses()
    after = safetensors.numpy.load_file(folder / "run" / "model.safetensors")
    return {name: weights[name].astype(np.float64) - after[name] for name in weights}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headlight", required=True, help="the binary")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    failed = 0
    print(f"| task | largest difference of {STEPS} losses | of a gradient | first loss | last loss |\n|---|---:|---:|---:|---:|")
    for rule in TASKS:
        config = config_of(rule)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            headlight = Headlight(args.headlight, config, path)
            weights, tokens, labels = headlight.start()
            pytorch = PyTorch(config, False, weights, tokens, labels)
            exact = pytorch.losses()
            losses = difference(headlight.losses(), exact)
            found = taken(args.headlight, config, path / "gradients", weights)
        shares = [np.abs(found[name] - own).max() / max(np.abs(own).max(), FLOOR) for name, own in pytorch.gradients().items()]
        assert len(shares) == len(weights)
        failed += losses > LOSS or max(shares) > GRADIENT
        print(f"| {rule} | {losses:.1e} | {max(shares):.1e} | {exact[0]:.4f} | {exact[-1]:.4f} |", flush=True)
    sys.exit(f"{failed} tasks differ from PyTorch's" if failed else 0)


if __name__ == "__main__":
    main()
