"""A Keras model in Headlight: `hl.Model.from_keras` gives what Keras gives.

    python scripts/python/check_keras_model.py

Needs scripts/requirements.txt, and Headlight's module.
"""

import pathlib
import sys

import keras
import numpy as np

import headlight as hl

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "keras"))
from notebook_keras import build_model  # noqa: E402

# The largest difference of probabilities: the sums of both have other orders.
BOUND = 2e-6
RULE = {"data": {"rule": {"kind": "count", "token": 2}, "samples": 10}, "training": {"epochs": 1}}


def compare(name: str, model: keras.Model, config, length: int, vocab_size: int) -> None:
    rng = np.random.default_rng(7)
    # Keras begins with biases of 0 and a flat norm, which would hide a mistake.
    model.set_weights([rng.normal(size=values.shape) * 0.5 for values in model.get_weights()])
    tokens = rng.integers(1, vocab_size, (200, length + 1))
    tokens[:, 0] = 0
    theirs = np.squeeze(model.predict(tokens, verbose=0))
    out = hl.Model.from_keras(model, config)(tokens)
    difference = np.abs(out.probabilities - theirs).max()
    print(f"{name}: probabilities differ by {difference:.1e} at most, from {theirs.min():.3f} to {theirs.max():.3f}")
    if not difference < BOUND:
        sys.exit(f"{name}: more than {BOUND}")


def refused(name: str, model: keras.Model, config="notebook") -> None:
    try:
        hl.Model.from_keras(model, config)
    except ValueError as error:
        print(f"{name}: {error}")
    else:
        sys.exit(f"{name} was not refused")


def main() -> None:
    compare("the notebook's", build_model(), "notebook", 6, 51)
    large = {"vocab_size": 9, "d_model": 12, "seq_len": 5, "n_heads": 3, "n_layers": 2, "d_ff": 7, "n_classes": 3}
    compare("two blocks, three heads, three classes", build_model(**large), RULE, 5, 9)
    compare("two blocks without feed-forward layers", build_model(**{**large, "d_ff": 0, "n_classes": 2}), RULE, 5, 9)

    layers = keras.layers
    tokens = layers.Input((7,), dtype="int32")
    embedded = layers.Embedding(51, 8)(tokens)
    refused("no attention", keras.Model(tokens, layers.Dense(1)(layers.Flatten()(embedded))))
    attended = layers.MultiHeadAttention(1, 8, use_bias=False)(embedded, embedded)
    refused("no biases", keras.Model(tokens, layers.Dense(1)(layers.LayerNormalization()(embedded + attended)[:, 0])))
    refused("a vocabulary without the rule's token", build_model(vocab_size=9), "notebook")
    attended = layers.MultiHeadAttention(1, 8)(embedded, embedded)
    normed = layers.LayerNormalization(epsilon=1e-6)(embedded + attended)
    refused("a mean over positions", keras.Model(tokens, layers.Dense(1)(layers.GlobalAveragePooling1D()(normed))))
    refused("convolution", keras.Model(tokens, layers.Conv1D(1, 2)(embedded)))


if __name__ == "__main__":
    main()
