"""Changes of what a model computes: parts that are left out, and vectors and weights that others replace."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from ._arrays import numbers

if TYPE_CHECKING:
    from typing_extensions import Self

# `head`, `key`, `block`, `weights` or a place, such as `output.0` or `head.0.1`; numbers that say where; and new values.
Change: TypeAlias = tuple[str, list[int], list[float]]


class Changeable:
    """What a model computes for samples, with changes on top of those so far."""

    _layers: int

    def __len__(self) -> int:
        """The samples."""
        raise NotImplementedError

    def without(
        self,
        *,
        head: tuple[int, int] | None = None,
        block: int | None = None,
        key: int | tuple[int, int] | None = None,
    ) -> Self:
        """What the model computes without a head `(layer, head)`, without a block, or with a key
        masked: `key=(layer, position)`, or `key=position` for all layers. A changed output can be changed further."""
        changes: list[Change] = []
        if head is not None:
            layer, own = pair(head, "head")
            changes.append(("head", [layer, own], []))
        if block is not None:
            changes.append(("block", [index(block, "block")], []))
        if isinstance(key, list):
            raise TypeError(f"key={key!r:.100}: give a position, or a pair (layer, position); for several keys, call without() on the result again")
        if isinstance(key, tuple):
            layer, position = pair(key, "key")
            changes.append(("key", [layer, position], []))
        elif key is not None:
            position = index(key, "key")
            changes.extend(("key", [layer, position], []) for layer in range(self._layers))
        if not changes:
            raise TypeError("without() needs at least one of head=, block= and key=")
        return self._changed(changes)

    def with_weights(self, layer: int, head: int, query: int, weights: Any) -> Self:
        """What the model computes if `weights` replace a query's attention weights. `weights`: `[key]`"""
        place = [index(layer, "layer"), index(head, "head"), index(query, "query")]
        return self._changed([("weights", place, _vector(weights, "weights"))])

    def patched(self, place: str, position: int, vector: Any, layer: int = 0, head: int | None = None) -> Self:
        """What the model computes if `vector` replaces the vector at a position (activation patching).

        Args:
            place: `embeddings`, `context`, `residual` or `output`. Only layer 0 has embeddings: they are its input.
            vector: One for all samples `[d_model]`, or one for each `[sample, d_model]`; of a head `d_head` numbers.
            head: Replace the context of this head alone.
        """
        if place not in ("embeddings", "context", "residual", "output"):
            raise ValueError(f"place={place!r:.100}: give `embeddings`, `context`, `residual` or `output`; layer= and head= say of which layer and head")
        if place == "embeddings" and layer != 0:
            raise ValueError(
                f"layer={layer!r:.100}: the embeddings are the input of layer 0 alone; leave layer= out, or patch the `output` of the layer "
                "before, which is the input of a later layer"
            )
        if head is not None and place != "context":
            raise ValueError(f"head={head!r:.100}: only the `context` has a vector for each head, not {place!r:.100}")
        own = place if place == "embeddings" else f"{place}.{index(layer, 'layer')}"
        if head is not None:
            own = f"head.{layer}.{index(head, 'head')}"
        return self._changed([(own, [index(position, "position")], self._vectors(vector))])

    def _vectors(self, values: Any) -> list[float]:
        """One vector, or one for each sample, as numbers one after the other."""
        vectors, shape = numbers(values, "vector")
        if len(shape) == 2 and shape[0] != len(self):
            raise ValueError(f"vector: {shape[0]} vectors were given, but there are {len(self)} samples; give one for each, or one for all")
        return vectors if len(shape) == 2 else _vector(values, "vector")

    def _changed(self, changes: list[Change]) -> Self:
        """What the model computes with these changes, too."""
        raise NotImplementedError


def _vector(values: Any, name: str) -> list[float]:
    vector, shape = numbers(values, name)
    if len(shape) != 1:
        raise ValueError(f"{name}: one axis is needed, not the shape {shape}")
    return vector


def index(value: Any, name: str, end: int = 2**32) -> int:
    """A layer, a head, a position, a count or a seed, from 0."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r:.100}: a whole number from 0 is needed")
    number = int(value)
    if not 0 <= number < end:
        raise ValueError(f"{name}={value} is out of range; the first is 0")
    return number


def pair(value: Any, name: str) -> tuple[int, int]:
    """A layer, and a head or a position of it."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name}={value!r:.100}: a pair is needed, with the layer first")
    return index(value[0], name), index(value[1], name)
