"""A model, and what it computes for samples."""

from __future__ import annotations

import os
from array import array as buffer
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import prod
from typing import Any

from ._arrays import arranged, numbers
from ._changes import Changeable, index
from ._config import Config, resolve
from ._engine import NONE, Engine, Floats, shared
from ._lacking import absent, lacking
from ._samples import Shape
from ._values import Source

_KINDS = {"head": "remove_head", "key": "remove_key", "block": "remove_block", "weights": "set_weights", "vector": "replace"}
"""Changes as the engine names them."""


@dataclass(frozen=True)
class Plan:
    """What the engine says of a config: the same for all weights.

    Attributes:
        parameters: Names and shapes of the weights, in their order.
        inputs: What samples are: `positions`, `cls`, `read`, `classes`, `vocab_size`.
    """

    config: Config
    parameters: list[tuple[str, list[int]]]
    inputs: dict[str, Any]

    @classmethod
    def of(cls, config: Config, begun: Mapping[str, Any]) -> Plan:
        """From the answer to the start of a training."""
        return cls(config, begun["parameters"], begun["inputs"])

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The config with all its values."""
        return self.config.resolved(self.inputs)

    @cached_property
    def shape(self) -> Shape:
        """What samples must be."""
        return Shape.of(self.resolved, self.inputs)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return sum(prod(shape) for _, shape in self.parameters)


class Model:
    """A config's model with weights.

    Called with samples, it gives an `Output`. Samples are token ids `[sample, token]`, all of them with `[CLS]` (token 0) or
    all without it, or texts if the model was trained on texts.
    """

    def __init__(self, plan: Plan, weights: bytes | Floats) -> None:
        self._plan = plan
        self._weights = bytes(weights)

    @classmethod
    def from_weights(cls, config: Source, weights: Mapping[str, Any]) -> Model:
        """The model of a config with given weights, by name.

        Raises:
            ValueError: The names or shapes of `weights` do not match the config's model.
        """
        resolved = resolve(config, {})
        begun, _ = Engine(resolved.module).ask(resolved.request("begin", tokens=[]))
        plan = Plan.of(resolved, begun)
        if set(weights) != {name for name, _ in plan.parameters}:
            raise ValueError(f"the weights must be {', '.join(name for name, _ in plan.parameters)}; these are {', '.join(weights)}")
        values = buffer("f")
        for name, shape in plan.parameters:
            flat, given = numbers(weights[name], f"the weights `{name}`")
            if list(given) != list(shape):
                raise ValueError(f"the weights `{name}` must have the shape {list(shape)}, not {list(given)}")
            values.extend(flat)
        return cls(plan, values.tobytes())

    open = absent("Model.open")
    from_keras = absent("Model.from_keras")
    to_torch = absent("Model.to_torch")
    to_transformer_lens = absent("Model.to_transformer_lens")
    explain = absent("explain")
    certify = absent("Model.certify")
    certify_sample = absent("Model.certify_sample")
    qk = absent("Model.qk")
    ov = absent("Model.ov")

    @property
    def config(self) -> dict[str, Any]:
        """The resolved config."""
        return {section: dict(own) if isinstance(own, dict) else own for section, own in self._plan.resolved.items()}

    @property
    def weights(self) -> dict[str, Any]:
        """The weights by name; `[in, out]`."""
        named, start = {}, 0
        for name, shape in self._plan.parameters:
            named[name] = arranged(self._floats[start : start + prod(shape)], shape)
            start += prod(shape)
        return named

    @property
    def _floats(self) -> Floats:
        return memoryview(self._weights).cast("f")

    def _safetensors(self) -> bytes:
        head, floats = shared(self._plan.config.module).ask({"operation": "save", "config": self._plan.config.keys}, self._floats)
        return bytes(floats)[: head["bytes"]]

    @property
    def weights_sha256(self) -> str:
        """The SHA-256 of the weights as `model.safetensors`, in hexadecimal digits."""
        return sha256(self._safetensors()).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the weights as safetensors.

        Raises:
            ValueError: The name ends in something else than `.safetensors`.
        """
        if not os.fspath(path).endswith(".safetensors"):
            raise ValueError(f"{os.fspath(path)}: the name of the file must end with .safetensors")
        with open(path, "wb") as file:
            file.write(self._safetensors())

    def tokens(self, samples: Any) -> Any:
        """Samples as the model sees them: token ids with `[CLS]`, shorter samples with padding. `[sample, position]`

        Raises:
            ValueError: A sample does not suit the model.
        """
        return _tokens(self._plan.shape.tokens(samples), self._plan)

    def __call__(self, samples: Any) -> Output:
        """What the model computes for samples.

        Raises:
            ValueError: A sample does not suit the model.
        """
        return Output(self, self._plan.shape.tokens(samples), [])

    def predict(self, samples: Any) -> Any:
        """The number of the likeliest class of each sample `[sample]`, or at each position `[sample, position]`."""
        return self(samples).predicted

    def generate(
        self, prompt: str | Sequence[int] = "", *, count: int = 10, temperature: float = 1.0, top_k: int | None = None, seed: int = 0
    ) -> list[list[int]]:
        """Continues a prompt, token ids without `[CLS]`, as `headlight generate` does: lists of token ids. `temperature` divides the
        logits, and 0 takes the most probable token; of the `top_k` most probable tokens alone one is drawn.

        Raises:
            ValueError: The model does not answer with the next token, or the prompt does not suit it.
        """
        if isinstance(prompt, str) and prompt:
            raise lacking("generate() from a text: give token ids")
        drawing = {"temperature": temperature, "top_k": top_k, "seed": seed, "count": count}
        head = {"operation": "generate", "config": self._plan.config.keys, "tokens": [[int(token) for token in prompt]], "drawing": drawing}
        answer, _ = shared(self._plan.config.module).ask(head, self._floats)
        return [tokens for tokens, _ in answer["samples"]]

    def attribute(self, samples: Any, logit: int = 0) -> Any:
        """Integrated gradients: what each position adds to a logit. `[sample, position]`

        The baseline is zero: a vector of zeros at each position of the first block's input (Sundararajan, Taly and Yan 2017).
        """
        tokens = self._plan.shape.tokens(samples)
        values = buffer("f")
        for row in tokens:
            head = {"operation": "attribute", "config": self._plan.config.keys, "tokens": [row], "logit": index(logit, "logit")}
            answer, _ = shared(self._plan.config.module).ask(head, self._floats)
            values.extend(answer["values"])
        return arranged(values, (len(tokens), self._plan.inputs["positions"]))

    def __repr__(self) -> str:
        model = self.config["model"]
        return f"<headlight.Model: {model['n_layers']} x {model['n_heads']} heads, d_model {model['d_model']}, {self._plan.size:,} weights>"


