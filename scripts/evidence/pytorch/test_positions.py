"""Models that answer at each position beside PyTorch's: the gradient of each parameter at the start, and 50 losses.

Each task has 96 samples and a model of two blocks. A step of gradient descent at rate 1 gives Headlight's gradients: what it takes from the
weights.
"""

import numpy as np
import pytest
from trainings import Headlight, PyTorch, difference

pytestmark = pytest.mark.usefixtures("float64")

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


def taken(program, config: dict, folder, weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a step of gradient descent at rate 1 takes from the weights."""
    still = {"training.optimizer": "sgd", "training.learning_rate": 1.0, "training.steps": 1}
    kept = {key: value for key, value in config.items() if key != "training.epsilon"}
    folder.mkdir()
    own = Headlight(program, kept | still, folder)
    own.losses()
    return {name: weights[name].astype(np.float64) - after for name, after in own.weights("run").items()}


@pytest.mark.parametrize("rule", TASKS)
def test_losses_and_gradients_are_pytorchs(headlight, tmp_path, rule):
    config = config_of(rule)
    own = Headlight(headlight, config, tmp_path)
    weights, tokens, labels = own.start()
    pytorch = PyTorch(config, False, weights, tokens, labels)
    assert difference(own.losses(), pytorch.losses()) <= LOSS
    found, gradients = taken(headlight, config, tmp_path / "gradients", weights), pytorch.gradients()
    assert len(gradients) == len(weights)
    for name, values in gradients.items():
        assert np.abs(found[name] - values).max() <= GRADIENT * max(np.abs(values).max(), FLOOR), name
