"""`Model.to_transformer_lens`, beside the definition of TransformerLens's `HookedTransformer` in NumPy.

scripts/python/check_transformer_lens.py does the same with TransformerLens itself.
"""

import math

import headlight as hl
import numpy as np
import pytest

TOKENS = np.array([[3, 9, 14, 2, 7, 5], [14, 2, 1, 1, 9, 3], [8, 8, 2, 14, 14, 1]])

# Models of every kind that it holds: changes of the section [model].
MODELS = {
    "pre": {"d_ff": 12, "n_layers": 2, "n_heads": 2, "norm": "pre", "activation": "gelu-tanh"},
    "pre without gain and bias": {"d_ff": 5, "norm": "pre", "norm_gain": False, "norm_bias": False, "activation": "silu"},
    "pre without gain": {"norm": "pre", "norm_gain": False, "logits": "per-class"},
    "RMS": {"d_ff": 5, "norm": "pre", "norm_kind": "rms", "layer_norm_eps": 1e-3},
    "RMS without gain": {"norm": "pre", "norm_kind": "rms", "norm_gain": False},
    "no norm": {"d_ff": 12, "n_layers": 2, "n_heads": 2, "norm": "none", "feed_forward_bias": False, "classifier_bias": False},
    "rotary": {"n_heads": 2, "n_layers": 2, "norm": "none", "positions": "rotary", "attention": {"mask": "causal"}, "pooling": "last"},
    "shared positions": {"norm": "none", "positions_shared_from": 2},
    "sinusoidal": {"norm": "none", "positions": "sinusoidal", "attention": {"bias": False, "output_bias": False}},
    "the first position": {"norm": "none", "positions": "first", "pooling": "mean"},
    "no positions": {"norm": "none", "positions": "none", "attention": {"scale": 0.3, "temperature": 2.0}},
    "wide heads": {"n_heads": 3, "d_head": 4, "norm": "none", "attention": {"scale": False}, "pooling": 2},
    "no projections": {"n_heads": 2, "norm": "none", "attention": {"projections": "none", "output_projection": False}},
    "no value projection": {"n_heads": 2, "norm": "pre", "attention": {"value_projection": False}},
}


def random_model(model, config="quick"):
    fitted = hl.fit(config, model=model, training={"steps": 1})
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(0, 0.5, values.shape) for name, values in fitted.weights.items()}
    return hl.Model.from_weights(fitted.config, weights)


def softmax(scores):
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu_new": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def hooked(cfg, state, tokens):
    """The logits of a `HookedTransformer`. `[sample, position, class]`"""

    def norm(x, name):
        kind = cfg["normalization_type"]
        if kind is None:
            return x
        if kind.startswith("LN"):
            x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + cfg["eps"])
        return x if kind.endswith("Pre") else x * state[f"{name}.w"] + state.get(f"{name}.b", 0)

    def rotated(x):
        """GPT-NeoX's pairs: a component and that half a head further. [sample, position, head, d_head]"""
        half = cfg["rotary_dim"] // 2
        angles = np.arange(x.shape[1])[:, None] / cfg["rotary_base"] ** (np.arange(half) / half)
        turn = np.exp(1j * angles)[:, None]
        pairs = (x[..., :half] + 1j * x[..., half:]) * turn
        return np.concatenate([pairs.real, pairs.imag], -1)

    x = state["embed.W_E"][tokens].astype(np.float64)
    is_rotary = cfg["positional_embedding_type"] == "rotary"
    if not is_rotary:
        x = x + state["pos_embed.W_pos"][: tokens.shape[1]]
    for layer in range(cfg["n_layers"]):
        own = {name.removeprefix(f"blocks.{layer}."): values for name, values in state.items() if name.startswith(f"blocks.{layer}.")}
        read = norm(x, f"blocks.{layer}.ln1")
        q, k, v = (np.einsum("spd,hde->sphe", read, own[f"attn.W_{part}"]) + own[f"attn.b_{part}"] for part in "QKV")
        if is_rotary:
            q, k = rotated(q), rotated(k)
        scores = np.einsum("sqhe,skhe->shqk", q, k) / cfg["attn_scale"]
        if cfg["attention_dir"] == "causal":
            scores = np.where(np.tri(tokens.shape[1], dtype=bool), scores, -np.inf)
        z = np.einsum("shqk,skhe->sqhe", softmax(scores), v)
        x = x + np.einsum("sqhe,hed->sqd", z, own["attn.W_O"]) + own["attn.b_O"]
        if not cfg["attn_only"]:
            hidden = norm(x, f"blocks.{layer}.ln2") @ own["mlp.W_in"] + own["mlp.b_in"]
            assert hidden.shape[-1] == cfg["d_mlp"]
            x = x + ACTIVATIONS[cfg["act_fn"]](hidden) @ own["mlp.W_out"] + own["mlp.b_out"]
    return norm(x, "ln_final") @ state["unembed.W_U"] + state["unembed.b_U"]