class Output(Changeable):
    """What a model computes for samples: the arrays of the native module's `Output`, by the same names and with the same axes.
    `dir(out)` lists them."""

    _names = {"scores": "attention_scores", "weights": "attention_weights", "mask": "attention_mask"}

    cache = property(absent("Output.cache"))
    logit_attribution = absent("Output.logit_attribution")

    def __init__(self, model: Model, tokens: list[list[int]], changes: list[dict[str, Any]]) -> None:
        self._model = model
        self._rows = tokens
        self._changes = changes
        plan = model._plan
        interventions = [{**change, "kind": _KINDS[change["kind"]]} for change in changes]
        head = {"operation": "look", "config": plan.config.keys, "tokens": tokens, "interventions": interventions}
        answer, floats = shared(plan.config.module).ask(head, model._floats) if tokens else ({"arrays": [], "mask": []}, NONE)
        self._parts: dict[str, tuple[memoryview[Any], tuple[int, ...]]] = {}
        start = 0
        for name, length, axes in answer["arrays"]:
            self._parts[name] = (floats[start : start + length], tuple(extent for _, extent in axes))
            start += length
        if answer["mask"]:
            positions = plan.inputs["positions"]
            self._parts["attention_mask"] = (memoryview(bytes(answer["mask"])).cast("?"), (len(tokens), positions, positions))
        self._arrays: dict[str, Any] = {}
        self._layers = plan.resolved["model"]["n_layers"]

    @property
    def tokens(self) -> Any:
        """The samples. `[sample, position]`"""
        return _tokens(self._rows, self._model._plan)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        stored = self._names.get(name, name)
        if stored == "attention_mask" and stored not in self._parts:
            raise AttributeError("this output has no `mask`: without padding and a mask, every query may look at every key")
        if stored not in self._parts:
            raise AttributeError(f"an output has no `{name}`; it has {', '.join(self._known())}")
        if stored not in self._arrays:
            self._arrays[stored] = arranged(*self._parts[stored])
        return self._arrays[stored]

    def _known(self) -> list[str]:
        short = {stored: name for name, stored in self._names.items()}
        return sorted(short.get(name, name) for name in self._parts)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self._known()])

    @property
    def predicted(self) -> Any:
        """The likeliest class of each sample `[sample]`, or at each position `[sample, position]`."""
        values, shape = self._parts["logits"]
        logits = values.tolist()
        axes = 1 + (self._model._plan.resolved["data"].get("task", "classification") != "classification")
        if len(shape) == axes:
            return arranged(buffer("q", [logit > 0 for logit in logits]), shape)
        rows = (logits[start : start + shape[-1]] for start in range(0, len(logits), shape[-1]))
        return arranged(buffer("q", [max(range(len(row)), key=row.__getitem__) for row in rows]), shape[:-1])

    @property
    def words(self) -> list[list[str]]:
        """The text of each token, as the page shows it: its word, or its number if the model has no words. `[sample][position]`"""
        return [[self._model._plan.shape.text(token) for token in row] for row in self._rows]

    def _changed(self, changes: list[dict[str, Any]]) -> Output:
        return Output(self._model, self._rows, [*self._changes, *map(self._of_all_heads, changes)])

    def _of_all_heads(self, change: dict[str, Any]) -> dict[str, Any]:
        """The engine replaces the context of all heads: of the others, by what it is."""
        if change["kind"] != "vector" or "head" not in change:
            return change
        context, (samples, layers, heads, positions, width) = self._parts["context"]
        layer, head, position = change["layer"], change["head"], change["position"]
        for name, number, count in (("layer", layer, layers), ("head", head, heads), ("position", position, positions)):
            if number >= count:
                raise ValueError(f"{name}={number} is out of range; the model has {count}")
        given = change["vector"]
        if len(given) not in (width, samples * width):
            raise ValueError(f"vector: the context of a head has {width} numbers, and {len(given)} were given")
        vectors: list[float] = []
        for sample in range(samples):
            for own in range(heads):
                start = (((sample * layers + layer) * heads + own) * positions + position) * width
                at = sample * width if len(given) > width else 0
                vectors.extend(given[at : at + width] if own == head else context[start : start + width])
        return {"kind": "vector", "place": "context", "layer": layer, "position": position, "vector": vectors}

    def __reduce__(self) -> tuple[Any, ...]:
        return Output, (self._model, self._rows, self._changes)

    def __repr__(self) -> str:
        changed = f", {len(self._changes)} changes" if self._changes else ""
        return f"<headlight.Output: {len(self)} samples{changed}>"

    def __len__(self) -> int:
        return len(self._rows)


def _tokens(rows: list[list[int]], plan: Plan) -> Any:
    return arranged(buffer("I", [token for row in rows for token in row]), (len(rows), plan.inputs["positions"]))
