"""The cache by TransformerLens's names, the matrices of heads, and direct logit attribution: each against its definition."""

import pickle
import re
from pathlib import Path

import headlight as hl
import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:samples hold token")
TOKENS = np.array([[3, 9, 14, 2, 7, 5], [14, 2, 1, 1, 9, 3], [8, 8, 2, 14, 14, 1]])

# Models of every kind of part: changes of the section [model].
MODELS = {
    "notebook": {},
    "post": {"d_ff": 12, "n_layers": 2, "n_heads": 2},
    "post without feed-forward": {"n_layers": 2, "n_heads": 2},
    "pre": {"d_ff": 12, "n_layers": 2, "n_heads": 2, "norm": "pre"},
    "pre with RMS": {"d_ff": 12, "n_heads": 2, "norm": "pre", "norm_kind": "rms", "norm_gain": False, "activation": "gelu"},
    "pre without the last norm": {"d_ff": 12, "n_layers": 2, "norm": "pre", "final_norm": False},
    "pre without feed-forward": {"n_layers": 3, "n_heads": 4, "norm": "pre", "embedding_norm": True},
    "no norm": {"d_ff": 12, "n_layers": 2, "n_heads": 2, "norm": "none"},
    "no norm but the last": {"n_layers": 2, "norm": "none", "final_norm": True, "norm_bias": False, "pooling": 2},
    "mean": {"d_ff": 12, "n_layers": 2, "norm": "pre", "pooling": "mean", "attention": {"padding_token": 1}},
    "rotary": {"n_heads": 2, "n_layers": 2, "norm": "none", "positions": "rotary", "attention": {"mask": "causal"}, "pooling": "last"},
    "wide heads": {"n_heads": 3, "d_head": 4, "norm": "none", "d_ff": 5, "positions": "sinusoidal"},
    "shared": {"n_heads": 2, "norm": "none", "attention": {"projections": "shared"}},
    "no projections": {"n_heads": 2, "norm": "none", "attention": {"projections": "none", "output_projection": False}},
    "no value projection": {"n_heads": 2, "norm": "pre", "attention": {"value_projection": False, "padding_token": 1}},
    "no biases": {
        "n_heads": 2,
        "n_layers": 2,
        "norm": "none",
        "d_ff": 6,
        "feed_forward_bias": False,
        "classifier_bias": False,
        "attention": {"bias": False, "output_bias": False},
    },
    "no softmax": {"norm": "none", "attention": {"softmax": False}},
    "two logits": {"norm": "pre", "logits": "per-class", "positions_shared_from": 3},
}
SUMS = [name for name, model in MODELS.items() if model.get("norm", "post") != "post"]


def random_model(sections, config="quick", seed=0):
    """A model with random weights: those of training are too close to their start to tell parts apart."""
    fitted = hl.fit(config, **{"training": {"steps": 1}, **sections})
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(0, 0.5, values.shape) for name, values in fitted.weights.items()}
    return hl.Model.from_weights(fitted.config, weights)


@pytest.fixture(scope="module")
def models():
    made = {}

    def get(name):
        if name not in made:
            made[name] = random_model({"model": MODELS[name]})
        return made[name]

    return get


def normalised(model, values, name):
    """Layer norm in float64."""
    weights, config = model.weights, model.config["model"]
    centred = values - values.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"]) * weights[f"{name}.gamma"] + weights[f"{name}.beta"]


