"""Checks that Headlight and PyTorch train every model with every optimizer alike, over random configs.

    python scripts/pytorch/check_pytorch_training.py --headlight target/release/headlight
    python scripts/pytorch/check_pytorch_training.py --headlight target/release/headlight --configs 500 --seed 2
    python scripts/pytorch/check_pytorch_training.py --headlight target/release/headlight --only 17

For each config Headlight draws samples and initial weights, and trains for 20 steps of all samples. PyTorch
trains the model of `every_model.py` from the same weights, with autograd, its own optimizers and `clip_grad_norm_`.
Every third config has a model whose blocks are `nn.TransformerEncoderLayer`.

The losses of the steps must agree within 1e-5 of the loss, or of 0.1 where it is smaller: a float32 logit z is
rounded by up to 6e-8 z, so a small loss has no more digits. PyTorch computes in float64, so that only Headlight
rounds; `--float32` shows what both round together. Some trainings amplify any rounding: a rectifier bends, a norm divides
by almost nothing, Adam makes a whole step of a gradient that is all rounding. So PyTorch first trains a second time, with
gradients off by the rounding of float32. If that alone changes a loss by 2e-6, the config is left out.

A step of rate 0, the first of a warm-up, leaves the weights as they were drawn: that is how the script gets them.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import safetensors.numpy
import torch
from torch import nn

from every_model import Classifier, optimizer_and_schedule

STEPS = 20
# The label of a position that does not count.
NOT_COUNTED = -100
TOLERANCE = 1e-5
FLOOR = 0.1
# Rounding of float32, in shares of the largest number of a gradient: 2 ^ -23.
NOISE = 1.2e-7
# Each of these must occur in so many configs of a hundred.
LEAST = 4
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


def call(*command: object) -> None:
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


class Headlight:
    """Headlight's training of one config, in a folder."""

    def __init__(self, program: str, config: dict, folder: pathlib.Path):
        self.program, self.folder = program, folder
        self.path = folder / "config.toml"
        # Strings, numbers, switches and lists are in TOML as in JSON.
        self.path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in config.items()))

    def start(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """The initial weights, the tokens `[sample, position]` and the labels."""
        still = ["training.steps=1", "training.warmup_steps=1", 'training.schedule="constant"']
        self._train("start", *(part for key in still for part in ["--set", key]))
        call(self.program, "data", self.path, "--out", self.folder / "samples.npz")
        weights = safetensors.numpy.load_file(self.folder / "start" / "model.safetensors")
        with np.load(self.folder / "samples.npz") as samples:
            tokens = samples["tokens"].astype(np.int64)
            # Next tokens follow from the tokens; after the last one there is none.
            after = np.full_like(tokens[:, :1], NOT_COUNTED)
            labels = samples["labels"].astype(np.int64) if "labels" in samples else np.hstack([tokens[:, 1:], after])
            return weights, tokens, labels

    def losses(self) -> np.ndarray:
        """The losses of the steps."""
        self._train("run")
        return np.load(self.folder / "run" / "loss.npy")

    def _train(self, name: str, *options: str) -> None:
        call(self.program, "train", self.path, "--engine", "fused", *options, "--run", self.folder / name)


class PyTorch:
    """PyTorch's training of one config from given weights."""

    def __init__(self, config: dict, uses_layers: bool, weights: dict[str, np.ndarray], tokens: np.ndarray, labels: np.ndarray):
        self.config, self.uses_layers, self.weights = config, uses_layers, weights
        self.tokens, self.labels = torch.from_numpy(tokens), torch.from_numpy(labels)

    def losses(self, noise: float = 0.0) -> np.ndarray:
        """The losses of the steps. With noise, every number of a gradient is off by up to that share of the largest one of
        its tensor."""
        config = self.config
        generator = torch.Generator().manual_seed(0)
        model = Classifier(config, self.weights, self.uses_layers)
        optimizer, schedule = optimizer_and_schedule(config, model.parameters())
        losses = []
        for _ in range(config["training.steps"]):
            optimizer.zero_grad()
            loss = self._loss(model(self.tokens))
            loss.backward()
            for parameter in model.parameters():
                # A weight that changes nothing has no gradient in PyTorch; weight decay still shrinks it.
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                if noise:
                    drawn = 2 * torch.rand(parameter.shape, generator=generator) - 1
                    parameter.grad += noise * parameter.grad.abs().max() * drawn
            if "training.max_grad_norm" in config:
                nn.utils.clip_grad_norm_(model.parameters(), config["training.max_grad_norm"])
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        assert not model.unused(), f"PyTorch's model does not use {sorted(model.unused())}"
        return np.array(losses)

    def gradients(self) -> dict[str, np.ndarray]:
        """The gradient of the first loss for each parameter."""
        model = Classifier(self.config, self.weights, self.uses_layers)
        self._loss(model(self.tokens)).backward()
        return {name.replace("/", "."): parameter.grad.numpy() for name, parameter in model.own.items()}

    def _loss(self, logits: torch.Tensor) -> torch.Tensor:
        """The mean loss of the answers that count: `logits` are `[sample, class]` or `[sample, position, class]`."""
        smoothing = self.config.get("training.label_smoothing", 0.0)
        losses = nn.functional.cross_entropy(
            logits.flatten(0, -2), self.labels.flatten(), reduction="none", label_smoothing=smoothing, ignore_index=NOT_COUNTED
        ).reshape(self.labels.shape)
        counted = self.labels != NOT_COUNTED
        if self.config.get("training.loss_per_sample"):
            return (losses.sum(-1) / counted.sum(-1)).mean()
        return losses.sum() / counted.sum()


def difference(losses: np.ndarray, exact: np.ndarray) -> float:
    """The largest difference of a loss, in shares of it or of the floor."""
    assert losses.shape == exact.shape, (losses.shape, exact.shape)
    found = float((np.abs(losses - exact) / np.maximum(np.abs(exact), FLOOR)).max())
    return found if np.isfinite(found) else np.inf


def shown(key: str, config: dict) -> object:
    """The value of a key as the summary counts it."""
    if key not in config:
        return SWITCHES[key][0]
    return config[key] if config[key] in SWITCHES[key] else "set"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headlight", required=True, help="the binary")
    parser.add_argument("--configs", type=int, default=160, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the configs; default: 1")
    parser.add_argument("--only", type=int, help="check the config of this number alone, and print it")
    parser.add_argument("--float32", action="store_true", help="PyTorch computes in float32, too; fails nothing")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float32 if args.float32 else torch.float64)
    differences, layers = [], collections.Counter()
    counts = {key: dict.fromkeys(values, 0) for key, values in SWITCHES.items()}
    failed, small, steep, number = 0, 0, 0, args.only or 0
    while len(differences) < (args.configs if args.only is None else 1):
        uses_layers = number % 3 == 0
        config = Draw(np.random.default_rng([args.seed, number]), uses_layers).all()
        number += 1
        with tempfile.TemporaryDirectory() as folder:
            headlight = Headlight(args.headlight, config, pathlib.Path(folder))
            pytorch = PyTorch(config, uses_layers, *headlight.start())
            exact = pytorch.losses()
            if args.only is None and difference(pytorch.losses(NOISE), exact) > TOLERANCE / 5:
                steep += 1
                continue
            found = difference(headlight.losses(), exact)
        for key, values in counts.items():
            values[shown(key, config)] += 1
        if uses_layers:
            layers[f"norm = {config.get('model.norm', 'post')}, {config.get('model.activation', 'relu')}"] += 1
        differences.append(found)
        small += int((exact < FLOOR).sum())
        is_good = found <= TOLERANCE
        failed += not is_good
        if not is_good or args.only is not None:
            print(f"config {number - 1}: losses differ by {found:.1e}, from {exact[0]:.4f} to {exact[-1]:.4f}")
            print("".join(f"    {key} = {json.dumps(value)}\n" for key, value in config.items()), end="")
    if args.only is not None:
        sys.exit(min(failed, 1))
    for key, values in counts.items():
        print(f"  {key:34} {', '.join(f'{json.dumps(value)} {count}' for value, count in values.items())}")
    print(f"  nn.TransformerEncoderLayer in {sum(layers.values())}:")
    for name, count in sorted(layers.items()):
        print(f"    {name}: {count}")
    rare = [f"{key} = {value}" for key, values in counts.items() for value, count in values.items() if 100 * count < LEAST * len(differences)]
    print(
        f"{len(differences)} configs, {STEPS} steps each, PyTorch {torch.__version__} in {torch.get_default_dtype()}: losses differ by at "
        f"most {max(differences):.1e}, half of them by less than {np.median(differences):.1e}; {failed} configs above {TOLERANCE}"
    )
    print(f"{small} of {STEPS * len(differences)} losses are below {FLOOR}; {steep} configs of {number} are too steep to compare")
    if rare:
        print(f"in too few configs: {', '.join(rare)}")
    sys.exit(1 if failed and not args.float32 or rare or steep > number / 10 else 0)


if __name__ == "__main__":
    main()
