"""Random configs with every part of a model and every optimizer."""

import numpy as np

STEPS = 20
# What the summary counts: a key with its values; of a number, whether it is set.
SWITCHES = {
    "data.task": ["classification", "token-classification", "next-token"],
    "data.cls": ["first", "last", "none"],
    "data.label_noise": ["unset", "set"],
    "model.d_head": ["unset", "set"],
    "model.norm": ["post", "pre", "none"],
    "model.norm_kind": ["layer", "rms"],
    "model.norm_gain": [True, False],
    "model.norm_bias": ["unset", True, False],
    "model.final_norm": ["unset", True, False],
    "model.embedding_norm": [False, True],
    "model.activation": ["relu", "gelu", "gelu-tanh", "silu"],
    "model.feed_forward_bias": [True, False],
    "model.positions": ["learned", "none", "sinusoidal", "rotary", "first"],
    "model.positions_shared_from": ["unset", "set"],
    "model.pooling": ["unset", "cls", "last", "mean", "set"],
    "model.classifier_hidden": ["unset", "set"],
    "model.classifier_bias": [True, False],
    "model.logits": ["log-odds", "per-class"],
    "model.tied_embeddings": [False, True],
    "model.init.scheme": ["keras", "pytorch", "transformer-lens", "normal"],
    "model.init.copy_blocks": [False, True],
    "model.attention.projections": ["separate", "shared", "none"],
    "model.attention.bias": [True, False],
    "model.attention.value_projection": [True, False],
    "model.attention.output_projection": [True, False],
    "model.attention.output_bias": [True, False],
    "model.attention.log_length": [False, True],
    "model.attention.softmax": [True, False],
    "model.attention.rate": ["unset", "set"],
    "model.attention.padding_token": ["unset", "set"],
    "training.optimizer": ["adam", "adamw", "sgd"],
    "training.weight_decay": ["unset", 0.0, "set"],
    "training.momentum": ["unset", "set"],
    "training.schedule": ["constant", "linear", "cosine"],
    "training.warmup_steps": ["unset", "set"],
    "training.max_grad_norm": ["unset", "set"],
    "training.label_smoothing": ["unset", "set"],
    "training.loss_per_sample": [False, True],
    "training.cross_entropy": ["unset", "plain", "accurate"],
}
# The value of an unset key, where it has a name.
UNSET = {key: values[0] for key, values in SWITCHES.items()}