@pytest.mark.parametrize("name", MODELS)
def test_the_cache_has_what_transformer_lens_means(models, name):
    model = models(name)
    out, weights, parts = model(TOKENS), model.weights, MODELS[name]
    cache = out.cache
    # Every name has an array, and no other name has one.
    found = {own: cache[own] for own in cache}
    assert len(found) == len(cache) == len(list(cache)) and all(own in cache for own in cache)
    for own in out.__dir__():
        if own in hl.Output.__annotations__:
            assert found[own] is getattr(out, own), own
    assert found["attention_scores"] is out.scores
    samples, positions = out.tokens.shape
    stream = out.embeddings
    if "position_embedding" in weights and "embedding_norm" not in parts:
        np.testing.assert_allclose(found["hook_embed"] + found["hook_pos_embed"], stream, atol=1e-6)
    assert ("hook_pos_embed" in found) == ("position_embedding" in weights)
    assert found["hook_embed"].shape == stream.shape
    norm, d_ff = parts.get("norm", "post"), parts.get("d_ff", 0)
    n_heads, d_head = out.query.shape[2], out.query.shape[4]
    for layer in range(out.scores.shape[1]):
        of = {own.removeprefix(f"blocks.{layer}."): values for own, values in found.items() if own.startswith(f"blocks.{layer}.")}
        rotated = "rot_" if name == "rotary" else ""
        query, key, value, z = (of[f"attn.hook_{own}"] for own in (f"{rotated}q", f"{rotated}k", "v", "z"))
        assert query.shape == (samples, positions, n_heads, d_head)
        np.testing.assert_array_equal(of["hook_resid_pre"], stream)
        # [batch, head, query, key], and -inf where nothing may be seen.
        scores = np.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(d_head)
        pattern = of["attn.hook_pattern"]
        if name == "no softmax":
            assert "attn.hook_attn_scores" not in of
            np.testing.assert_allclose(pattern, scores, atol=1e-4)
        else:
            seen = np.isfinite(of["attn.hook_attn_scores"])
            np.testing.assert_allclose(of["attn.hook_attn_scores"][seen], scores[seen], atol=1e-4)
            shares = np.exp(of["attn.hook_attn_scores"] - of["attn.hook_attn_scores"].max(-1, keepdims=True))
            np.testing.assert_allclose(pattern, shares / shares.sum(-1, keepdims=True), atol=1e-5)
            expected = np.ones((samples, 1, positions, positions), dtype=bool)
            if name == "rotary":
                expected = expected & np.tri(positions, dtype=bool)
            if parts.get("attention", {}).get("padding_token"):
                expected = expected & (out.tokens != 1)[:, None, None, :]
            np.testing.assert_array_equal(seen, np.broadcast_to(expected, seen.shape))
        np.testing.assert_allclose(z, np.einsum("bhqk,bkhd->bqhd", pattern, value), atol=1e-4)
        # The stream after attention, and after the feed-forward layer.
        block = f"blocks.{layer}"
        added = z.reshape(samples, positions, -1) @ weights.get(f"{block}.attention.output.weight", np.eye(8))
        middle = stream + added + weights.get(f"{block}.attention.output.bias", 0)
        last = middle
        if norm == "post" or d_ff:
            np.testing.assert_allclose(of["hook_resid_mid"], middle, atol=1e-4)
        else:
            assert "hook_resid_mid" not in of
        if d_ff:
            before = normalised(model, middle, f"{block}.norm") if norm == "post" else middle
            last = before + of["mlp.hook_post"] @ weights[f"{block}.feed_forward.output.weight"]
            last = last + weights.get(f"{block}.feed_forward.output.bias", 0)
        else:
            assert "mlp.hook_post" not in of
        if norm == "post":
            own = f"{block}.feed_forward.norm" if d_ff else f"{block}.norm"
            np.testing.assert_allclose(of["hook_normalized_resid_post"], normalised(model, last, own), atol=1e-4)
            assert ("hook_resid_post" in of) == bool(d_ff)
        else:
            assert "hook_normalized_resid_post" not in of
        if "hook_resid_post" in of:
            np.testing.assert_allclose(of["hook_resid_post"], last, atol=1e-4)
        stream = out.output[:, layer]


