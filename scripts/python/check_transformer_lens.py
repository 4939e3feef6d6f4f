"""Models of Headlight in TransformerLens: `Model.to_transformer_lens` gives a `HookedTransformer` with the same logits.

    python scripts/python/check_transformer_lens.py
    python scripts/python/check_transformer_lens.py --models 200 --seed 1

Draws random models with random weights of every kind that a `HookedTransformer` holds, and compares logits and attention
weights. Needs scripts/pytorch/requirements-lens.txt, and Headlight's module.
"""

import argparse
import collections
import sys
import warnings

import numpy as np
import torch
from transformer_lens import HookedTransformer, HookedTransformerConfig

import headlight as hl

warnings.filterwarnings("ignore", category=DeprecationWarning)

# The largest difference, absolute, and relative above 1: the sums of both have other orders.
BOUND = 1e-5
# What TransformerLens makes itself.
BUFFERS = ("attn.mask", "attn.IGNORE", "attn.rotary_sin", "attn.rotary_cos")


def random_config(rng: np.random.Generator) -> dict:
    chance = lambda share: bool(rng.random() < share)
    one_of = lambda *values: values[int(rng.integers(len(values)))]
    n_heads, d_head = int(rng.integers(1, 4)), one_of(4, 6, 8)
    d_model = n_heads * d_head  # the norm of two or three numbers can amplify rounding by any factor
    attention = {"mask": one_of("none", "causal"), "scale": one_of(True, False, 0.3), "temperature": one_of(1.0, 0.7)}
    model = {
        "d_model": d_model,
        "n_heads": n_heads,
        "n_layers": int(rng.integers(1, 4)),
        "norm": one_of("pre", "pre", "none"),
        "positions": one_of("learned", "rotary", "rotary", "none", "sinusoidal", "first"),
        "pooling": one_of("last", "mean", 1),
        "classifier_bias": chance(0.7),
        "attention": attention,
    }
    if chance(0.3):
        model |= {"d_model": 7, "d_head": d_head}
    elif chance(0.4):
        attention |= one_of({"value_projection": False}, {"output_projection": False}, {"projections": "none"})
    if "projections" not in attention:
        attention["bias"] = chance(0.7)
    if "output_projection" not in attention:
        attention["output_bias"] = chance(0.7)
    if chance(0.7):
        model |= {"d_ff": int(rng.integers(1, 20)), "activation": one_of("relu", "gelu", "gelu-tanh", "silu")}
        model["feed_forward_bias"] = chance(0.7)
    if model["norm"] == "pre":
        model |= {"layer_norm_eps": one_of(1e-6, 1e-3), "norm_gain": chance(0.7), "norm_kind": one_of("layer", "layer", "rms")}
        model["norm_bias"] = model["norm_kind"] == "layer" and chance(0.6)
    if model["positions"] == "learned" and chance(0.5):
        model["positions_shared_from"] = 2
    data = {"vocab_size": 9, "seq_len": 5, "samples": 20, "cls": one_of("first", "last", "none"), "generator": "chacha"}
    data["rule"], data["n_classes"] = {"kind": "sum-mod", "positions": [1, 3], "modulus": 2}, 2
    if chance(0.5):
        data["n_classes"] = data["rule"]["modulus"] = one_of(3, 9)
        model["tied_embeddings"] = data["n_classes"] == 9 and chance(0.7)
    elif chance(0.5):
        model["logits"] = "per-class"
    return {"data": data, "model": model, "training": {"steps": 1, "batch_size": 20, "optimizer": "adamw"}}


def random_model(config: dict, rng: np.random.Generator) -> hl.Model:
    fitted = hl.fit(config)
    weights = {
        # Small enough for values of the size of 1, whatever the width.
        name: rng.normal(name.endswith("gamma"), 0.5 if values.ndim == 1 else len(values) ** -0.5, values.shape)
        for name, values in fitted.weights.items()
    }
    return hl.Model.from_weights(fitted.config, weights)


@torch.no_grad()
def differences(model: hl.Model, tokens: np.ndarray) -> tuple[float, float]:
    """The largest of logits, and of attention weights."""
    cfg, state = model.to_transformer_lens()
    hooked = HookedTransformer(HookedTransformerConfig(**cfg, device="cpu"))
    keys = hooked.load_state_dict({name: torch.from_numpy(values) for name, values in state.items()}, strict=False)
    assert not keys.unexpected_keys, keys.unexpected_keys
    assert all(name.endswith(BUFFERS) for name in keys.missing_keys), keys.missing_keys
    out = model(tokens)
    logits, cache = hooked.run_with_cache(torch.from_numpy(out.tokens.astype(np.int64)))
    config = model.config
    pooling = config["model"].get("pooling")
    theirs = (logits.mean(1) if pooling == "mean" else logits[:, -1 if pooling == "last" else pooling]).numpy()
    if out.logits.ndim == 1:
        assert not theirs[:, 0].any()
        theirs = theirs[:, 1]
    size = max(1.0, np.abs(out.logits).max())
    patterns = np.stack([cache["pattern", layer].numpy() for layer in range(config["model"]["n_layers"])], axis=1)
    return float(np.abs(theirs - out.logits).max() / size), float(np.abs(patterns - out.weights).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=60, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of configs and weights; default: 0")
    args = parser.parse_args()
    torch.set_num_threads(1)
    found, kinds = [], collections.Counter()
    for number in range(args.models):
        rng = np.random.default_rng([args.seed, number])
        config = random_config(rng)
        model = random_model(config, rng)
        first = 0 if config["data"]["cls"] == "none" else 1
        found.append(differences(model, rng.integers(first, 9, size=(40, 5))))
        own = config["model"]
        kinds.update([f'norm = "{own["norm"]}"', f'positions = "{own["positions"]}"', own.get("activation", "no feed-forward layer")])
        kinds.update([f"{own['attention']['mask']} mask", f"{own.get('norm_kind', 'no')} norm"])
        if not max(found[-1]) <= BOUND:
            print(f"model {number}: logits differ by {found[-1][0]:.1e}, weights by {found[-1][1]:.1e}: {config}")
    logits, weights = (max(column) for column in zip(*found))
    print(", ".join(f"{name} {count}" for name, count in sorted(kinds.items())))
    print(f"{len(found)} models: logits differ by at most {logits:.1e}, attention weights by {weights:.1e}")
    sys.exit(0 if max(logits, weights) <= BOUND else 1)


if __name__ == "__main__":
    main()