class Draw:
    """Draws the keys of one config; a key that gets its default is left out."""

    def __init__(self, generator: np.random.Generator, uses_layers: bool):
        self.generator = generator
        self.uses_layers = uses_layers
        self.config: dict[str, object] = {}

    def chance(self, share: float) -> bool:
        return bool(self.generator.random() < share)

    def whole(self, least: int, most: int) -> int:
        return int(self.generator.integers(least, most + 1))

    def one_of(self, *values: object) -> object:
        return values[self.whole(0, len(values) - 1)]

    def set(self, key: str, *values: object, chance: float = 1.0) -> object:
        """Sets a key to one of the values, or leaves it out; returns its value."""
        value = self.one_of(*values) if self.chance(chance) else UNSET.get(key)
        if value != UNSET.get(key):
            self.config[key] = value
        return value

    def all(self) -> dict[str, object]:
        positions = self.data()
        self.model(positions)
        self.attention(positions)
        self.training()
        self.config["seed"] = self.whole(0, 2**31)
        return self.config

    def data(self) -> int:
        """The samples; returns their positions."""
        config = self.config
        task = self.set("data.task", "token-classification", "next-token", chance=0.4)
        place = self.set("data.cls", "first", *["last"] * (task != "next-token"), "none")
        seq_len, vocab_size = self.whole(3, 6), self.whole(4, 12)
        first = 0 if place == "none" else 1
        token = self.whole(first, vocab_size - 1)
        start = 1 if place == "first" else 0
        rule = self.one_of("token-at-position", "count", "sum-mod", "tied")
        if task != "classification":
            rule = {"kind": "sort"} if task == "token-classification" else {"kind": "repeat", "period": self.whole(1, seq_len - 1)}
            config["data.generator"] = "chacha"
            # The classes are the tokens.
            self.set("model.tied_embeddings", True, chance=0.4)
            self.set("training.loss_per_sample", True, chance=0.4)
        elif rule == "token-at-position":
            rule = {"token": token, "position": self.whole(start, start + seq_len - 1), "kind": rule}
            config |= {"data.generator": "chacha", "data.positive_rate": 0.4}
        elif rule == "count":
            config["data.n_classes"] = self.whole(2, 4)
            rule = {"token": token, "kind": rule}
        else:
            # Where classes are tokens, the embedding can be the classifier.
            is_tied = self.set("model.tied_embeddings", True, chance=1.0 if rule == "tied" else 0.0)
            modulus = vocab_size if is_tied else self.whole(2, 5)
            rule = {"kind": "sum-mod", "positions": [start, start + 2], "modulus": modulus}
            config["data.n_classes"] = modulus
        samples = self.whole(24, 64)
        config |= {f"data.rule.{key}": value for key, value in rule.items()}
        config |= {"data.vocab_size": vocab_size, "data.seq_len": seq_len, "data.held_out": 0}
        config |= {"data.samples": samples, "data.seed": self.whole(0, 2**31), "training.batch_size": samples}
        config |= {"dump.samples": [], "dump.positives": 0, "dump.negatives": 0}
        # A file of the samples has no labels where they are the next tokens.
        self.set("data.label_noise", 0.2, chance=0.3 if task != "next-token" else 0.0)
        if config.get("data.n_classes", 2) == 2 and task == "classification":
            self.set("model.logits", "per-class", chance=0.5)
        return seq_len + first

    def model(self, positions: int) -> None:
        config, uses_layers = self.config, self.uses_layers
        n_heads = self.whole(1, 4)
        # The norm of a few numbers can amplify rounding by any factor.
        d_model = n_heads * self.whole(-(-8 // n_heads), 24 // n_heads)
        norm = self.set("model.norm", "post", "pre", *["none"] * (not uses_layers))
        # Without a softmax each block is a polynomial of degree 3 in its input: several grow beyond all bounds.
        has_softmax = uses_layers or self.set("model.attention.softmax", False, chance=0.25)
        most = 3 if has_softmax else 1 if norm == "none" else 2
        config |= {"model.d_model": d_model, "model.n_heads": n_heads, "model.n_layers": self.whole(1, most)}
        if not uses_layers:
            self.set("model.d_head", 2, 4, 6, chance=0.3)
        self.set("model.final_norm", True, False, chance=0.4)
        self.set("model.embedding_norm", True, chance=0.3)
        has_final_norm = config.get("model.final_norm", norm == "pre")
        if norm != "none" or has_final_norm or "model.embedding_norm" in config:
            config["model.layer_norm_eps"] = self.one_of(1e-6, 1e-5, 1e-3)
            if not uses_layers:
                self.set("model.norm_kind", "layer", "rms")
                self.set("model.norm_gain", False, chance=0.3)
                self.set("model.norm_bias", True, False, chance=0.5)
        if uses_layers or self.chance(0.6):
            config["model.d_ff"] = self.whole(4, 24)
            if not uses_layers:
                self.set("model.feed_forward_bias", False, chance=0.3)
        if "model.tied_embeddings" not in config:
            self.set("model.classifier_hidden", self.whole(4, 16), chance=0.3)
        self.set("model.classifier_bias", False, chance=0.3)
        if "model.d_ff" in config or "model.classifier_hidden" in config:
            self.set("model.activation", "relu", "gelu", "gelu-tanh", "silu")
        is_even = config.get("model.d_head", d_model // n_heads) % 2 == 0 and not uses_layers
        self.set("model.positions", "learned", "none", "sinusoidal", "first", *["rotary"] * is_even * 2)
        if "model.positions" not in config:
            self.set("model.positions_shared_from", self.whole(0, positions - 1), chance=0.5)
        pools = ["last", "mean", self.whole(0, positions - 1)]
        is_pooled = config.get("data.task") is None
        self.set("model.pooling", *pools, *["cls"] * (config.get("data.cls") != "none"), chance=0.7 if is_pooled else 0.0)
        large = ["pytorch"] * has_softmax
        scheme = self.set("model.init.scheme", "keras", "transformer-lens", "normal", *large)
        if scheme == "normal":
            config["model.init.std.all"] = self.one_of(0.1, 0.2, *["1/sqrt(d_model)"] * has_softmax)
        self.set("model.init.copy_blocks", True, chance=0.3)

    def attention(self, positions: int) -> None:
        config, uses_layers = self.config, self.uses_layers
        own = "model.attention."
        mask = self.one_of("none", "none", "causal", (self.generator.random((positions, positions)) < 0.7).astype(int))
        if config.get("data.task") == "next-token":
            mask = "causal"
        if not isinstance(mask, str):
            mask = (mask | np.eye(positions, dtype=int) if uses_layers else mask).tolist()
        config[f"{own}mask"] = mask
        # Of a query that may look at nothing, PyTorch's layer makes NaN.
        can_pad = config.get("data.cls", "first") == "first" and isinstance(mask, str) or not uses_layers
        if can_pad:
            least = 0 if config.get("data.cls") == "none" else 1
            self.set(f"{own}padding_token", self.whole(least, config["data.vocab_size"] - 1), chance=0.4)
        if uses_layers:
            if self.chance(0.3):
                # Without biases of queries, PyTorch's layer has none at all.
                config |= {f"{own}bias": False, f"{own}output_bias": False}
                config |= {"model.feed_forward_bias": False, "model.norm_bias": False}
            return
        is_whole = config.get("model.d_head") in (None, config["model.d_model"] // config["model.n_heads"])
        kind = self.set(f"{own}projections", "separate", "separate", "shared", *["none"] * is_whole)
        if kind != "none":
            self.set(f"{own}bias", False, chance=0.3)
        if kind == "separate" and is_whole:
            self.set(f"{own}value_projection", False, chance=0.3)
        if is_whole:
            self.set(f"{own}output_projection", False, chance=0.25)
        if f"{own}output_projection" not in config:
            self.set(f"{own}output_bias", False, chance=0.3)
        config[f"{own}scale"] = self.one_of(True, True, False, 0.3)
        config[f"{own}temperature"] = self.one_of(1.0, 1.0, 0.5, 2.0)
        self.set(f"{own}log_length", True, chance=0.3)
        if f"{own}softmax" not in config:
            self.set(f"{own}rate", 0.0, 0.5, 0.8, chance=0.4)

    def dropout(self) -> None:
        """At all places or, in PyTorch's layers, at those of its preset."""
        own, rates = "training.dropout.", (0.1, 0.3, 0.5)
        self.config["model.d_ff"] = self.config.get("model.d_ff", 8)
        if self.uses_layers or self.chance(0.3):
            self.config |= {f"{own}preset": "pytorch", f"{own}rate": self.one_of(*rates)}
        else:
            self.config |= {f"{own}{place}": self.one_of(*rates) for place in ("attention", "hidden", "residual")}
        self.config[f"{own}embedding"] = self.one_of(*rates)

    def class_weights(self) -> None:
        """Of some classes, or by their numbers of answers, or none."""
        own = "training.class_weights"
        kind = self.one_of("table", "table", "balanced", "none")
        if kind == "table":
            self.config |= {f"{own}.0": self.one_of(0.2, 3.0), f"{own}.1": self.one_of(0.0, 5.0)}
        elif kind == "balanced":
            self.config[own] = kind

    def training(self) -> None:
        config = self.config
        config["training.steps"] = STEPS
        optimizer = self.set("training.optimizer", "adam", "adamw", "adamw", "sgd")
        if optimizer == "sgd":
            steep = "model.attention.softmax" in config
            config["training.learning_rate"] = self.one_of(0.003, 0.01, *[0.03] * (not steep))
            self.set("training.momentum", 0.5, 0.9, chance=0.7)
        else:
            # Adam divides a gradient by its size, even where it is all rounding: with the usual epsilons, a step of
            # 1e-2 would move some weights by 1e-3 of noise.
            rate, epsilon = self.one_of((3e-4, None), (1e-3, None), (3e-3, 1e-6))
            config["training.learning_rate"] = rate
            if epsilon:
                config["training.epsilon"] = epsilon
            config["training.beta_2"] = self.one_of(0.999, 0.98)
        if optimizer == "adamw":
            self.set("training.weight_decay", 0.0, 0.1, 1.0, chance=0.8)
        if optimizer == "adam":
            config["training.token_second_moment"] = "per-token"
        self.set("training.schedule", "constant", "linear", "cosine")
        self.set("training.warmup_steps", 1, 5, chance=0.4)
        self.set("training.max_grad_norm", 0.05, 0.3, 1.0, chance=0.4)
        self.set("training.label_smoothing", 0.1, 0.3, chance=0.4)
        self.set("training.cross_entropy", "plain", "accurate", chance=0.5)


def shown(key: str, config: dict) -> object:
    """The value of a key, of those that `SWITCHES` tells apart."""
    if key not in config:
        return SWITCHES[key][0]
    return config[key] if config[key] in SWITCHES[key] else "set"
