"""Checks attention with all its switches against PyTorch: several blocks and heads, feed-forward
layers, causal and other masks, padding, other scales and projections, [CLS] first or last, two and
more classes.

    python scripts/pytorch/check_pytorch_attention.py --headlight target/release/headlight
    python scripts/pytorch/check_pytorch_attention.py --headlight target/release/headlight --shapes 200 --seed 1

Each shape is a random model in PyTorch, made of `nn.MultiheadAttention`, `nn.LayerNorm` and `nn.Linear`,
in float64. `headlight dump` gets its weights and random samples, some of them padded. Blocks with a
feed-forward layer are also compared with `nn.TransformerEncoderLayer`. Weights are drawn so that scores
stay below about 10: above, a softmax in float32 is itself off by more than 1e-6. Prints the largest
differences, absolute, and relative above 1.
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile

import numpy as np
import safetensors.numpy
import torch
import torch.nn.functional as F
from torch import nn

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "configs" / "notebook.toml"
SAMPLES = 32
TOLERANCE = 1e-6
ARRAYS = [
    "attention_scores",
    "attention_weights",
    "context",
    "residual",
    "feed_forward_hidden",
    "feed_forward_residual",
    "output",
    "logits",
    "probabilities",
    "encoder_layer",
]


def random_case(generator: np.random.Generator) -> dict:
    n_heads = int(generator.choice([1, 2, 3, 4, 8]))
    least = -(-8 // n_heads)  # the norm of a few numbers can amplify rounding by any factor
    positions = int(generator.integers(2, 25))
    mask = str(generator.choice(["none", "causal", "matrix"]))
    cls = positions - 1 if generator.random() < 0.5 else 0
    if mask == "matrix":
        mask = generator.random((positions, positions)) < 0.5
        mask[:, cls] = True
    # Every row keeps a key: PyTorch returns NaN for rows without one.
    padded = bool(generator.random() < 0.5) and (
        cls == 0 or isinstance(mask, np.ndarray) or mask == "none"
    )
    return {
        "n_heads": n_heads,
        "d_model": n_heads * int(generator.integers(least, 13)),
        "n_layers": int(generator.integers(1, 4)),
        "d_ff": int(generator.choice([0, 1, 16, 33])),
        "vocab_size": int(generator.integers(3, 100)),
        "positions": positions,
        "cls": cls,
        "mask": mask,
        "padded": padded,
        "position_embedding": bool(generator.random() < 0.8),
        "projections": str(generator.choice(["separate", "shared", "none"])),
        "scale": [True, False, 0.3][int(generator.integers(3))],
        "temperature": float(generator.choice([1.0, 0.5, 3.0])),
        "n_classes": int(generator.integers(2, min(positions, 10) + 1)),
    }


def linear(generator: np.random.Generator, fan_in: int, fan_out: int) -> dict[str, np.ndarray]:
    """Weight [in, out], as Headlight stores it, and bias."""
    limit = math.sqrt(6 / (fan_in + fan_out))
    return {
        "weight": generator.uniform(-limit, limit, (fan_in, fan_out)).astype("float32"),
        "bias": generator.uniform(-0.2, 0.2, fan_out).astype("float32"),
    }


def norm(generator: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    return {
        "gamma": generator.uniform(0.2, 0.6, size).astype("float32"),
        "beta": generator.uniform(-0.2, 0.2, size).astype("float32"),
    }


def random_weights(case: dict, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """Parameters by Headlight's names."""
    d_model, d_ff = case["d_model"], case["d_ff"]
    parts = {}
    for layer in range(case["n_layers"]):
        block = f"blocks.{layer}"
        projections = {"separate": ["query", "key", "value"], "shared": ["shared"], "none": []}
        for name in projections[case["projections"]] + ["output"]:
            parts[f"{block}.attention.{name}"] = linear(generator, d_model, d_model)
        parts[f"{block}.norm"] = norm(generator, d_model)
        if d_ff:
            parts[f"{block}.feed_forward.hidden"] = linear(generator, d_model, d_ff)
            parts[f"{block}.feed_forward.output"] = linear(generator, d_ff, d_model)
            parts[f"{block}.feed_forward.norm"] = norm(generator, d_model)
    logits = 1 if case["n_classes"] == 2 else case["n_classes"]
    parts["classifier"] = linear(generator, d_model, logits)
    weights = {
        f"{part}.{name}": value for part, pair in parts.items() for name, value in pair.items()
    }
    weights["token_embedding"] = generator.normal(0, 0.25, (case["vocab_size"], d_model)).astype(
        "float32"
    )
    if case["position_embedding"]:
        shape = (case["positions"], d_model)
        weights["position_embedding"] = generator.normal(0, 0.25, shape).astype("float32")
    return weights


