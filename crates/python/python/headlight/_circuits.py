"""What weights of a model do together: the matrices of a head, and what each part of a model adds to a logit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _headlight
from ._changes import Change


def head_matrix(model: _headlight.Model, name: str, layer: int, head: int) -> NDArray[np.float64]:
    """The part of a projection that is a head's.

    Args:
        name: `query`, `key` or `value`, `[d_model, d_head]`; or `output`, `[d_head, d_model]`.

    Raises:
        ValueError: The model has no such block or head.
    """
    parts = model.structure()
    for part, index, count in (("layer", layer, parts["n_layers"]), ("head", head, parts["n_heads"])):
        if index >= count:
            which = f"the model has only {part} 0" if count == 1 else f"{part}s go from 0 to {count - 1}"
            raise ValueError(f"there is no {part} {index}; {which}")
    weights = model.parameters()
    own = weights.get(f"blocks.{layer}.attention.{name}.weight")
    if own is None and name != "output":
        own = weights.get(f"blocks.{layer}.attention.shared.weight")
    if own is None:
        # Without a projection, the heads divide the vector.
        own = np.eye(parts["d_model"], dtype=np.float32)
    columns = slice(head * parts["d_head"], (head + 1) * parts["d_head"])
    return (own[columns] if name == "output" else own[:, columns]).astype(np.float64)


def one_answer(model: _headlight.Model) -> dict[str, Any]:
    """The structure of a model that answers once per sample.

    Raises:
        ValueError: It answers at each position.
    """
    parts = model.structure()
    if parts["per_position"]:
        raise ValueError("the model answers at each position, and this function is about one answer per sample")
    return parts


def logit_attribution(
    model: _headlight.Model, tokens: NDArray[np.uint32], changes: list[Change]
) -> dict[str, NDArray[np.float32]]:
    """What each part of a model adds to each logit; see `Output.logit_attribution`."""
    stream = _Stream(model, tokens, changes)
    found = stream.parts()
    return {name: (values[:, 0] if stream.is_single else values).astype(np.float32) for name, values in found.items()}


class _Stream:
    """The residual stream at the positions that the classifier reads, part by part."""

    def __init__(self, model: _headlight.Model, tokens: NDArray[np.uint32], changes: list[Change]) -> None:
        self.parts_of_model = one_answer(model)
        _check(self.parts_of_model)
        self.model, self.tokens, self.changes = model, tokens, changes
        self.weights = {name: values.astype(np.float64) for name, values in model.parameters().items()}
        self.arrays = model.forward(tokens, changes, "all")
        self.is_single = self.arrays["logits"].ndim == 1
        read = self.parts_of_model["read_position"]
        self.positions = np.arange(tokens.shape[1]) if read is None else np.array([read])
        self.shares = self._shares()
        # What each part adds to each logit at each position that is read. [sample, position, logit]
        self.added: dict[str, NDArray[np.float64]] = {}

    def parts(self) -> dict[str, NDArray[np.float64]]:
        """What each part adds to each logit. `[sample, logit]`"""
        heads = self.parts_of_model["n_heads"]
        self._add("embeddings", self._rows("embeddings"))
        for layer in range(self.parts_of_model["n_layers"]):
            before = dict(self.added)
            block = f"blocks.{layer}"
            context = self._rows("context", layer)
            for head in range(heads):
                output = head_matrix(self.model, "output", layer, head)
                self._add(f"{block}.head.{head}", context[:, head] @ output)
            self._add_bias(f"{block}.attention.output.bias")
            self._replace("residual", layer, before)
            if self.parts_of_model["d_ff"]:
                hidden = self._rows("feed_forward_hidden", layer)
                self._add(f"{block}.feed_forward", hidden @ self.weights[f"{block}.feed_forward.output.weight"])
                self._add_bias(f"{block}.feed_forward.output.bias")
            self._replace("output", layer, before)
        found = {name: np.einsum("spk,sp->sk", values, self.shares) for name, values in self.added.items()}
        read = self.shares.sum(axis=1)[:, np.newaxis]
        if "final_norm.beta" in self.weights:
            found["final_norm.beta"] = read * (self.weights["final_norm.beta"] @ self._classifier())
        if "classifier.bias" in self.weights:
            found["classifier.bias"] = np.tile(self.weights["classifier.bias"], (len(self.tokens), 1))
        return found

    def _rows(self, name: str, layer: int | None = None) -> NDArray[np.float64]:
        """The vectors of an array at the positions that are read. `[sample, ..., position, width]`"""
        values = self.arrays[name] if layer is None else self.arrays[name][:, layer]
        return values[..., self.positions, :].astype(np.float64)

    def _shares(self) -> NDArray[np.float64]:
        """The share of each position in what is read. `[sample, position]`"""
        padding = self.parts_of_model["padding_token"]
        shares = np.ones((len(self.tokens), len(self.positions)))
        if self.parts_of_model["read_position"] is None and padding is not None:
            shares = (self.tokens != padding).astype(np.float64)
        count: NDArray[np.float64] = shares.sum(axis=1, keepdims=True)
        return shares / np.maximum(count, 1)

    def _classifier(self) -> NDArray[np.float64]:
        """`[d_model, logit]`"""
        return self.weights["classifier.weight"] if "classifier.weight" in self.weights else self.weights["token_embedding"].T

    def _logits(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """What vectors of the stream add to each logit, with the scale of the final norm as it is. `[sample, position, logit]`"""
        if self.parts_of_model["final_norm"]:
            is_rms = self.parts_of_model["rms"]
            whole = self._rows("output", -1)
            if not is_rms:
                whole = whole - whole.mean(axis=-1, keepdims=True)
                vectors = vectors - vectors.mean(axis=-1, keepdims=True)
            square = (whole**2).mean(axis=-1, keepdims=True)
            vectors = vectors / np.sqrt(square + self.parts_of_model["eps"]) * self.weights.get("final_norm.gamma", 1.0)
        return vectors @ self._classifier()

    def _add(self, name: str, vectors: NDArray[np.float64]) -> None:
        self.added[name] = self._logits(vectors)

    def _add_bias(self, name: str) -> None:
        if name in self.weights:
            shape = (len(self.tokens), len(self.positions), self.parts_of_model["d_model"])
            self._add(name, np.broadcast_to(self.weights[name], shape))

    def _replace(self, place: str, layer: int, before: dict[str, NDArray[np.float64]]) -> None:
        """What the changes of the output do to the stream at a place, in their order."""
        for kind, where, _ in self.changes:
            if (kind, where, place) == ("block", [layer], "output"):
                self.added = {name: before.get(name, np.zeros_like(values)) for name, values in self.added.items()}
            if kind == f"{place}.{layer}":
                row = self.positions == where[0]
                if not row.any():
                    continue
                # The vector stands for all that was there.
                for name, values in self.added.items():
                    self.added[name] = np.where(row[:, np.newaxis], 0.0, values)
                own = np.where(row[:, np.newaxis], self._logits(self._rows(place, layer)), 0.0)
                name = f"patched.{place}.{layer}"
                self.added[name] = self.added.get(name, np.zeros_like(own)) + own


def _check(parts: dict[str, Any]) -> None:
    """Refuses models whose logits are no sum over parts.

    Raises:
        ValueError: The model is one.
    """
    instead = "use Model.attribute (integrated gradients), or without() and patched(), which any model has"
    if parts["norm"] == "post":
        raise ValueError(
            'this model normalises after each addition (model.norm = "post"), so that a logit is no sum of what its parts add; '
            f'train one with norm = "pre" or "none", or {instead}'
        )
    if parts["classifier_hidden"]:
        raise ValueError(
            "the classifier of this model has a hidden layer (model.classifier_hidden), so that a logit is no sum of what the parts "
            f"add; train one with classifier_hidden = 0, or {instead}"
        )