def test_the_documents_name_every_activation(models):
    made = {own.replace("blocks.0.", "blocks.L.") for name in MODELS for own in models(name)(TOKENS).cache if "hook" in own and "blocks.1." not in own and "blocks.2." not in own}
    page = (Path(__file__).parents[3] / "docs/reference/python.md").read_text(encoding="utf-8")
    for text in (hl.Cache.__doc__ or "", page):
        rows = re.findall(r"^ *\| (`[^|]*hook_[^|]*) \|[^|]*\|(.*)\|$", text, re.MULTILINE)
        assert rows
        named = {own for row, _ in rows for own in re.findall(r"`([^`]+)`", row)}
        named |= {own for _, row in rows for own in re.findall(r"`(hook_\w+)`", row)}
        # Names after the first of a row are without the block.
        named = {own if own.startswith("blocks.") or own in made else f"blocks.L.attn.{own}" for own in named}
        assert named == made


def test_the_cache_is_of_the_output_with_its_changes(models):
    out = models("pre")(TOKENS)
    removed = out.without(key=3).without(head=(1, 0))
    for layer in range(2):
        scores = removed.cache[f"blocks.{layer}.attn.hook_attn_scores"]
        assert np.isneginf(scores[..., 3]).all() and np.isfinite(np.delete(scores, 3, axis=-1)).all()
        assert (removed.cache[f"blocks.{layer}.attn.hook_pattern"][..., 3] == 0).all()
    assert (removed.cache["blocks.1.attn.hook_z"][:, :, 0] == 0).all()
    assert (removed.cache["blocks.1.attn.hook_z"][:, :, 1] != 0).any()
    # In one block alone.
    one = out.without(key=(1, 2)).cache
    assert np.isfinite(one["blocks.0.attn.hook_attn_scores"]).all()
    assert np.isneginf(one["blocks.1.attn.hook_attn_scores"][..., 2]).all()


def test_a_cache_is_a_mapping_of_copies(models):
    out = models("pre")(TOKENS)
    cache = out.cache
    before = out.weights.copy()
    for name in cache:
        if name.startswith(("blocks.", "hook_")):
            cache[name][...] = 7
    np.testing.assert_array_equal(out.weights, before)
    np.testing.assert_array_equal(cache["blocks.0.attn.hook_pattern"], before[:, 0])
    assert "\n" not in repr(cache)
    again = pickle.loads(pickle.dumps(cache))
    assert list(again) == list(cache)
    np.testing.assert_array_equal(again["blocks.1.attn.hook_q"], cache["blocks.1.attn.hook_q"])
    for unknown in ("blocks.2.attn.hook_q", "hook_q", "blocks.0.ln1.hook_scale", 3):
        assert unknown not in cache and cache.get(unknown) is None
        with pytest.raises(KeyError) as raised:
            cache[unknown]
        message = str(raised.value)
        for own in cache:
            if not own.startswith("blocks.1."):
                assert own.replace("blocks.0.", "blocks.L.") in message
        assert "0 to 1" in message and str(unknown) in message


@pytest.mark.parametrize("name", ["pre", "shared", "no projections", "no value projection", "wide heads", "no biases"])
def test_circuits_are_products_of_projections(models, name):
    """Of any two vectors, QK is the product of query and key without biases; of any vector, OV is what the head adds."""
    model = models(name)
    out, weights = model(TOKENS), model.weights
    norm = MODELS[name]["norm"] == "pre"
    for layer in range(out.query.shape[1]):
        inputs = (out.embeddings if layer == 0 else out.output[:, layer - 1]).astype(np.float64)
        if norm:
            inputs = normalised(model, inputs, f"blocks.{layer}.norm")
        for head in range(out.query.shape[2]):
            columns = slice(head * out.query.shape[4], (head + 1) * out.query.shape[4])

            def without_bias(own):
                bias = weights.get(f"blocks.{layer}.attention.{own}.bias", weights.get(f"blocks.{layer}.attention.shared.bias"))
                values = getattr(out, own)[:, layer, head]
                return values if bias is None else values - bias[columns]

            qk, ov = model.qk(layer, head), model.ov(layer, head)
            assert qk.shape == ov.shape == (8, 8) and qk.dtype == ov.dtype == np.float32
            products = without_bias("query") @ without_bias("key").swapaxes(1, 2)
            np.testing.assert_allclose(inputs @ qk @ inputs.swapaxes(1, 2), products, atol=1e-3)
            output = weights.get(f"blocks.{layer}.attention.output.weight", np.eye(8))
            np.testing.assert_allclose(inputs @ ov, without_bias("value") @ output[columns], atol=1e-3)