def random_tokens(case: dict, generator: np.random.Generator) -> tuple[np.ndarray, int]:
    """Samples [sample, position], and the token that pads them."""
    padding = case["vocab_size"] - 1
    tokens = generator.integers(1, padding, size=(SAMPLES, case["positions"]))
    if case["padded"]:
        for row in tokens:
            row[int(generator.integers(1, len(row) + 1)) :] = padding
    tokens[:, case["cls"]] = 0
    return tokens, padding


@torch.no_grad()
def expected(case: dict, weights: dict[str, np.ndarray], tokens: np.ndarray, padding: int) -> dict:
    """Arrays by their names in a dump, and the output of `nn.TransformerEncoderLayer`."""
    tensors = {name: torch.from_numpy(value).double() for name, value in weights.items()}
    d_model, n_heads = case["d_model"], case["n_heads"]
    d_head = d_model // n_heads
    scale = {True: 1 / math.sqrt(d_head), False: 1.0}.get(case["scale"], case["scale"])
    factor = scale / case["temperature"]
    ids = torch.from_numpy(tokens)
    positions = case["positions"]
    blocked = torch.zeros(positions, positions, dtype=bool)
    if isinstance(case["mask"], np.ndarray):
        blocked = torch.from_numpy(~case["mask"])
    elif case["mask"] == "causal":
        blocked = torch.triu(~blocked, 1)
    key_padding = (ids == padding) if case["padded"] else torch.zeros_like(ids, dtype=bool)

    stream = tensors["token_embedding"][ids]
    if case["position_embedding"]:
        stream = stream + tensors["position_embedding"]
    found = {name: [] for name in ARRAYS}
    for layer in range(case["n_layers"]):
        part = lambda name: tensors[f"blocks.{layer}.{name}"]

        def load_norm(module: nn.LayerNorm, name: str) -> nn.LayerNorm:
            module.weight.copy_(part(f"{name}.gamma"))
            module.bias.copy_(part(f"{name}.beta"))
            return module

        def load_linear(module: nn.Linear, name: str) -> nn.Linear:
            module.weight.copy_(part(f"{name}.weight").T)
            module.bias.copy_(part(f"{name}.bias"))
            return module

        def load_attention(module: nn.MultiheadAttention) -> nn.MultiheadAttention:
            for index, name in enumerate(["query", "key", "value"]):
                rows = slice(index * d_model, (index + 1) * d_model)
                if case["projections"] == "none":
                    weight, bias = torch.eye(d_model), torch.zeros(d_model)
                else:
                    name = "shared" if case["projections"] == "shared" else name
                    weight = part(f"attention.{name}.weight").T
                    bias = part(f"attention.{name}.bias")
                # PyTorch always divides by the root of d_head: the query takes the rest of the factor.
                rest = factor * math.sqrt(d_head) if index == 0 else 1.0
                module.in_proj_weight[rows] = weight * rest
                module.in_proj_bias[rows] = bias * rest
            load_linear(module.out_proj, "attention.output")
            return module

        attention = load_attention(nn.MultiheadAttention(d_model, n_heads, batch_first=True))
        attended, attention_weights = attention(
            stream,
            stream,
            stream,
            key_padding_mask=key_padding,
            attn_mask=blocked,
            average_attn_weights=False,
        )
        projected = F.linear(stream, attention.in_proj_weight, attention.in_proj_bias)
        query, key, value = (
            heads.unflatten(-1, (n_heads, -1)).transpose(1, 2)
            for heads in projected.chunk(3, dim=-1)
        )
        allowed = ~(blocked | key_padding[:, None, None, :])
        found["attention_scores"].append(query @ key.transpose(-2, -1) / math.sqrt(d_head))
        found["attention_weights"].append(attention_weights)
        found["context"].append(
            F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        )
        residual = stream + attended
        found["residual"].append(residual)
        normalized = load_norm(nn.LayerNorm(d_model, eps=1e-6), "norm")(residual)
        if not case["d_ff"]:
            stream = normalized
            found["output"].append(stream)
            continue
        hidden = F.relu(
            load_linear(nn.Linear(d_model, case["d_ff"]), "feed_forward.hidden")(normalized)
        )
        output = load_linear(nn.Linear(case["d_ff"], d_model), "feed_forward.output")(hidden)
        found["feed_forward_hidden"].append(hidden)
        found["feed_forward_residual"].append(normalized + output)
        whole = nn.TransformerEncoderLayer(
            d_model, n_heads, case["d_ff"], dropout=0.0, batch_first=True, layer_norm_eps=1e-6
        )
        load_attention(whole.self_attn)
        load_norm(whole.norm1, "norm")
        load_linear(whole.linear1, "feed_forward.hidden")
        load_linear(whole.linear2, "feed_forward.output")
        last_norm = load_norm(whole.norm2, "feed_forward.norm")
        encoder_layer = whole(stream, src_mask=blocked, src_key_padding_mask=key_padding)
        stream = last_norm(normalized + output)
        found["output"].append(stream)
        found["encoder_layer"].append(encoder_layer - stream)
    classifier = F.linear(
        stream[:, case["cls"]], tensors["classifier.weight"].T, tensors["classifier.bias"]
    )
    arrays = {name: torch.stack(layers, 1).numpy() for name, layers in found.items() if layers}
    if case["n_classes"] == 2:
        arrays["logits"] = classifier[:, 0].numpy()
        arrays["probabilities"] = torch.sigmoid(classifier)[:, 0].numpy()
    else:
        arrays["logits"] = classifier.numpy()
        arrays["probabilities"] = F.softmax(classifier, dim=-1).numpy()
    arrays["attention_mask"] = allowed.expand(len(tokens), 1, positions, positions)[:, 0].numpy()
    return arrays