@pytest.mark.parametrize("name", MODELS)
def test_a_hooked_transformer_has_the_same_logits(name):
    model = random_model(MODELS[name])
    cfg, state = model.to_transformer_lens()
    assert all(values.dtype == np.float32 and values.flags.c_contiguous for values in state.values())
    assert cfg["n_ctx"] == 7 and cfg["d_vocab"] == len(state["embed.W_E"]) and cfg["d_vocab_out"] == 2
    out = model(TOKENS)
    logits = hooked(cfg, state, out.tokens)
    pooling = MODELS[name].get("pooling", 0)
    own = logits.mean(1) if pooling == "mean" else logits[:, -1 if pooling == "last" else pooling]
    if out.logits.ndim == 1:
        assert not own[:, 0].any()
        own = own[:, 1]
    np.testing.assert_allclose(own, out.logits, rtol=1e-5, atol=1e-5)


def test_classes_that_are_tokens_keep_their_matrix():
    rule = {"kind": "sum-mod", "positions": [1, 2], "modulus": 15}
    data = {"rule": rule, "vocab_size": 15, "n_classes": 15, "seq_len": 6, "samples": 20}
    config = {"data": data, "model": {"d_model": 8}, "training": {"epochs": 1, "token_second_moment": "per-token"}}
    model = random_model({"norm": "none", "tied_embeddings": True}, config)
    cfg, state = model.to_transformer_lens()
    np.testing.assert_array_equal(state["unembed.W_U"], state["embed.W_E"].T)
    np.testing.assert_allclose(hooked(cfg, state, model(TOKENS).tokens)[:, 0], model(TOKENS).logits, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "key, model",
    [
        ('norm = "post"', {}),
        ("final_norm = false", {"norm": "pre", "final_norm": False}),
        ("final_norm = true", {"norm": "none", "final_norm": True}),
        ("embedding_norm = true", {"norm": "pre", "embedding_norm": True}),
        ("norm_bias = true", {"norm": "pre", "norm_kind": "rms", "norm_bias": True}),
        ("classifier_hidden = 3", {"norm": "pre", "classifier_hidden": 3}),
        ('attention.projections = "shared"', {"norm": "none", "attention": {"projections": "shared"}}),
        ("attention.rate = 0.5", {"norm": "none", "attention": {"rate": 0.5}}),
        ("attention.log_length = true", {"norm": "none", "attention": {"log_length": True}}),
        ("attention.softmax = false", {"norm": "none", "attention": {"softmax": False}}),
        ("attention.mask", {"norm": "none", "attention": {"mask": [[1] * 7] * 7}}),
        ("attention.padding_token = 1", {"norm": "none", "attention": {"padding_token": 1}}),
        ("attention.scale = -1", {"norm": "none", "attention": {"scale": -2.0, "temperature": 2.0}}),
    ],
)
def test_what_it_does_not_hold_is_refused_by_name(key, model):
    with pytest.raises(ValueError, match="a HookedTransformer cannot hold this model") as error:
        random_model(model).to_transformer_lens()
    assert f"model.{key}:" in str(error.value)
