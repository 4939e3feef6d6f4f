"""The arrays of an output by name, also by the names of TransformerLens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._model import Output


class Cache(Mapping[str, NDArray[Any]]):
    """The arrays of an output by name: those of `Output`, and the activations of TransformerLens that mean the same.

    An array by its own name is that of the output. One by a name of TransformerLens is a copy with TransformerLens's axes;
    `L` is a block, from 0.

    | name | axes | what it is here |
    |---|---|---|
    | `hook_embed` | `[batch, position, d_model]` | the token's embedding |
    | `hook_pos_embed` | `[batch, position, d_model]` | the position's embedding, if it is learned |
    | `blocks.L.hook_resid_pre` | `[batch, position, d_model]` | the block's input |
    | `blocks.L.attn.hook_q`, `hook_k` | `[batch, position, head, d_head]` | queries and keys; with rotary positions these are `hook_rot_q` and `hook_rot_k` |
    | `blocks.L.attn.hook_v` | `[batch, position, head, d_head]` | values |
    | `blocks.L.attn.hook_attn_scores` | `[batch, head, query, key]` | scores, -inf where the query may not look; only with a softmax |
    | `blocks.L.attn.hook_pattern` | `[batch, head, query, key]` | what values are multiplied by |
    | `blocks.L.attn.hook_z` | `[batch, position, head, d_head]` | contexts |
    | `blocks.L.hook_resid_mid` | `[batch, position, d_model]` | `residual`; with the norm after, what is normalised. With the norm before, or none, only if there is a feed-forward layer |
    | `blocks.L.mlp.hook_post` | `[batch, position, d_mlp]` | `feed_forward_hidden` |
    | `blocks.L.hook_resid_post` | `[batch, position, d_model]` | `output`; with the norm after, `feed_forward_residual`, which is normalised |
    | `blocks.L.hook_normalized_resid_post` | `[batch, position, d_model]` | `output`; only with the norm after |
    """

    def __init__(self, out: Output) -> None:
        self._out = out
        self._made: dict[str, Callable[[], NDArray[Any]]] = {name: partial(getattr, out, name) for name in _own_names(out)}
        parts = out._model.structure()
        self._made["hook_embed"] = partial(_embed, out)
        if "position_embedding" in out._model.parameters():
            self._made["hook_pos_embed"] = partial(_position_embed, out)
        for layer in range(parts["n_layers"]):
            for name, make in _of_block(parts).items():
                self._made[f"blocks.{layer}.{name}"] = partial(make, out, layer)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The array with a name.

        Raises:
            KeyError: There is none; the message lists all names.
        """
        if name not in self._made:
            known = [known.replace("blocks.0.", "blocks.L.") for known in self._made if not known.startswith("blocks.")]
            blocks = [known.replace("blocks.0.", "blocks.L.") for known in self._made if known.startswith("blocks.0.")]
            last = self._out._layers - 1
            raise KeyError(f"this output has no array `{name}`; it has {', '.join(known)}, and of each block L from 0 to {last} {', '.join(blocks)}")
        return self._made[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._made

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return f"<headlight.Cache: {len(self)} arrays of {len(self._out)} samples>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Cache, (self._out,)


def _own_names(out: Output) -> list[str]:
    """The names in dumps, each followed by the shorter one of an output."""
    stored = out._model.array_names()
    if out._model.structure()["masked"]:
        stored.append("attention_mask")
    short = {name: own for own, name in out._names.items()}
    return [name for own in stored for name in (own, short.get(own)) if name]


def _of_block(parts: dict[str, Any]) -> dict[str, Callable[[Output, int], NDArray[Any]]]:
    """What makes each activation of a block, by its name within the block."""
    is_post, has_feed_forward = parts["norm"] == "post", parts["d_ff"] > 0
    rotated = "rot_" if parts["rotary"] else ""
    made: dict[str, Callable[[Output, int], NDArray[Any]]] = {
        "hook_resid_pre": _input,
        f"attn.hook_{rotated}q": partial(_of_heads, "query"),
        f"attn.hook_{rotated}k": partial(_of_heads, "key"),
        "attn.hook_v": partial(_of_heads, "value"),
    }
    if parts["softmax"]:
        made["attn.hook_attn_scores"] = _scores
    made["attn.hook_pattern"] = partial(_of_layer, "weights")
    made["attn.hook_z"] = partial(_of_heads, "context")
    if is_post or has_feed_forward:
        made["hook_resid_mid"] = partial(_of_layer, "residual")
    if has_feed_forward:
        made["mlp.hook_post"] = partial(_of_layer, "feed_forward_hidden")
    if is_post:
        if has_feed_forward:
            made["hook_resid_post"] = partial(_of_layer, "feed_forward_residual")
        made["hook_normalized_resid_post"] = partial(_of_layer, "output")
    else:
        made["hook_resid_post"] = partial(_of_layer, "output")
    return made


def _of_layer(name: str, out: Output, layer: int) -> NDArray[Any]:
    values: NDArray[Any] = out._computed(name)[:, layer].copy()
    return values


def _of_heads(name: str, out: Output, layer: int) -> NDArray[Any]:
    """From `[sample, layer, head, position, d_head]` to `[batch, position, head, d_head]`."""
    return out._computed(name)[:, layer].transpose(0, 2, 1, 3).copy()


def _input(out: Output, layer: int) -> NDArray[Any]:
    return out._computed("embeddings").copy() if layer == 0 else out._computed("output")[:, layer - 1].copy()


def _scores(out: Output, layer: int) -> NDArray[Any]:
    scores = out._computed("scores")[:, layer].copy()
    if out._model.structure()["masked"]:
        scores = np.where(out._computed("mask")[:, np.newaxis], scores, np.float32(-np.inf))
    for kind, where, _ in out._changes:
        if kind == "key" and where[0] == layer:
            scores[..., where[1]] = -np.inf
    return scores


def _embed(out: Output) -> NDArray[Any]:
    table: NDArray[Any] = out._model.parameters()["token_embedding"]
    return table[out.tokens]


def _position_embed(out: Output) -> NDArray[Any]:
    table: NDArray[Any] = out._model.parameters()["position_embedding"]
    samples, positions = out.tokens.shape
    # Positions beyond the table share its last row.
    rows = table[np.minimum(np.arange(positions), len(table) - 1)]
    return np.tile(rows, (samples, 1, 1))