def settings(case: dict, padding: int) -> dict[str, object]:
    mask = case["mask"]
    mask = json.dumps(mask.astype(int).tolist()) if isinstance(mask, np.ndarray) else f'"{mask}"'
    found = {
        "data.vocab_size": case["vocab_size"],
        "data.seq_len": case["positions"] - 1,
        "data.cls": '"last"' if case["cls"] else '"first"',
        "data.rule": '{ kind = "count", token = 1 }',  # fits every shape
        "data.n_classes": case["n_classes"],
        "model.d_model": case["d_model"],
        "model.n_heads": case["n_heads"],
        "model.n_layers": case["n_layers"],
        "model.d_ff": case["d_ff"],
        "model.positions": str(case["position_embedding"]).lower(),
        "model.attention.projections": f'"{case["projections"]}"',
        "model.attention.scale": str(case["scale"]).lower(),
        "model.attention.temperature": case["temperature"],
        "model.attention.mask": mask,
    }
    if case["padded"]:
        found["model.attention.padding_token"] = padding
    return found


def check(
    headlight: str, case: dict, generator: np.random.Generator, folder: pathlib.Path
) -> dict[str, float]:
    weights = random_weights(case, generator)
    tokens, padding = random_tokens(case, generator)
    paths = [folder / name for name in ["weights.safetensors", "tokens.txt", "out.npz"]]
    safetensors.numpy.save_file(weights, str(paths[0]))
    np.savetxt(paths[1], tokens, fmt="%d")
    changes = [
        part
        for key, value in settings(case, padding).items()
        for part in ["--set", f"{key}={value}"]
    ]
    given = ["--weights", paths[0], "--tokens", paths[1], "--force", "--out", paths[2]]
    command = [str(part) for part in [headlight, "dump", CONFIG, *changes, *given]]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    differences = {}
    wanted = expected(case, weights, tokens, padding)
    with np.load(paths[2]) as dump:
        mask = wanted.pop("attention_mask")
        is_masked = case["padded"] or isinstance(case["mask"], np.ndarray) or case["mask"] != "none"
        assert ("attention_mask" in dump) == is_masked
        if is_masked:
            assert dump["attention_mask"].dtype == bool
            assert np.array_equal(dump["attention_mask"], mask)
            found = dump["attention_weights"]
            assert not found[~np.broadcast_to(mask[:, None, None], found.shape)].any()
        assert ("feed_forward_hidden" in dump) == bool(case["d_ff"])
        for name, values in wanted.items():
            found = values * 0 if name == "encoder_layer" else dump[name]
            assert found.shape == values.shape, (name, found.shape, values.shape)
            size = max(1.0, np.abs(values).max())
            differences[name] = float(np.abs(found - values).max() / size)
    return differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headlight", required=True, help="the binary")
    parser.add_argument("--shapes", type=int, default=60, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of shapes and weights; default: 0")
    args = parser.parse_args()
    generator = np.random.default_rng(args.seed)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)  # so that only Headlight rounds
    largest = dict.fromkeys(ARRAYS, 0.0)
    counts = {"masked": 0, "padded": 0, "several blocks": 0, "feed-forward": 0, "classes": 0}
    for _ in range(args.shapes):
        case = random_case(generator)
        with tempfile.TemporaryDirectory() as folder:
            differences = check(args.headlight, case, generator, pathlib.Path(folder))
        for name, difference in differences.items():
            largest[name] = max(largest[name], difference)
        counts["masked"] += isinstance(case["mask"], np.ndarray) or case["mask"] != "none"
        counts["padded"] += case["padded"]
        counts["several blocks"] += case["n_layers"] > 1
        counts["feed-forward"] += case["d_ff"] > 0
        counts["classes"] += case["n_classes"] > 2
    which = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"largest differences over {args.shapes} shapes ({which}), PyTorch {torch.__version__}:")
    for name, difference in largest.items():
        print(f"  {name:22} {difference:.1e}")
    above = [name for name in ARRAYS if not largest[name] <= TOLERANCE]
    assert not above, f"above the tolerance of {TOLERANCE}: {above}"


if __name__ == "__main__":
    main()
