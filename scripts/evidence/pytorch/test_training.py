"""Headlight and PyTorch train every model with every optimizer alike, and compute the same arrays, over random configs.

For each config Headlight draws samples and initial weights, and trains for 20 steps of all samples. PyTorch trains the model of
`every_model.py` from the same weights, with autograd, its own optimizers and `clip_grad_norm_`. Every third config has a model whose
blocks are `nn.TransformerEncoderLayer`. Then both compute the arrays of a dump from the trained weights, moved so that no bias is 0.

The losses of the steps must agree within 1e-5 of the loss, or of 0.1 where it is smaller: a float32 logit z is rounded by up to 6e-8 z, so
a small loss has no more digits. Some trainings amplify any rounding: a rectifier bends, a norm divides by almost nothing, Adam makes a
whole step of a gradient that is all rounding. So PyTorch first trains a second time, with gradients off by the rounding of float32. If
that alone changes a loss by 2e-6, the config is left out: at most a tenth of them.

With weights, PyTorch's losses, of `reduction="none"`, are multiplied before their mean.

With dropout, PyTorch gets the masks from `chacha.py`: in place of those of its own layers, too, whose places are the preset's.
"""

import numpy as np
import pytest
import torch
from every_model import Classifier
from random_configs import SWITCHES, Draw, shown
from trainings import Headlight, PyTorch, difference

pytestmark = pytest.mark.usefixtures("float64")

TOLERANCE = 1e-5
# Absolute, and relative to the largest number of an array where that is above 1. Steep models amplify the rounding of float32 itself:
# 8 of 1,644 arrays are off by 1.0e-6 to 2.5e-6, and each of them by at most twice what PyTorch's own float32 is off.
ARRAYS, OF_FLOAT32 = 1e-6, 3
# Rounding of float32, in shares of the largest number of a gradient: 2 ^ -23.
NOISE = 1.2e-7
CONFIGS = 168
LEAST_CONFIGS = 160
DROPOUT_CONFIGS = 66
WEIGHT_CONFIGS = 66
# Each value of a key must occur in so many configs of a hundred.
LEAST = 4

compared: list[dict] = []
steep: list[int] = []
steep_with_dropout: list[int] = []
steep_with_weights: list[int] = []


@pytest.mark.parametrize("number", range(CONFIGS))
def test_losses_and_arrays_are_pytorchs(headlight, tmp_path, number):
    generator, uses_layers = np.random.default_rng([1, number]), number % 3 == 0
    config = Draw(generator, uses_layers).all()
    own = Headlight(headlight, config, tmp_path)
    weights, tokens, labels = own.start()
    pytorch = PyTorch(config, uses_layers, weights, tokens, labels)
    exact = pytorch.losses()
    if difference(pytorch.losses(NOISE), exact) > TOLERANCE / 5:
        steep.append(number)
        return
    compared.append(config)
    assert difference(own.losses(), exact) <= TOLERANCE, config

    moved = {name: move(values, generator) for name, values in own.weights("run").items()}
    dump = own.dump(moved, tokens)
    expected = Classifier(config, moved, uses_layers).arrays(torch.from_numpy(tokens))
    torch.set_default_dtype(torch.float32)
    rounded = Classifier(config, moved, uses_layers).arrays(torch.from_numpy(tokens))
    assert np.array_equal(dump["tokens"], tokens)
    for name, values in expected.items():
        assert dump[name].shape == values.shape, (name, dump[name].shape, values.shape)
        size = max(1.0, np.abs(values).max())
        bound = max(ARRAYS * size, OF_FLOAT32 * np.abs(rounded[name] - values).max())
        assert np.abs(dump[name] - values).max() <= bound, (name, config)


@pytest.mark.parametrize("number", range(DROPOUT_CONFIGS))
def test_losses_with_dropout_are_pytorchs(headlight, tmp_path, number):
    draw = Draw(np.random.default_rng([2, number]), uses_layers=number % 3 == 0)
    config = draw.all()
    draw.dropout()
    own = Headlight(headlight, config, tmp_path)
    pytorch = PyTorch(config, draw.uses_layers, *own.start())
    exact = pytorch.losses()
    if difference(pytorch.losses(NOISE), exact) > TOLERANCE / 5:
        steep_with_dropout.append(number)
        return
    assert difference(own.losses(), exact) <= TOLERANCE, config


def test_enough_had_dropout():
    assert DROPOUT_CONFIGS - len(steep_with_dropout) >= 60


@pytest.mark.parametrize("number", range(WEIGHT_CONFIGS))
def test_losses_with_weights_are_pytorchs(headlight, tmp_path, number):
    generator = np.random.default_rng([3, number])
    draw = Draw(generator, uses_layers=number % 3 == 0)
    config = draw.all()
    draw.class_weights()
    own = Headlight(headlight, config, tmp_path)
    pytorch = PyTorch(config, draw.uses_layers, *own.start())
    of_samples = np.ones(len(pytorch.tokens))
    # In the samples of a file, padding follows the other tokens.
    if "model.attention.padding_token" not in config:
        of_samples = generator.exponential(size=len(of_samples))
        own.weigh(config, of_samples)
    pytorch.weigh(of_samples)
    exact = pytorch.losses()
    if difference(pytorch.losses(NOISE), exact) > TOLERANCE / 5:
        steep_with_weights.append(number)
        return
    assert difference(own.losses(), exact) <= TOLERANCE, config


def test_enough_had_weights():
    assert WEIGHT_CONFIGS - len(steep_with_weights) >= 60


def move(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Values off by some random numbers, smaller ones for matrices, so that sums and scores keep their size."""
    size = 0.2 if values.ndim == 1 else 0.2 / np.sqrt(len(values))
    return (values + size * generator.standard_normal(values.shape)).astype(np.float32)


def test_enough_was_compared():
    assert len(compared) >= LEAST_CONFIGS
    assert len(steep) <= (len(compared) + len(steep)) / 10
    counts = {key: dict.fromkeys(values, 0) for key, values in SWITCHES.items()}
    for config in compared:
        for key, values in counts.items():
            values[shown(key, config)] += 1
    rare = [f"{key} = {value}" for key, values in counts.items() for value, count in values.items() if 100 * count < LEAST * len(compared)]
    assert not rare