def check_sum(out):
    found = out.logit_attribution()
    assert all(values.shape == out.logits.shape for values in found.values())
    total = np.sum(list(found.values()), axis=0)
    np.testing.assert_allclose(total, out.logits, atol=1e-4, rtol=1e-5)
    return found


@pytest.mark.parametrize("name", SUMS)
def test_what_parts_add_is_the_logit(models, name):
    model = models(name)
    out, parts = model(TOKENS), MODELS[name]
    found = check_sum(out)
    layers, heads = out.query.shape[1:3]
    expected = {"embeddings"}
    for layer in range(layers):
        expected |= {f"blocks.{layer}.head.{head}" for head in range(heads)}
        expected |= {f"blocks.{layer}.feed_forward"} if "d_ff" in parts else set()
    biases = {own for own in model.weights if own.endswith((".output.bias", "final_norm.beta", "classifier.bias"))}
    assert set(found) == expected | biases
    # Parts of the last block are read alone: without one, the logit lacks what it added, if no norm follows.
    if not (parts["norm"] == "pre" and parts.get("final_norm", True) or parts.get("final_norm")) and "d_ff" not in parts:
        last = layers - 1
        for head in range(heads):
            without = out.without(head=(last, head))
            np.testing.assert_allclose(out.logits - without.logits, found[f"blocks.{last}.head.{head}"], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["pre", "mean", "no norm", "rotary", "pre without feed-forward"])
def test_changed_outputs_add_up_too(models, name):
    model = models(name)
    out, other = model(TOKENS), model(TOKENS[::-1].copy())
    read = 6 if name == "rotary" else 0
    last = out.output.shape[1] - 1
    assert (check_sum(out.without(head=(0, 0)))["blocks.0.head.0"] == 0).all()
    check_sum(out.without(key=2))
    removed = check_sum(out.without(block=0))
    assert all((values == 0).all() for part, values in removed.items() if part.startswith("blocks.0."))
    for position in (read, 4):
        check_sum(out.patched("embeddings", position, other.embeddings[:, position]))
        check_sum(out.patched("context", position, other.context[:, 0, 0, position], head=0))
        residual = check_sum(out.patched("residual", position, other.residual[:, 0, position]))
        is_read = position == read or name == "mean"
        assert ("patched.residual.0" in residual) == is_read
        output = out.patched("output", position, other.output[:, last, position], layer=last)
        check_sum(output)
        # What is patched and then removed, and the other way round.
        check_sum(output.without(block=last))
        check_sum(out.without(block=last).patched("output", position, other.output[:, last, position], layer=last))
    if name != "mean":
        # After the last block, the vector that is read stands for all.
        final = check_sum(out.patched("output", read, other.output[:, last, read], layer=last))
        bias = {own: final[own] for own in ("final_norm.beta", "classifier.bias") if own in final}
        np.testing.assert_allclose(final[f"patched.output.{last}"] + sum(bias.values()), other.logits, atol=1e-4)
        assert all((values == 0).all() for own, values in final.items() if own not in bias and not own.startswith("patched"))


def test_tied_embeddings_add_up():
    data = {"vocab_size": 7, "samples": 25, "held_out": 24, "rule": {"kind": "sum-mod", "modulus": 7}}
    model = random_model({"data": data, "model": {"d_model": 8, "d_ff": 12, "tied_embeddings": True}, "training": {"steps": 1, "batch_size": 5, "warmup_steps": 0}}, "grokking")
    assert "classifier.weight" not in model.weights
    found = check_sum(model([[1, 2], [6, 0]]))
    assert found["embeddings"].shape == (2, 7)
