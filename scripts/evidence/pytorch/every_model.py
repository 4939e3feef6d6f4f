"""Every model that a config can describe, in PyTorch, written from what `docs/reference/config.md` says of each key.

    from every_model import Classifier, optimizer_and_schedule

    model = Classifier(config, weights)    # keys of a config by their full names, such as "model.d_ff"
    logits = model(tokens)                 # [sample, class], as `nn.CrossEntropyLoss` takes them
    optimizer, schedule = optimizer_and_schedule(config, model.parameters())

Weights have Headlight's names, and matrices are `[in, out]`. With `uses_layers`, blocks are PyTorch's own
`nn.TransformerEncoderLayer`; otherwise they are written out here. All is in the default dtype.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

DEFAULTS = {
    "data.cls": "first",
    "data.n_classes": 2,
    "model.n_heads": 1,
    "model.d_head": None,
    "model.n_layers": 1,
    "model.norm": "post",
    "model.norm_kind": "layer",
    "model.norm_gain": True,
    "model.norm_bias": None,
    "model.final_norm": None,
    "model.embedding_norm": False,
    "model.layer_norm_eps": 1e-6,
    "model.d_ff": 0,
    "model.activation": "relu",
    "model.feed_forward_bias": True,
    "model.positions": "learned",
    "model.positions_shared_from": None,
    "model.pooling": None,
    "model.classifier_hidden": 0,
    "model.classifier_bias": True,
    "model.logits": "log-odds",
    "model.tied_embeddings": False,
    "model.attention.projections": "separate",
    "model.attention.bias": True,
    "model.attention.value_projection": True,
    "model.attention.output_projection": True,
    "model.attention.output_bias": True,
    "model.attention.scale": True,
    "model.attention.temperature": 1.0,
    "model.attention.log_length": False,
    "model.attention.softmax": True,
    "model.attention.rate": 1.0,
    "model.attention.mask": "none",
    "model.attention.padding_token": None,
    "training.optimizer": "adam",
    "training.learning_rate": 1e-3,
    "training.schedule": "constant",
    "training.warmup_steps": 0,
    "training.beta_1": 0.9,
    "training.beta_2": 0.999,
    "training.epsilon": None,
    "training.weight_decay": 0.01,
    "training.momentum": 0.0,
    "training.max_grad_norm": None,
    "training.label_smoothing": 0.0,
}
ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


class Classifier(nn.Module):
    """`weights`: the parameters, all of which the model must use."""

    def __init__(self, config: dict, weights: dict[str, np.ndarray], uses_layers: bool = False):
        super().__init__()
        self.config = DEFAULTS | config
        dtype = torch.get_default_dtype()
        # A name of PyTorch's own holds no dots.
        self.own = nn.ParameterDict(
            {name.replace(".", "/"): nn.Parameter(torch.tensor(values, dtype=dtype)) for name, values in weights.items()}
        )
        self.used: set[str] = set()
        # What the last forward pass computed: arrays by their names in a dump, a list of one per layer or a value.
        self.found: dict[str, list[torch.Tensor]] = {}
        # What a training step leaves out: from the kind of a place, its layer and its values to those that are kept.
        self.drop: Callable = lambda kind, layer, values: values
        self.layers = nn.ModuleList()
        if uses_layers:
            self.layers.extend(self._encoder_layer(layer) for layer in range(self["n_layers"]))

    def __getitem__(self, key: str) -> object:
        """The value of a key of the model."""
        return self.config[f"model.{key}"]

    def _weight(self, name: str) -> torch.Tensor:
        self.used.add(name)
        return self.own[name.replace(".", "/")]

    def _linear(self, x: torch.Tensor, name: str, has_bias: bool) -> torch.Tensor:
        x = x @ self._weight(f"{name}.weight")
        return x + self._weight(f"{name}.bias") if has_bias else x

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        eps = self["layer_norm_eps"]
        is_rms = self["norm_kind"] == "rms"
        if is_rms:
            x = F.rms_norm(x, x.shape[-1:], eps=eps)
        else:
            x = F.layer_norm(x, x.shape[-1:], eps=eps)
        if self["norm_gain"]:
            x = x * self._weight(f"{name}.gamma")
        has_bias = self["norm_bias"]
        if not is_rms if has_bias is None else has_bias:
            x = x + self._weight(f"{name}.beta")
        return x

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits of tokens `[sample, position]`: of each sample or, if the task has a label per position, of each position."""
        self.found = {}
        x = self._weight("token_embedding")[tokens] + self._positions(tokens.shape[1])
        if self["embedding_norm"]:
            x = self._norm(x, "embedding_norm")
        self._note(embeddings=x)
        x = self.drop("embedding", 0, x)
        allowed = self._allowed(tokens)
        for layer in range(self["n_layers"]):
            x = self._through_layer(layer, x, tokens) if self.layers else self._block(layer, x, allowed)
            self._note(output=x)
        has_final_norm = self["final_norm"]
        if self["norm"] == "pre" if has_final_norm is None else has_final_norm:
            x = self._norm(x, "final_norm")
        answers_each = self.config.get("data.task", "classification") != "classification"
        logits = self._classify(x if answers_each else self._pool(x, tokens))
        # The log-odds of class 1 are the logits of both classes, but for a constant.
        return torch.cat([torch.zeros_like(logits), logits], -1) if logits.shape[-1] == 1 else logits

    def _note(self, **arrays: torch.Tensor) -> None:
        for name, values in arrays.items():
            self.found.setdefault(name, []).append(values)

    @torch.no_grad()
    def arrays(self, tokens: torch.Tensor) -> dict[str, np.ndarray]:
        """The arrays of a dump, as far as PyTorch shows them: of `nn.TransformerEncoderLayer`, the attention weights and the output."""
        logits = self(tokens)
        has_two = logits.shape[-1] == 2 and self["logits"] == "log-odds"
        found = {name: (values[0] if name == "embeddings" else torch.stack(values, 1)) for name, values in self.found.items()}
        found["logits"] = logits[..., 1] - logits[..., 0] if has_two else logits
        found["probabilities"] = logits.softmax(-1)[..., 1] if has_two else logits.softmax(-1)
        return {name: values.numpy() for name, values in found.items()}

    def _positions(self, count: int) -> torch.Tensor:
        """What is added to the vector of each token. `[position, d_model]`"""
        d_model, kind = self["d_model"], self["positions"]
        if kind in ("learned", True):
            shared = self["positions_shared_from"]
            rows = [position if shared is None else min(position, shared) for position in range(count)]
            return self._weight("position_embedding")[rows]
        table = torch.zeros(count, d_model)
        if kind == "sinusoidal":
            for i in range(d_model):
                angles = torch.arange(count) / 10_000 ** (2 * (i // 2) / d_model)
                table[:, i] = angles.cos() if i % 2 else angles.sin()
        elif kind == "first":
            table[1:2, 0] = 1
        return table

    def _allowed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Whether a query may look at a key. `[sample, 1, query, key]`"""
        count, mask, padding = tokens.shape[1], self["attention.mask"], self["attention.padding_token"]
        allowed = torch.ones(count, count, dtype=bool)
        if mask == "causal":
            allowed = allowed.tril()
        elif mask != "none":
            allowed = torch.tensor(mask, dtype=bool)
        is_key = torch.ones_like(tokens, dtype=bool) if padding is None else tokens != padding
        return (allowed & is_key[:, None, :])[:, None]

    def _block(self, layer: int, x: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
        block, place = f"blocks.{layer}", self["norm"]
        before = lambda x, name: self._norm(x, f"{block}.{name}") if place == "pre" else x
        after = lambda x, name: self._norm(x, f"{block}.{name}") if place == "post" else x
        residual = x + self.drop("attended", layer, self._attention(layer, before(x, "norm"), allowed))
        self._note(residual=residual)
        x = after(residual, "norm")
        if self["d_ff"]:
            has_bias = self["feed_forward_bias"]
            hidden = self._linear(before(x, "feed_forward.norm"), f"{block}.feed_forward.hidden", has_bias)
            hidden = ACTIVATIONS[self["activation"]](hidden)
            added = self._linear(self.drop("hidden", layer, hidden), f"{block}.feed_forward.output", has_bias)
            residual = x + self.drop("fed", layer, added)
            self._note(feed_forward_hidden=hidden, feed_forward_residual=residual)
            x = after(residual, "feed_forward.norm")
        return x

    def _attention(self, layer: int, x: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
        name, heads = f"blocks.{layer}.attention", self["n_heads"]
        d_head = self["d_head"] or self["d_model"] // heads

        def project(part: str) -> torch.Tensor:
            """`[sample, head, position, d_head]`"""
            kind = self["attention.projections"]
            part = "shared" if kind == "shared" else part
            is_direct = kind == "none" or part == "value" and not self["attention.value_projection"]
            vectors = x if is_direct else self._linear(x, f"{name}.{part}", self["attention.bias"])
            return vectors.unflatten(-1, (heads, d_head)).transpose(1, 2)

        query, key, value = map(project, ["query", "key", "value"])
        if self["positions"] == "rotary":
            query, key = rotated(query), rotated(key)
        scale = {True: 1 / math.sqrt(d_head), False: 1.0}.get(self["attention.scale"], self["attention.scale"])
        scores = query @ key.mT * (scale / self["attention.temperature"])
        if self["attention.log_length"]:
            scores = scores * allowed.sum(-1, keepdim=True).clamp(min=1).to(x.dtype).log()
        if self["attention.softmax"]:
            # A query without any key looks nowhere.
            weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1).masked_fill(~allowed, 0)
            rate = self["attention.rate"]
            weights = rate * weights + (1 - rate) * allowed
        else:
            weights = scores * allowed
        context = self.drop("attention", layer, weights) @ value
        self._note(query=query, key=key, value=value, attention_scores=scores, attention_weights=weights, context=context)
        context = context.transpose(1, 2).flatten(2)
        if not self["attention.output_projection"]:
            return context
        return self._linear(context, f"{name}.output", self["attention.output_bias"])

    def _pool(self, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        pooling, place = self["pooling"], self.config["data.cls"]
        if pooling is None:
            pooling = "last" if place == "none" else "cls"
        if pooling == "mean":
            padding = self["attention.padding_token"]
            is_read = torch.ones_like(tokens) if padding is None else (tokens != padding).long()
            return (x * is_read[..., None]).sum(1) / is_read.sum(1, keepdim=True).clamp(min=1)
        if pooling == "cls":
            pooling = 0 if place == "first" else -1
        return x[:, -1 if pooling == "last" else pooling]

    def _classify(self, x: torch.Tensor) -> torch.Tensor:
        has_bias = self["classifier_bias"]
        if self["classifier_hidden"]:
            x = ACTIVATIONS[self["activation"]](self._linear(x, "classifier.hidden", has_bias))
        if not self["tied_embeddings"]:
            return self._linear(x, "classifier", has_bias)
        x = x @ self._weight("token_embedding").T
        return x + self._weight("classifier.bias") if has_bias else x

    @torch.no_grad()
    def _encoder_layer(self, layer: int) -> nn.TransformerEncoderLayer:
        """A block as PyTorch's layer, with the block's weights."""
        has_bias = self["attention.bias"]
        module = nn.TransformerEncoderLayer(
            self["d_model"],
            self["n_heads"],
            self["d_ff"],
            dropout=0.0,
            activation=ACTIVATIONS[self["activation"]],
            layer_norm_eps=self["layer_norm_eps"],
            batch_first=True,
            norm_first=self["norm"] == "pre",
            bias=has_bias,
        )

        def take(name: str) -> torch.Tensor:
            """In PyTorch's form: its matrices are `[out, in]`."""
            value = self.own.pop(f"blocks.{layer}.{name}".replace(".", "/"))
            return value.T if value.ndim == 2 else value

        def load(part: nn.Module, name: str, weight: str, bias: str) -> None:
            part.weight.copy_(take(f"{name}.{weight}"))
            if has_bias:
                part.bias.copy_(take(f"{name}.{bias}"))

        attention = module.self_attn
        parts = ["query", "key", "value"]
        attention.in_proj_weight.copy_(torch.cat([take(f"attention.{part}.weight") for part in parts]))
        if has_bias:
            attention.in_proj_bias.copy_(torch.cat([take(f"attention.{part}.bias") for part in parts]))
        load(attention.out_proj, "attention.output", "weight", "bias")
        load(module.linear1, "feed_forward.hidden", "weight", "bias")
        load(module.linear2, "feed_forward.output", "weight", "bias")
        load(module.norm1, "norm", "gamma", "beta")
        load(module.norm2, "feed_forward.norm", "gamma", "beta")
        return module

    def _through_layer(self, layer: int, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        mask, padding = self["attention.mask"], self["attention.padding_token"]
        if mask == "causal":
            mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        else:
            mask = None if mask == "none" else ~torch.tensor(mask, dtype=bool)
        if padding is not None:
            padding = tokens == padding
            if mask is not None and mask.dtype != bool:
                padding = torch.zeros(padding.shape).masked_fill(padding, -torch.inf)
        module = self.layers[layer]
        if not torch.is_grad_enabled():
            # The weights of `nn.MultiheadAttention`, which the layer does not return.
            before = module.norm1(x) if module.norm_first else x
            masks = {"attn_mask": mask, "key_padding_mask": padding}
            self._note(attention_weights=module.self_attn(before, before, before, average_attn_weights=False, **masks)[1])
        return module(x, src_mask=mask, src_key_padding_mask=padding)

    def unused(self) -> set[str]:
        """The weights that no part of the model has used."""
        return {name.replace("/", ".") for name in self.own} - self.used


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Rotary positions as GPT-NeoX has them. `[..., position, d_head]`"""
    positions, width = x.shape[-2:]
    frequencies = 10_000 ** (-torch.arange(0, width, 2) / width)
    angles = torch.outer(torch.arange(positions), frequencies).to(x.dtype)
    cosines, sines = (function(angles).repeat(1, 2) for function in (torch.cos, torch.sin))
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat([-second, first], -1) * sines


def optimizer_and_schedule(
    config: dict, parameters: Iterable[nn.Parameter]
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """The optimizer with the factor of each step's size, as Hugging Face's `get_scheduler` has it."""
    config = DEFAULTS | config
    get = lambda key: config[f"training.{key}"]
    warmup, steps = get("warmup_steps"), get("steps")

    def factor(step: int) -> float:
        if step < warmup:
            return step / warmup
        progress = (step - warmup) / max(1, steps - warmup)
        return {
            "constant": 1.0,
            "linear": max(0.0, 1.0 - progress),
            "cosine": 0.5 * (1.0 + math.cos(math.pi * progress)),
        }[get("schedule")]

    rate, betas = get("learning_rate"), (get("beta_1"), get("beta_2"))
    if get("optimizer") == "sgd":
        optimizer: torch.optim.Optimizer = torch.optim.SGD(parameters, rate, get("momentum"))
    elif get("optimizer") == "adamw":
        kind = {"weight_decay": get("weight_decay")} if get("weight_decay") else {}
        made: Callable = torch.optim.AdamW if kind else torch.optim.Adam
        optimizer = made(parameters, rate, betas, get("epsilon") or 1e-8, **kind)
    else:
        optimizer = KerasAdam(parameters, rate, betas, get("epsilon") or 1e-7)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


class KerasAdam(torch.optim.Optimizer):
    """Adam as Keras computes it: epsilon is added before the correction of bias, whose powers are of float32 numbers."""

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float], eps: float):
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})
        self.steps = 0

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        self.steps += 1
        for group in self.param_groups:
            (beta_1, beta_2), eps = group["betas"], group["eps"]
            left_1, left_2 = (1 - float(np.float32(beta)) ** self.steps for beta in group["betas"])
            rate = group["lr"] * math.sqrt(left_2) / left_1
            for parameter in group["params"]:
                gradient = parameter.grad
                state = self.state[parameter]
                mean = state.setdefault("mean", torch.zeros_like(gradient))
                square = state.setdefault("square", torch.zeros_like(gradient))
                mean.lerp_(gradient, 1 - beta_1)
                square.lerp_(gradient**2, 1 - beta_2)
                parameter -= rate * mean / (square.sqrt() + eps)
