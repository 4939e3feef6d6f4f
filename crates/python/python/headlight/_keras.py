"""Models of Keras: their sizes and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The largest difference of results: both add float32 numbers, each in another order.
TOLERANCE = 1e-3

ORDER = (
    "the layers are, in this order: an Embedding of tokens, one of positions (which may be missing), for each block a "
    "MultiHeadAttention, a LayerNormalization and perhaps two Dense and another LayerNormalization, and a Dense at the end"
)


def read(model: Any) -> tuple[dict[str, dict[str, Any]], list[tuple[str, NDArray[np.float32]]]]:
    """The sizes of a Keras model as sections of a config, and its weights by Headlight's names.

    Raises:
        ValueError: It has other layers than Headlight's models.
    """
    from keras import layers

    kinds = (layers.Embedding, layers.MultiHeadAttention, layers.LayerNormalization, layers.Dense)
    own = list(_leaves(model, kinds))
    weights: dict[str, NDArray[np.float32]] = {}

    def take(kind: type, name: str, parts: tuple[str, ...]) -> Any:
        if not own or not isinstance(own[0], kind):
            found = f"has {type(own[0]).__name__} `{own[0].name}`" if own else "ends"
            raise ValueError(f"this Keras model {found} where {kind.__name__} for `{name}` is expected; {ORDER}")
        layer = own.pop(0)
        values = layer.get_weights()
        if len(values) != len(parts):
            raise ValueError(f"the Keras layer `{layer.name}` has {len(values)} arrays of weights; `{name}` needs {len(parts)}, biases included")
        for part, value in zip(parts, values, strict=True):
            weights[f"{name}{part}"] = np.asarray(value, dtype=np.float32)
        return layer

    dense = (".weight", ".bias")
    take(layers.Embedding, "token_embedding", ("",))
    vocab_size, d_model = weights["token_embedding"].shape
    has_positions = bool(own) and isinstance(own[0], layers.Embedding)
    if has_positions:
        take(layers.Embedding, "position_embedding", ("",))
        positions = weights["position_embedding"].shape[0]
    else:
        positions = model.input_shape[1]
    sizes: dict[str, Any] = {"d_model": d_model, "n_heads": 1, "n_layers": 0, "d_ff": 0, "positions": has_positions}
    while own and isinstance(own[0], layers.MultiHeadAttention):
        block = f"blocks.{sizes['n_layers']}"
        names = tuple(f".{part}{kind}" for part in ("query", "key", "value", "output") for kind in dense)
        attention = take(layers.MultiHeadAttention, f"{block}.attention", names)
        for name in names:
            values = weights[f"{block}.attention{name}"]
            shape: tuple[int, ...]
            if name.endswith("weight"):
                shape = (-1, d_model) if name.startswith(".output") else (d_model, -1)
            else:
                shape = (-1,)
            weights[f"{block}.attention{name}"] = values.reshape(shape)
        sizes["n_heads"] = attention.num_heads
        norm = take(layers.LayerNormalization, f"{block}.norm", (".gamma", ".beta"))
        sizes["layer_norm_eps"] = norm.epsilon
        if len(own) > 1:
            if isinstance(own[0], layers.Dense):
                hidden = take(layers.Dense, f"{block}.feed_forward.hidden", dense)
                activation = getattr(hidden.activation, "__name__", hidden.activation)
                if activation != "relu":
                    raise ValueError(f"the Keras layer `{hidden.name}` has the activation {activation}; Headlight's has relu")
                sizes["d_ff"] = hidden.units
                take(layers.Dense, f"{block}.feed_forward.output", dense)
                take(layers.LayerNormalization, f"{block}.feed_forward.norm", (".gamma", ".beta"))
        sizes["n_layers"] += 1
    if sizes["n_layers"] == 0:
        raise ValueError(f"this Keras model has no MultiHeadAttention; {ORDER}")
    classifier = take(layers.Dense, "classifier", dense)
    if own:
        raise ValueError(f"this Keras model has the layer `{own[0].name}` after its classifier; {ORDER}")
    data = {"vocab_size": vocab_size, "seq_len": positions - 1, "n_classes": max(classifier.units, 2)}
    return {"data": data, "model": sizes}, list(weights.items())


def check(model: Any, ours: Callable[[NDArray[np.int64]], Any], sizes: Mapping[str, Any]) -> None:
    """Computes some samples with both models: layers tell nothing of how they are connected.

    Raises:
        ValueError: The results differ.
    """
    rng = np.random.default_rng(0)
    tokens = rng.integers(1, sizes["vocab_size"], (16, sizes["seq_len"]))
    out = ours(tokens)
    theirs = np.asarray(model(out.tokens, training=False)).reshape(out.logits.shape)
    difference = min(np.abs(theirs - own).max() for own in (out.probabilities, out.logits))
    if not difference < TOLERANCE:
        raise ValueError(
            f"this Keras model has the same layers as Headlight's model, but gives different results: with 16 samples, its results differ by "
            f"{difference:.2g}. The Keras model must classify from [CLS], with the attention mask and scale of the config"
        )


def _leaves(layer: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    """The layers of these kinds, within others too, in the order of the model."""
    for inner in layer._flatten_layers(include_self=False, recursive=False):
        if isinstance(inner, kinds):
            yield inner
        else:
            yield from _leaves(inner, kinds)
