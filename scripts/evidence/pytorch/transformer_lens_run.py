"""A training run of TransformerLens, recorded for Headlight to repeat.

    python scripts/evidence/pytorch/transformer_lens_run.py    # writes the file; test_transformer_lens.py compares it with a fresh run

`data/transformer_lens.safetensors` is a run of a `HookedTransformer` on the samples of
`data/transformer_lens.toml`: does token 2 stand somewhere before token 5? Its shape is that of ARENA's model of brackets,
smaller: norms before attention and feed-forward layers and after the last block, GELU, attention in both directions,
two logits, the answer read at position 0. TransformerLens draws the weights, PyTorch's `AdamW` trains them. The arrays are
those of `scripts/evidence/keras_reference.py`, by the same names; `residual` is `hook_resid_mid`, and
`feed_forward_residual` is `hook_resid_post`.

`HookedTransformer` left TransformerLens with version 4, so this needs version 3: `requirements.txt`.
"""

import argparse
import json
import pathlib
import warnings
from importlib.metadata import version

import numpy as np
import safetensors.numpy
import torch
import torch.nn.functional as F
from transformer_lens import HookedTransformer, HookedTransformerConfig

warnings.filterwarnings("ignore", category=DeprecationWarning)

PATH = pathlib.Path(__file__).resolve().parents[3] / "data" / "transformer_lens.safetensors"
SAMPLES, EPOCHS, BATCH_SIZE, SAMPLES_PER_CLASS = 1_600, 3, 16, 4
VOCAB_SIZE, SEQ_LEN, FIRST, SECOND = 11, 7, 2, 5
CONFIG = {
    "d_model": 16,
    "n_heads": 2,
    "d_head": 8,
    "n_layers": 2,
    "d_mlp": 32,
    "n_ctx": SEQ_LEN + 1,
    "d_vocab": VOCAB_SIZE,
    "d_vocab_out": 2,
    "act_fn": "gelu",
    "normalization_type": "LN",
    "eps": 1e-5,
    "attention_dir": "bidirectional",
    "device": "cpu",
}
HEADS = {"query": "Q", "key": "K", "value": "V", "output": "O"}


def dataset() -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens [sample, position] with [CLS] = 0 first, and labels: the rule token-before-token."""
    np.random.seed(0)
    tokens = np.random.randint(1, VOCAB_SIZE, size=(SAMPLES, SEQ_LEN))
    is_first, is_second = tokens == FIRST, tokens == SECOND
    labels = (is_first.cumsum(1).astype(bool)[:, :-1] & is_second[:, 1:]).any(axis=1)
    tokens = np.concatenate([np.zeros((SAMPLES, 1), dtype=int), tokens], axis=1)
    return torch.from_numpy(tokens), torch.from_numpy(labels.astype(np.int64))


def to_headlight(parameters: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """The parameters of a `HookedTransformer`, or their gradients, by Headlight's names and in its shapes."""
    found = {"token_embedding": parameters["embed.W_E"], "position_embedding": parameters["pos_embed.W_pos"]}
    norm = lambda ours, theirs: {f"{ours}.gamma": parameters[f"{theirs}.w"], f"{ours}.beta": parameters[f"{theirs}.b"]}
    for layer in range(CONFIG["n_layers"]):
        block = f"blocks.{layer}"
        for name, letter in HEADS.items():
            weight, bias = (parameters[f"{block}.attn.{kind}_{letter}"] for kind in "Wb")
            # [head, d_model, d_head], and of the output [head, d_head, d_model]
            weight = weight.flatten(0, 1) if name == "output" else weight.transpose(0, 1).flatten(1)
            found |= {f"{block}.attention.{name}.weight": weight, f"{block}.attention.{name}.bias": bias.flatten()}
        found |= norm(f"{block}.norm", f"{block}.ln1")
        for name, theirs in [("hidden", "in"), ("output", "out")]:
            for kind, letter in [("weight", "W"), ("bias", "b")]:
                found[f"{block}.feed_forward.{name}.{kind}"] = parameters[f"{block}.mlp.{letter}_{theirs}"]
        found |= norm(f"{block}.feed_forward.norm", f"{block}.ln2")
    found |= norm("final_norm", "ln_final")
    found |= {"classifier.weight": parameters["unembed.W_U"], "classifier.bias": parameters["unembed.b_U"]}
    return {name: np.array(value.detach().numpy(), order="C") for name, value in found.items()}


