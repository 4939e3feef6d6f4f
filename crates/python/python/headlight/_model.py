"""A model, and what it computes for samples."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _headlight
from ._arrays import array, finite
from ._config import Source, resolve

Samples = str | Sequence[str] | ArrayLike


class Model:
    """A config's model with weights.

    Called with samples, it gives an `Output`. Samples are token ids `[sample, token]`, with or without `[CLS]` (token 0),
    or texts if the model was trained on texts.
    """

    def __init__(self, model: _headlight.Model) -> None:
        self._model = model

    @classmethod
    def open(cls, run: str | os.PathLike[str], file: str | None = None) -> Model:
        """The model of a run directory: the best one if `training.keep_best` is set, or else the last one. Or the model with
        the weights in one of its files."""
        model, _ = _headlight.Model.of_run(run, file)
        return cls(model)

    @classmethod
    def from_weights(cls, config: Source, weights: Mapping[str, ArrayLike]) -> Model:
        """The model of a config with given weights, by name.

        Raises:
            ValueError: The names or shapes of `weights` do not match the config's model.
        """
        if not isinstance(weights, Mapping):
            raise TypeError(f"weights must be a dict of arrays by name, not a {type(weights).__name__}")
        arrays = [(name, finite(values, f"the weights `{name}`")) for name, values in weights.items()]
        return cls(_headlight.Model(resolve(config, {}), arrays))

    @classmethod
    def from_keras(cls, model: Any, config: Source = "notebook") -> Model:
        """A Keras model of the same architecture, as Headlight's: embeddings of tokens and positions, blocks of
        `MultiHeadAttention` and `LayerNormalization`, perhaps with `Dense` layers, and a `Dense` that reads `[CLS]`.

        Sizes and weights are the Keras model's; all else, such as the question and the mask, is that of `config`.

        Raises:
            ValueError: The model has other layers or computes something else, or `config` does not suit its sizes.
        """
        from ._keras import check, read

        sizes, weights = read(model)
        ours = cls(_headlight.Model(resolve(config, sizes), weights))
        check(model, ours, ours.config["data"])
        return ours

    @property
    def config(self) -> dict[str, Any]:
        """The resolved config."""
        config: dict[str, Any] = json.loads(self._model.config().json())
        return config

    @property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights by name; `[in, out]`."""
        return self._model.parameters()

    @property
    def weights_sha256(self) -> str:
        """The SHA-256 of the weights as `model.safetensors`, in hexadecimal digits."""
        return hashlib.sha256(self._model.safetensors()).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the weights as safetensors."""
        with open(path, "wb") as file:
            file.write(self._model.safetensors())

    def tokens(self, samples: Samples) -> NDArray[np.uint32]:
        """Samples as the model sees them: token ids with `[CLS]`. `[sample, position]`"""
        if isinstance(samples, str):
            return self._model.encode([samples])
        if isinstance(samples, Sequence) and len(samples) > 0 and all(isinstance(text, str) for text in samples):
            return self._model.encode(list(samples))  # type: ignore[arg-type]
        tokens = array(samples, "tokens")
        if tokens.dtype.kind in "US":
            return self._model.encode([str(text) for text in tokens.ravel()])
        if tokens.size == 0 and tokens.ndim == 1:
            tokens = np.empty((0, self.config["data"]["seq_len"]), dtype=np.int64)
        if tokens.dtype.kind not in "iu":
            raise TypeError(f"tokens must be whole numbers [sample, token]; these have the type {tokens.dtype}")
        if tokens.ndim == 1:
            tokens = tokens[np.newaxis]
        if tokens.ndim != 2:
            raise ValueError(f"tokens must have the axes [sample, token]; these have the shape {tokens.shape}")
        if tokens.size and (tokens.min() < 0 or tokens.max() >= 2**32):
            raise ValueError(f"token {tokens.min() if tokens.min() < 0 else tokens.max()} is not a token id; ids are from 0 to 2**32 - 1")
        data = self.config["data"]
        length = data["seq_len"]
        if tokens.shape[1] == length:
            place = 0 if data.get("cls", "first") == "first" else length
            tokens = np.insert(tokens, place, 0, axis=1)
        return np.ascontiguousarray(tokens, dtype=np.uint32)

    def __call__(self, samples: Samples) -> Output:
        """What the model computes for samples.

        Raises:
            ValueError: A sample does not suit the model.
        """
        return Output(self._model, self.tokens(samples), [])

    def predict(self, samples: Samples) -> NDArray[np.int64]:
        """The number of the likeliest class of each sample. `[sample]`"""
        return self(samples).predicted

    def attribute(self, samples: Samples, logit: int = 0) -> NDArray[np.float32]:
        """Integrated gradients: what each position adds to a logit. `[sample, position]`

        The baseline is zero: a vector of zeros at each position of the first block's input (Sundararajan, Taly and Yan 2017).
        """
        values: NDArray[np.float32] = self._model.attribute(self.tokens(samples), _index(logit, "logit")).sum(axis=2)
        return values

    def to_torch(self) -> dict[str, Any]:
        """The weights as PyTorch tensors, by name."""
        import torch

        return {name: torch.from_numpy(values) for name, values in self.weights.items()}

    def __repr__(self) -> str:
        model = self.config["model"]
        count = sum(values.size for values in self.weights.values())
        return (
            f"<headlight.Model: {model['n_layers']} x {model['n_heads']} heads, d_model {model['d_model']}, {count:,} weights>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self._model.config().json(), "weights": list(self.weights.items())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._model = _headlight.Model(_headlight.Config(state["config"], True, "{}"), state["weights"])


def _vector(values: ArrayLike, name: str) -> list[float]:
    vector = finite(values, name)
    if vector.ndim != 1:
        raise ValueError(f"{name}: one axis is needed, not the shape {vector.shape}")
    numbers: list[float] = vector.tolist()
    return numbers


def _index(value: Any, name: str) -> int:
    """A layer, a head, a position or a logit, from 0."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}={value!r:.100}: a whole number from 0 is needed")
    if not 0 <= value < 2**32:
        raise ValueError(f"{name}={value} is out of range; the first is 0")
    return int(value)


