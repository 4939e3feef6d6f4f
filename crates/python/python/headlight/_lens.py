"""A model as a `HookedTransformer` of TransformerLens: its config and its weights."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _headlight
from ._circuits import head_matrix

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu-tanh": "gelu_new", "silu": "silu"}
Weights = dict[str, NDArray[np.float32]]


def hooked(model: _headlight.Model) -> tuple[dict[str, Any], Weights]:
    """The keyword arguments of `HookedTransformerConfig`, and the state dict; see `Model.to_transformer_lens`.

    Raises:
        ValueError: A `HookedTransformer` cannot hold the model; the message names the key of the config.
    """
    config = json.loads(model.config().json())
    parts = model.structure()
    weights = model.parameters()
    refuse(config["model"], parts)
    state = _outside(model, config, parts, weights)
    for layer in range(parts["n_layers"]):
        state |= _block(model, parts, weights, layer)
    arrays = {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in state.items()}
    return _config(config, parts, arrays), arrays


def refuse(model: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
    """Refuses what a `HookedTransformer` does not have.

    Raises:
        ValueError: The model has it.
    """
    attention, norm = model.get("attention", {}), parts["norm"]
    mask = attention.get("mask", "none")
    wrong = {
        'norm = "post"': norm == "post" and "its norms stand before attention and the feed-forward layer",
        "final_norm = false": norm == "pre" and not parts["final_norm"] and "with norms in its blocks it has one after the last block",
        "final_norm = true": norm == "none" and parts["final_norm"] and "without norms in its blocks it has none after the last block",
        "embedding_norm = true": model.get("embedding_norm", False) and "it has no norm of tokens and positions",
        "norm_bias = true": norm != "none" and parts["rms"] and model.get("norm_bias", False) and "its RMS norms have no bias",
        f"classifier_hidden = {parts['classifier_hidden']}": parts["classifier_hidden"] and "its logits are linear in the stream",
        'attention.projections = "shared"': attention.get("projections") == "shared" and "it has a projection each for queries, keys and values",
        f"attention.rate = {attention.get('rate')}": attention.get("rate", 1.0) != 1.0 and "its weights are a softmax",
        "attention.log_length = true": attention.get("log_length", False) and "its scores do not depend on the number of keys",
        "attention.softmax = false": not parts["softmax"] and "its weights are a softmax",
        "attention.mask": not isinstance(mask, str) and "it has no masks but the causal one",
        f"attention.padding_token = {parts['padding_token']}": parts["padding_token"] is not None and "its config has no padding",
        # It takes -1 for a scale that is not set.
        "attention.scale = -1": _divisor(attention, parts) == -1 and "it cannot divide scores by -1",
    }
    for key, reason in wrong.items():
        if reason:
            raise ValueError(f"a HookedTransformer cannot hold this model, because of model.{key}: {reason}")


def _divisor(attention: Mapping[str, Any], parts: Mapping[str, Any]) -> float:
    """What the products of queries and keys are divided by."""
    scale, temperature = attention.get("scale", True), float(attention.get("temperature", 1.0))
    if isinstance(scale, bool):
        return temperature * math.sqrt(parts["d_head"]) if scale else temperature
    return temperature / scale if scale else math.inf


def _config(config: Mapping[str, Any], parts: Mapping[str, Any], state: Weights) -> dict[str, Any]:
    own = config["model"]
    attention, d_ff = own.get("attention", {}), parts["d_ff"]
    kind = None
    if parts["norm"] == "pre":
        kind = "RMS" if parts["rms"] else "LN"
        kind += "" if "ln_final.w" in state else "Pre"
    vocab_size, logits = len(state["embed.W_E"]), state["unembed.W_U"].shape[1]
    return {
        "d_model": parts["d_model"],
        "n_heads": parts["n_heads"],
        "d_head": parts["d_head"],
        "n_layers": parts["n_layers"],
        "n_ctx": _positions(config["data"]),
        "d_vocab": vocab_size,
        "d_vocab_out": logits,
        "attn_only": d_ff == 0,
        **({"d_mlp": d_ff, "act_fn": ACTIVATIONS[own.get("activation", "relu")]} if d_ff else {}),
        "normalization_type": kind,
        "eps": parts["eps"],
        "attention_dir": "causal" if attention.get("mask") == "causal" else "bidirectional",
        "attn_scale": _divisor(attention, parts),
        "positional_embedding_type": "rotary" if parts["rotary"] else "standard",
        **({"rotary_dim": parts["d_head"], "rotary_adjacent_pairs": False, "rotary_base": 10_000} if parts["rotary"] else {}),
        "init_weights": False,
    }


def _positions(data: Mapping[str, Any]) -> int:
    """Positions of a sample, that of `[CLS]` among them."""
    return int(data["seq_len"]) + int(data.get("cls", "first") != "none")


def _outside(model: _headlight.Model, config: Mapping[str, Any], parts: Mapping[str, Any], weights: Weights) -> Weights:
    """The weights that are in no block."""
    tokens = weights["token_embedding"]
    classifier = weights.get("classifier.weight", tokens.T)
    bias = weights.get("classifier.bias", np.zeros(classifier.shape[1], dtype=np.float32))
    if classifier.shape[1] == 1:
        # The log-odds of class 1 are the logits of both classes, but for a constant.
        classifier, bias = np.pad(classifier, ((0, 0), (1, 0))), np.pad(bias, (1, 0))
    state = {"embed.W_E": tokens, "unembed.W_U": classifier, "unembed.b_U": bias}
    if not parts["rotary"]:
        # What the model adds to tokens, whether it is learned or not: its input where the tokens are zero.
        without = _headlight.Model(model.config(), [(name, values * (name != "token_embedding")) for name, values in weights.items()])
        seq_len = int(config["data"]["seq_len"])
        sample = without.arrange(np.full(seq_len, len(tokens) - 1, dtype=np.uint32), [seq_len])
        state["pos_embed.W_pos"] = without.forward(sample, [], True)["embeddings"][0]
    if parts["norm"] == "pre":
        state |= _norm(parts, weights, "final_norm", "ln_final")
    return state


def _norm(parts: Mapping[str, Any], weights: Weights, ours: str, theirs: str) -> Weights:
    """Gain and bias of a norm; nothing if it has neither."""
    gain, bias = weights.get(f"{ours}.gamma"), weights.get(f"{ours}.beta")
    if gain is None and bias is None:
        return {}
    width = parts["d_model"]
    state = {f"{theirs}.w": np.ones(width, dtype=np.float32) if gain is None else gain}
    if not parts["rms"]:
        state[f"{theirs}.b"] = np.zeros(width, dtype=np.float32) if bias is None else bias
    return state


def _block(model: _headlight.Model, parts: Mapping[str, Any], weights: Weights, layer: int) -> Weights:
    ours = theirs = f"blocks.{layer}"
    heads, d_head, d_model = parts["n_heads"], parts["d_head"], parts["d_model"]

    def bias(name: str, width: int) -> NDArray[np.float32]:
        return weights.get(f"{ours}.{name}.bias", np.zeros(width, dtype=np.float32))

    state: Weights = {}
    for name, letter in (("query", "Q"), ("key", "K"), ("value", "V"), ("output", "O")):
        own = [head_matrix(model, name, layer, head) for head in range(heads)]
        state[f"{theirs}.attn.W_{letter}"] = np.stack(own).astype(np.float32)
        if name != "output":
            state[f"{theirs}.attn.b_{letter}"] = bias(f"attention.{name}", heads * d_head).reshape(heads, d_head)
    state[f"{theirs}.attn.b_O"] = bias("attention.output", d_model)
    if parts["d_ff"]:
        for name, part, width in (("hidden", "in", parts["d_ff"]), ("output", "out", d_model)):
            state[f"{theirs}.mlp.W_{part}"] = weights[f"{ours}.feed_forward.{name}.weight"]
            state[f"{theirs}.mlp.b_{part}"] = bias(f"feed_forward.{name}", width)
    if parts["norm"] == "pre":
        state |= _norm(parts, weights, f"{ours}.norm", f"{theirs}.ln1")
        if parts["d_ff"]:
            state |= _norm(parts, weights, f"{ours}.feed_forward.norm", f"{theirs}.ln2")
    return state
