"""A model, and what it computes for samples."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _headlight
from ._arrays import array, finite, finite_logits
from ._cache import Cache
from ._changes import Change, Changeable, index
from ._certificate import Certificate, Sampled, certificate, sampled
from ._circuits import head_matrix, logit_attribution, one_answer
from ._config import resolve
from ._explanation import Explanation, explanation
from ._generation import generated
from ._keras import TOLERANCE
from ._needed import needed
from ._texts import texts
from ._values import Source

Samples = str | Sequence[str] | ArrayLike


class Model:
    """A config's model with weights.

    Called with samples, it gives an `Output`. Samples are token ids `[sample, token]`, all of them with `[CLS]` (token 0) or
    all without it, or texts if the model was trained on texts: one, a list, or a column of pandas or polars.
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
    def from_weights(cls, config: Source, weights: Mapping[str, ArrayLike], *, check: tuple[Samples, ArrayLike] | None = None) -> Model:
        """The model of a config with given weights, by name. Matrices are `[in, out]`; those of PyTorch's `Linear`, which are `[out, in]`,
        have to be transposed, square ones too, whose shape does not tell.

        Args:
            check: Samples, and the logits that the model must have for them.

        Raises:
            ValueError: The names or shapes of `weights` do not match the config's model, or its logits differ from those of `check`.
        """
        if not isinstance(weights, Mapping):
            raise TypeError(f"weights must be a dict of arrays by name, not a {type(weights).__name__}")
        arrays = [(name, finite(values, f"the weights `{name}`")) for name, values in weights.items()]
        ours = cls(_headlight.Model(resolve(config, {}), arrays))
        if check is not None:
            if not isinstance(check, (tuple, list)) or len(check) != 2:
                raise TypeError("check: a pair is needed, samples and their logits")
            found, expected = ours(check[0]).logits, finite(check[1], "the logits of check")
            if found.shape != expected.shape or not np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE):
                raise ValueError(
                    f"the model's logits are not those of check: the first are {found.flat[:3]} and {expected.flat[:3]}; a matrix [out, in], as in "
                    "PyTorch's Linear, must be transposed, square ones too"
                )
        return ours

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
        """Writes the weights as safetensors.

        Raises:
            ValueError: The name ends in something else than `.safetensors`.
        """
        if not os.fspath(path).endswith(".safetensors"):
            raise ValueError(f"{os.fspath(path)}: the name of the file must end with .safetensors")
        with open(path, "wb") as file:
            file.write(self._model.safetensors())

    def tokens(self, samples: Samples) -> NDArray[np.uint32]:
        """Samples as the model sees them, as a new array: token ids with `[CLS]`, shorter samples with padding.
        `[sample, position]`

        Raises:
            ValueError: A sample does not suit the model.
        """
        words = texts(samples)
        if words is not None:
            return self._model.encode(words)
        tokens, lengths = _joined(samples)
        if not tokens.size:
            tokens = np.empty(0, dtype=np.uint32)
        if tokens.dtype.kind not in "iu":
            raise TypeError(f"tokens must be whole numbers [sample, token]; these have the type {tokens.dtype}")
        if tokens.size and (tokens.min() < 0 or tokens.max() >= 2**32):
            raise ValueError(f"token {tokens.min() if tokens.min() < 0 else tokens.max()} is not a token id; ids are from 0 to 2**32 - 1")
        return self._model.arrange(tokens.astype(np.uint32), lengths)

    def __call__(self, samples: Samples) -> Output:
        """What the model computes for samples.

        Raises:
            ValueError: A sample does not suit the model.
        """
        return Output(self._model, self.tokens(samples), [])

    def predict(self, samples: Samples) -> NDArray[np.int64]:
        """The number of the likeliest class of each sample `[sample]`, or at each position `[sample, position]`."""
        return self(samples).predicted

    def generate(
        self,
        prompt: str | Sequence[int] = "",
        *,
        count: int = 10,
        temperature: float = 1.0,
        top_k: int | None = None,
        seed: int = 0,
        length: int | None = None,
    ) -> list[Any]:
        """Continues a prompt, a text or token ids without `[CLS]`, as `headlight generate` does: texts, or lists of token ids.
        `temperature` divides the logits, and 0 takes the most probable token; of the `top_k` most probable tokens alone one is drawn.
        `length` is the most tokens of each, the prompt's among them; if None, those of the run's samples.

        Raises:
            ValueError: The model does not answer with the next token, or the prompt does not suit it.
        """
        return generated(self._model, prompt, count, temperature, top_k, seed, length)

    def attribute(self, samples: Samples, logit: int = 0) -> NDArray[np.float32]:
        """Integrated gradients: what each position adds to a logit. `[sample, position]`

        The baseline is zero: a vector of zeros at each position of the first block's input (Sundararajan, Taly and Yan 2017).
        """
        one_answer(self._model)
        values: NDArray[np.float32] = self._model.attribute(self.tokens(samples), index(logit, "logit")).sum(axis=2)
        return values

    def qk(self, layer: int, head: int) -> NDArray[np.float32]:
        """`W_Q W_K^T`: what a head looks for. `[d_model, d_model]`: of the query's vector, of the key's.

        As TransformerLens's `QK`, it has neither the factor of the scores (1 / sqrt(d_head)), nor biases, nor a norm, nor the
        rotation of rotary positions. Without projections, it is the identity on the head's part of the vector.

        Raises:
            ValueError: The model has no such layer or head.
        """
        query, key = (self._head(name, layer, head) for name in ("query", "key"))
        return (query @ key.T).astype(np.float32)

    def ov(self, layer: int, head: int) -> NDArray[np.float32]:
        """`W_V W_O`: what a head adds of what it looks at. `[d_model, d_model]`: of the key's vector, of what is added.

        As TransformerLens's `OV`, it has neither biases nor a norm.

        Raises:
            ValueError: The model has no such layer or head.
        """
        value, output = (self._head(name, layer, head) for name in ("value", "output"))
        return (value @ output).astype(np.float32)

    def _head(self, name: str, layer: int, head: int) -> NDArray[np.float64]:
        return head_matrix(self._model, name, index(layer, "layer"), index(head, "head"))

    def explain(self, sample: Samples) -> Explanation:
        """Which words decided: the prediction without each word, and integrated gradients, beside attention.

        Args:
            sample: A text, or the token ids of one sample.

        Raises:
            ValueError: There is more than one sample, or it does not suit the model.
        """
        if isinstance(sample, Sequence) and len(sample) == 1 and isinstance(sample[0], str):
            sample = sample[0]
        tokens = self.tokens(sample)
        if len(tokens) != 1:
            raise ValueError(f"explain() takes one sample, and {len(tokens)} were given; call it for each of them")
        return explanation(*_headlight.explain(self._model, tokens, sample if isinstance(sample, str) else None))

    def certify(self, examples: int = 10, progress: bool | None = None) -> Certificate:
        """How the model answers all possible inputs: an exact count, and so many `examples` of each label with the smallest margins.

        Raises:
            ValueError: The model has more than one block or reads the mean of all positions, its config has no rule that gives every
                input a label, or the count would take more than an hour; `certify_sample` estimates the share of wrong answers.
        """
        return certificate(self._model, examples, progress)

    def certify_sample(self, count: int, seed: int = 0, progress: bool | None = None) -> Sampled:
        """How the model answers `count` random inputs, with an interval for the share of all inputs that it answers wrongly.

        Raises:
            ValueError: The config has no rule that gives every input a label.
        """
        return sampled(self._model, count, seed, progress)

    def to_torch(self) -> dict[str, Any]:
        """The weights as PyTorch tensors, by name."""
        torch = needed("torch", "torch", "Model.to_torch")
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


