"""The notebook's model in PyTorch, and its parameters under Headlight's names.

    from notebook_pytorch import TinySelfAttention, export_weights, import_weights

`to_headlight` converts from PyTorch, `from_headlight` to PyTorch; `export_weights` and `import_weights`
do both for files. PyTorch stores matrices as [out, in], and those of queries, keys and values as one.
"""

import numpy as np
import safetensors.numpy
import torch
from torch import nn

PROJECTIONS = ["query", "key", "value"]


class TinySelfAttention(nn.Module):
    def __init__(self, vocab_size: int = 51, d_model: int = 8, seq_len: int = 6, n_heads: int = 1):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(seq_len + 1, d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.norm = nn.LayerNorm(d_model, eps=1e-6)
        self.classifier = nn.Linear(d_model, 1)

    def forward(self, tokens: torch.Tensor) -> dict[str, torch.Tensor]:
        """Arrays by their names in a dump, in its shapes without the layer axis."""
        embeddings = self.token(tokens) + self.position.weight
        attended, weights = self.attention(
            embeddings, embeddings, embeddings, need_weights=True, average_attn_weights=False
        )
        residual = embeddings + attended
        logits = self.classifier(self.norm(residual)[:, 0])[:, 0]
        return {
            "logits": logits,
            "probabilities": torch.sigmoid(logits),
            "attention_weights": weights,
            "embeddings": embeddings,
            "residual": residual,
        }


def views(model: TinySelfAttention) -> dict[str, torch.Tensor]:
    """Views of PyTorch's parameters, by Headlight's names and in its shapes: writing to one writes
    to the model."""
    attention = model.attention
    named = {"token_embedding": model.token.weight, "position_embedding": model.position.weight}
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    for part, weight, bias in zip(PROJECTIONS, weights, biases):
        named[f"blocks.0.attention.{part}.weight"] = weight.T
        named[f"blocks.0.attention.{part}.bias"] = bias
    named["blocks.0.attention.output.weight"] = attention.out_proj.weight.T
    named["blocks.0.attention.output.bias"] = attention.out_proj.bias
    named["blocks.0.norm.gamma"] = model.norm.weight
    named["blocks.0.norm.beta"] = model.norm.bias
    named["classifier.weight"] = model.classifier.weight.T
    named["classifier.bias"] = model.classifier.bias
    return {name: view.detach() for name, view in named.items()}


def to_headlight(model: TinySelfAttention) -> dict[str, np.ndarray]:
    """The model's parameters as Headlight stores them."""
    # A file stores row after row, so a transposed view is copied.
    return {name: np.array(view.numpy(), order="C") for name, view in views(model).items()}


def from_headlight(tensors: dict[str, np.ndarray], model: TinySelfAttention) -> None:
    """Sets the model's parameters. Raises ValueError if names or shapes differ."""
    named = views(model)
    if set(tensors) != set(named):
        raise ValueError(f"only one side has these names: {sorted(set(tensors) ^ set(named))}")
    for name, view in named.items():
        if tensors[name].shape != tuple(view.shape):
            raise ValueError(
                f"{name} has shape {tensors[name].shape}, the model needs {tuple(view.shape)}"
            )
        view.copy_(torch.from_numpy(tensors[name]))


def export_weights(model: TinySelfAttention, path: str) -> None:
    safetensors.numpy.save_file(to_headlight(model), path)


def import_weights(path: str, n_heads: int = 1) -> TinySelfAttention:
    """A model with the file's sizes. No shape shows the number of heads."""
    tensors = safetensors.numpy.load_file(path)
    vocab_size, d_model = tensors["token_embedding"].shape
    seq_len = tensors["position_embedding"].shape[0] - 1
    model = TinySelfAttention(vocab_size, d_model, seq_len, n_heads)
    from_headlight(tensors, model)
    return model