def _pair(value: Any, name: str) -> tuple[int, int]:
    """A layer, and a head or a position of it."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name}={value!r:.100}: a pair is needed, with the layer first")
    return _index(value[0], name), _index(value[1], name)


class Output:
    """What a model computes for samples. Arrays are computed when they are asked for.

    Attributes:
        tokens: `[sample, position]`, `[CLS]` among them.
        logits: log-odds of class 1 `[sample]`, or a logit for each class `[sample, class]`.
        probabilities: with the shape of `logits`.
        scores: before the softmax. `[sample, layer, head, query, key]`
        weights: after it. `[sample, layer, head, query, key]`
        query, key, value, context: `[sample, layer, head, position, d_head]`
        embeddings: the first block's input. `[sample, position, d_model]`
        residual, output: of each block. `[sample, layer, position, d_model]`
        feed_forward_hidden: `[sample, layer, position, d_ff]`
        feed_forward_residual: `[sample, layer, position, d_model]`
    """

    _names = {"scores": "attention_scores", "weights": "attention_weights", "mask": "attention_mask"}

    def __init__(self, model: _headlight.Model, tokens: NDArray[np.uint32], changes: list[dict[str, Any]]) -> None:
        self._model = model
        self._changes = changes
        self.tokens = tokens
        self._all = False
        self._arrays = model.forward(tokens, changes, False)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        stored = self._names.get(name, name)
        if stored not in self._arrays and not self._all:
            # The arrays so far stay: the caller may hold references to them.
            self._arrays = {**self._model.forward(self.tokens, self._changes, True), **self._arrays}
            self._all = True
        if stored not in self._arrays:
            known = sorted([*self._arrays, *self._names])
            raise AttributeError(f"an output has no `{name}`; it has {', '.join(known)}")
        return self._arrays[stored]

    def __dir__(self) -> list[str]:
        short = {stored: name for name, stored in self._names.items()}
        return sorted([*super().__dir__(), *(short.get(name, name) for name in self._model.array_names())])

    @property
    def predicted(self) -> NDArray[np.int64]:
        """The likeliest class of each sample. `[sample]`"""
        logits = self._arrays["logits"]
        classes = logits > 0 if logits.ndim == 1 else logits.argmax(axis=1)
        return classes.astype(np.int64)

    def without(
        self,
        *,
        head: tuple[int, int] | None = None,
        block: int | None = None,
        key: int | tuple[int, int] | None = None,
    ) -> Output:
        """What the model computes without a head `(layer, head)`, without a block, or with a key
        masked: `key=(layer, position)`, or `key=position` for all layers. A changed output can be changed further."""
        changes: list[dict[str, Any]] = []
        if head is not None:
            layer, own = _pair(head, "head")
            changes.append({"kind": "head", "layer": layer, "head": own})
        if block is not None:
            changes.append({"kind": "block", "layer": _index(block, "block")})
        if isinstance(key, tuple):
            layer, position = _pair(key, "key")
            changes.append({"kind": "key", "layer": layer, "position": position})
        elif key is not None:
            position = _index(key, "key")
            layers = self.weights.shape[1]
            changes.extend({"kind": "key", "layer": layer, "position": position} for layer in range(layers))
        if not changes:
            raise TypeError("without() needs at least one of head=, block= and key=")
        return self._changed(changes)

    def with_weights(self, layer: int, head: int, query: int, weights: ArrayLike) -> Output:
        """What the model computes if `weights` replace a query's attention weights. `weights`: `[key]`"""
        place = {"layer": _index(layer, "layer"), "head": _index(head, "head"), "query": _index(query, "query")}
        return self._changed([{"kind": "weights", **place, "weights": _vector(weights, "weights")}])

    def patched(self, place: str, position: int, vector: ArrayLike, layer: int = 0) -> Output:
        """What the model computes if `vector` replaces the vector at a position (activation patching). `place`: `embeddings`,
        `context`, `residual` or `output`; `vector`: `[d_model]`"""
        numbers = {"layer": _index(layer, "layer"), "position": _index(position, "position")}
        return self._changed([{"kind": "vector", "place": place, **numbers, "vector": _vector(vector, "vector")}])

    def _changed(self, changes: list[dict[str, Any]]) -> Output:
        return Output(self._model, self.tokens, [*self._changes, *changes])

    def __reduce__(self) -> tuple[Any, ...]:
        return _output, (Model(self._model), self.tokens, self._changes)

    def __repr__(self) -> str:
        changed = f", {len(self._changes)} changes" if self._changes else ""
        return f"<headlight.Output: {len(self.tokens)} samples{changed}>"

    def __len__(self) -> int:
        return len(self.tokens)


def _output(model: Model, tokens: NDArray[np.uint32], changes: list[dict[str, Any]]) -> Output:
    return Output(model._model, tokens, changes)
