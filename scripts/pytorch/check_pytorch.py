"""Checks that Headlight and PyTorch compute the same from the same weights, over random shapes.

    python scripts/pytorch/check_pytorch.py --headlight target/release/headlight
    python scripts/pytorch/check_pytorch.py --headlight target/release/headlight --shapes 50 --seed 1

For each shape `headlight dump` gets PyTorch's weights, without a bias of 0. Then Headlight trains for an
epoch, and PyTorch gets its weights and the samples of its last dump. Weights are compared with those of
`nn.MultiheadAttention`, contexts with those of `F.scaled_dot_product_attention`. Neither returns scores,
so these are PyTorch's queries times its keys. Prints the largest differences.
"""

import argparse
import math
import pathlib
import subprocess
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

from notebook_pytorch import PROJECTIONS, TinySelfAttention, export_weights, import_weights

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "configs" / "notebook.toml"
SAMPLES = 64
# Absolute, and relative above 1, because scores and logits grow with the width.
TOLERANCES = {
    "embeddings": 1e-6,
    "query": 2e-6,
    "key": 2e-6,
    "value": 2e-6,
    "attention_scores": 2e-6,
    "attention_weights": 1e-6,
    "context": 1e-6,
    "residual": 2e-6,
    "logits": 5e-6,
    "probabilities": 2e-6,
}


@torch.no_grad()
def internals(model: TinySelfAttention, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """The activations of the model, in the shapes of a dump without its layer axis."""
    found = model(torch.from_numpy(tokens))
    attention = model.attention
    projected = F.linear(found["embeddings"], attention.in_proj_weight, attention.in_proj_bias)
    # [sample, position, d_model] to [sample, head, position, d_head]
    query, key, value = (
        part.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)
        for part in projected.chunk(3, dim=-1)
    )
    found |= dict(zip(PROJECTIONS, [query, key, value]))
    found["attention_scores"] = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    found["context"] = F.scaled_dot_product_attention(query, key, value)
    return {name: values.numpy() for name, values in found.items()}


def differences(dump: np.lib.npyio.NpzFile, model: TinySelfAttention) -> dict[str, float]:
    """The largest difference of each array, over the larger of 1 and its largest value."""
    expected = internals(model, dump["tokens"])
    result = {}
    for name in TOLERANCES:
        found = dump[name]
        if found.ndim == expected[name].ndim + 1:
            found = found[:, 0]  # the only layer
        assert found.shape == expected[name].shape, (name, found.shape, expected[name].shape)
        scale = max(1.0, np.abs(expected[name]).max())
        result[name] = float(np.abs(found - expected[name]).max() / scale)
    return result


def random_shape(generator: np.random.Generator) -> dict[str, int]:
    n_heads = int(generator.choice([1, 2, 3, 4, 8]))
    # The norm of one or two numbers is a constant or a sign: nothing to compare.
    least = -(-4 // n_heads)
    return {
        "vocab_size": int(generator.integers(2, 300)),
        "d_model": n_heads * int(generator.integers(least, 17)),
        "seq_len": int(generator.integers(1, 33)),
        "n_heads": n_heads,
    }


def both_ways(
    headlight: str, shape: dict[str, int], generator: np.random.Generator, folder: pathlib.Path
) -> list[dict[str, float]]:
    settings = {
        "data.vocab_size": shape["vocab_size"],
        "data.seq_len": shape["seq_len"],
        "data.rule": '{ kind = "token-anywhere", token = 1 }',  # fits every shape
        "data.samples": 320,
        "data.held_out": 0,
        "model.d_model": shape["d_model"],
        "model.n_heads": shape["n_heads"],
        "training.epochs": 1,
        "training.learning_rate": 0.01,
    }
    changes = [part for key, value in settings.items() for part in ["--set", f"{key}={value}"]]

    model = TinySelfAttention(**shape)
    with torch.no_grad():
        for parameter in model.parameters():
            # Smaller for matrices, so that sums and scores keep their size.
            size = 0.2 if parameter.ndim == 1 else 0.2 / math.sqrt(shape["d_model"])
            parameter += size * torch.randn(parameter.shape)
    tokens = generator.integers(1, shape["vocab_size"], size=(SAMPLES, shape["seq_len"] + 1))
    tokens[:, 0] = 0  # [CLS]
    weights, samples, out = (folder / name for name in ["out.safetensors", "tokens.txt", "out.npz"])
    export_weights(model, str(weights))
    np.savetxt(samples, tokens, fmt="%d")
    given = ["--weights", weights, "--tokens", samples, "--force", "--out", out]
    call(headlight, "dump", CONFIG, *changes, *given)
    with np.load(out) as dump:
        assert np.array_equal(dump["tokens"], tokens)
        outward = differences(dump, model)

    run = folder / "run"
    call(headlight, "train", CONFIG, *changes, "--run", run)
    trained = import_weights(str(run / "model.safetensors"), shape["n_heads"])
    with np.load(max((run / "attention").glob("*.npz"))) as dump:
        return [outward, differences(dump, trained)]


def call(*command: object) -> None:
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headlight", required=True, help="the binary")
    parser.add_argument("--shapes", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of shapes and weights; default: 0")
    args = parser.parse_args()
    generator = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    found = []
    for number in range(args.shapes):
        shape = {} if number == 0 else random_shape(generator)
        shape = {"vocab_size": 51, "d_model": 8, "seq_len": 6, "n_heads": 1} | shape
        with tempfile.TemporaryDirectory() as folder:
            found += both_ways(args.headlight, shape, generator, pathlib.Path(folder))
        worst = max(TOLERANCES, key=lambda name: max(pair[name] for pair in found[-2:]))
        most = max(pair[worst] for pair in found[-2:])
        sizes = ", ".join(f"{key} {value}" for key, value in shape.items())
        print(f"{sizes}: {most:.1e} ({worst})")
    print(f"largest differences over {args.shapes} shapes, PyTorch {torch.__version__}:")
    largest = {name: max(pair[name] for pair in found) for name in TOLERANCES}
    for name, difference in largest.items():
        print(f"  {name:18} {difference:.1e}")
    above = [name for name in TOLERANCES if not largest[name] <= TOLERANCES[name]]
    assert not above, f"above the tolerance: {above}"


if __name__ == "__main__":
    main()