def _joined(samples: Any) -> tuple[NDArray[Any], list[int]]:
    """The token ids of all samples, one after the other, and the length of each: those of a list may differ."""
    if isinstance(samples, (list, tuple)) and len({len(own) for own in samples if hasattr(own, "__len__")}) > 1:
        rows = [array(own, f"sample {number}") for number, own in enumerate(samples)]
        other = next((own.shape for own in rows if own.ndim != 1), None)
        tokens = np.concatenate([own for own in rows if own.size]) if other is None else rows[0]
    else:
        tokens = array(samples, "tokens")
        rows = [tokens] if tokens.ndim == 1 and tokens.size else list(tokens) if tokens.ndim else []
        other = tokens.shape if tokens.ndim not in (1, 2) else None
    if other is not None:
        raise ValueError(f"tokens must have the axes [sample, token]; these have the shape {other}")
    return tokens.ravel(), [len(own) for own in rows]


class Output(Changeable):
    """What a model computes for samples. Arrays are computed when they are asked for, from a copy of the samples: what
    changes later, the arrays of this output among it, changes no other result.

    Attributes:
        tokens: the samples, which cannot be changed. `[sample, position]`, `[CLS]` among them.
        logits: log-odds of class 1 `[sample]`, or a logit for each class `[sample, class]`. Of a model that answers at each
            position, `[sample, position]` or `[sample, position, class]`.
        probabilities: with the shape of `logits`.
        scores: before the softmax. `[sample, layer, head, query, key]`
        weights: after it. `[sample, layer, head, query, key]`
        query, key, value, context: `[sample, layer, head, position, d_head]`
        embeddings: the first block's input. `[sample, position, d_model]`
        residual, output: of each block. `[sample, layer, position, d_model]`
        feed_forward_hidden: `[sample, layer, position, d_ff]`
        feed_forward_residual: `[sample, layer, position, d_model]`
        mask: whether a query may look at a key; with padding or a mask only. `[sample, query, key]`
    """

    logits: NDArray[np.float32]
    probabilities: NDArray[np.float32]
    scores: NDArray[np.float32]
    weights: NDArray[np.float32]
    query: NDArray[np.float32]
    key: NDArray[np.float32]
    value: NDArray[np.float32]
    context: NDArray[np.float32]
    embeddings: NDArray[np.float32]
    residual: NDArray[np.float32]
    output: NDArray[np.float32]
    feed_forward_hidden: NDArray[np.float32]
    feed_forward_residual: NDArray[np.float32]
    mask: NDArray[np.bool_]

    _names = {"scores": "attention_scores", "weights": "attention_weights", "mask": "attention_mask"}

    def __init__(self, model: _headlight.Model, tokens: NDArray[np.uint32], changes: list[Change]) -> None:
        self._model = model
        self._changes = changes
        # Bytes never change: their array cannot be made writable, as a copy could.
        self._tokens: NDArray[np.uint32] = np.frombuffer(tokens.tobytes(), dtype=np.uint32).reshape(tokens.shape)
        self._all = False
        # Attention of many samples takes much memory: only if it is asked for.
        self._arrays = model.forward(self._tokens, changes, "predictions")
        # The caller gets copies, and can change them.
        self._given: dict[str, NDArray[Any]] = {}
        self._layers: int = model.structure()["n_layers"]

    @property
    def tokens(self) -> NDArray[np.uint32]:
        """The samples, which cannot be changed. `[sample, position]`"""
        return self._tokens

    # Type checkers know the arrays by the names above, and refuse others.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]:
            if name.startswith("_"):
                raise AttributeError(name)
            stored = self._names.get(name, name)
            if stored not in self._given:
                self._given[stored] = self._computed(name).copy()
            return self._given[stored]

    def _computed(self, name: str) -> NDArray[Any]:
        """An array as the model computed it."""
        stored = self._names.get(name, name)
        if stored not in self._arrays and not self._all:
            is_all = stored not in ("attention_scores", "attention_weights")
            # Other threads may ask meanwhile: nothing is taken away.
            self._arrays.update(self._model.forward(self._tokens, self._changes, "all" if is_all else "attention"))
            self._all = self._all or is_all
        if stored == "attention_mask" and stored not in self._arrays:
            raise AttributeError("this output has no `mask`: without padding and a mask, every query may look at every key")
        if stored not in self._arrays:
            known = sorted({*self._arrays, *(own for own, other in self._names.items() if other in self._arrays)})
            raise AttributeError(f"an output has no `{name}`; it has {', '.join(known)}")
        return self._arrays[stored]

    def __dir__(self) -> list[str]:
        short = {stored: name for name, stored in self._names.items()}
        return sorted([*super().__dir__(), *(short.get(name, name) for name in self._model.array_names())])

    @property
    def cache(self) -> Cache:
        """All arrays by name: those above, and activations by the names of TransformerLens."""
        return Cache(self)

    def logit_attribution(self) -> dict[str, NDArray[np.float32]]:
        """What each part of the model adds to each logit (direct logit attribution). The parts add up to `logits`.

        Returns:
            For each part an array with the shape of `logits`, in the order of the stream: `embeddings`, the first block's input;
            `blocks.L.head.H`; `blocks.L.feed_forward`; biases by their names (that of the values is in what a head adds); of a
            changed output `patched.PLACE.L`, the vectors that `patched` put there. If the last block's output is normalised,
            each part has the scale of the whole, and `final_norm.beta` is a part.

        Raises:
            ValueError: The logits are no sum: the model has norms after the residual additions, or a classifier with a hidden
                layer.
        """
        return logit_attribution(self._model, self._tokens, self._changes)

    @property
    def predicted(self) -> NDArray[np.int64]:
        """The likeliest class of each sample. `[sample]`

        Raises:
            ValueError: A logit is NaN or infinite.
        """
        logits = finite_logits(self._computed("logits"))
        axes = 1 + int(self._model.structure()["per_position"])
        return (logits > 0 if logits.ndim == axes else logits.argmax(axis=-1)).astype(np.int64)

    @property
    def words(self) -> list[list[str]]:
        """The text of each token, as the page shows it: its word, or its number if the model has no words. `[sample][position]`"""
        return self._model.words(self._tokens)

    def _changed(self, changes: list[Change]) -> Output:
        return Output(self._model, self._tokens, [*self._changes, *changes])

    def __reduce__(self) -> tuple[Any, ...]:
        return _output, (Model(self._model), self._tokens, self._changes)

    def __repr__(self) -> str:
        changed = f", {len(self._changes)} changes" if self._changes else ""
        return f"<headlight.Output: {len(self)} samples{changed}>"

    def __len__(self) -> int:
        return len(self._tokens)


def _output(model: Model, tokens: NDArray[np.uint32], changes: list[Change]) -> Output:
    return Output(model._model, tokens, changes)