@torch.no_grad()
def internals(model: HookedTransformer, tokens: torch.Tensor) -> dict[str, np.ndarray]:
    """The arrays of a dump."""
    logits, cache = model.run_with_cache(tokens)
    stack = lambda name: torch.stack([cache[f"blocks.{layer}.{name}"] for layer in range(CONFIG["n_layers"])], 1)
    by_head = {"query": "q", "key": "k", "value": "v", "context": "z"}
    found = {name: stack(f"attn.hook_{theirs}").transpose(2, 3) for name, theirs in by_head.items()}
    found |= {
        "embeddings": cache["blocks.0.hook_resid_pre"],
        "attention_scores": stack("attn.hook_attn_scores"),
        "attention_weights": stack("attn.hook_pattern"),
        "residual": stack("hook_resid_mid"),
        "feed_forward_hidden": stack("mlp.hook_post"),
        "feed_forward_residual": stack("hook_resid_post"),
        "logits": logits[:, 0],
    }
    return {name: np.array(values.numpy(), order="C") for name, values in found.items()}


def record(seed: int) -> dict[str, np.ndarray]:
    tokens, labels = dataset()
    model = HookedTransformer(HookedTransformerConfig(**CONFIG, seed=seed))
    loss_of = lambda batch: F.cross_entropy(model(tokens[batch])[:, 0], labels[batch])
    first_of_each = [np.flatnonzero(labels.numpy() == label)[:SAMPLES_PER_CLASS] for label in (0, 1)]
    samples = np.sort(np.concatenate(first_of_each)).astype(np.int32)
    generator = np.random.default_rng(seed)
    order = np.stack([generator.permutation(SAMPLES) for _ in range(EPOCHS)])
    recorded = {"batch_order": order.astype(np.uint16), "samples": samples}

    def record_model(prefix: str) -> None:
        parts = to_headlight(dict(model.named_parameters())) | internals(model, tokens[samples])
        recorded.update({f"{prefix}.{name}": values for name, values in parts.items()})

    record_model("initial")
    optimizer = torch.optim.AdamW(model.parameters())
    losses = []
    for batch in order.reshape(-1, BATCH_SIZE):
        optimizer.zero_grad()
        loss = loss_of(batch)
        loss.backward()
        if not losses:
            gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
            recorded |= {f"gradient.{name}": values for name, values in to_headlight(gradients).items()}
        optimizer.step()
        losses.append(loss.item())
    recorded["losses"] = np.array(losses, dtype=np.float32)
    record_model("final")
    with torch.no_grad():
        recorded["final.probabilities"] = F.softmax(model(tokens)[:, 0], dim=-1).numpy()
    return recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of weights and batches; default: 0")
    args = parser.parse_args()
    torch.set_num_threads(1)
    recorded = record(args.seed)
    origin = {
        "script": f"scripts/evidence/pytorch/{pathlib.Path(__file__).name}",
        "seed": args.seed,
        "transformer_lens": version("transformer-lens"),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }
    # In one string: the order of several would change from run to run.
    safetensors.numpy.save_file(recorded, PATH, {"origin": json.dumps(origin)})
    losses = recorded["losses"]
    print(f"{PATH.name}: {PATH.stat().st_size:,} bytes, losses from {losses[0]:.4f} to {losses[-20:].mean():.4f}")


if __name__ == "__main__":
    main()
