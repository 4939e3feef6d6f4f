"""Trainings of one config, by Headlight and by PyTorch from Headlight's start."""

import contextlib
import functools
import json
import math
import pathlib
from unittest import mock

import numpy as np
import safetensors.numpy
import torch
from chacha import dropout_numbers, shuffled, words
from every_model import Classifier, optimizer_and_schedule
from torch import nn

# The label of a position that does not count.
NOT_COUNTED = -100
FLOOR = 0.1


class Headlight:
    """Headlight's training of one config, in a folder."""

    def __init__(self, program, config: dict, folder: pathlib.Path):
        self.program, self.folder, self.path = program, folder, folder / "config.toml"
        self._write(config)

    def _write(self, config: dict) -> None:
        # Strings, numbers, switches and lists are in TOML as in JSON.
        self.path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in config.items()))

    def start(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """The initial weights, the tokens `[sample, position]` and the labels. A step of rate 0, the first of a warm-up, leaves the
        weights as they were drawn."""
        still = ["training.steps=1", "training.warmup_steps=1", 'training.schedule="constant"']
        self._train("start", *(part for key in still for part in ["--set", key]))
        self.program("data", self.path, "--out", self.folder / "samples.npz")
        with np.load(self.folder / "samples.npz") as samples:
            tokens = samples["tokens"].astype(np.int64)
            # Next tokens follow from the tokens; after the last one there is none.
            after = np.full_like(tokens[:, :1], NOT_COUNTED)
            labels = samples["labels"].astype(np.int64) if "labels" in samples else np.hstack([tokens[:, 1:], after])
            return self.weights("start"), tokens, labels

    def weigh(self, config: dict, weights: np.ndarray) -> None:
        """Later trainings are on a file of the samples that `start` gave, with a weight for each."""
        with np.load(self.folder / "samples.npz") as samples:
            np.savez(self.folder / "weighted.npz", **samples, sample_weight=weights)
        task = config.get("data.task", "classification")
        given = {"data.n_classes": 2 if task == "classification" else config["data.vocab_size"]}
        kept = ["data.task", "data.cls", "data.vocab_size", "data.seq_len", "data.n_classes"]
        kept = {key: value for key, value in config.items() if key in kept or not key.startswith("data.")}
        self._write(given | kept | {"data.file": str(self.folder / "weighted.npz")})

    def weights(self, name: str) -> dict[str, np.ndarray]:
        return safetensors.numpy.load_file(self.folder / name / "model.safetensors")

    def losses(self) -> np.ndarray:
        """The losses of the steps."""
        self._train("run")
        return np.load(self.folder / "run" / "loss.npy")

    def dump(self, weights: dict[str, np.ndarray], tokens: np.ndarray) -> dict[str, np.ndarray]:
        """What the program computes with some weights."""
        files = [self.folder / name for name in ["given.safetensors", "tokens.txt", "dump.npz"]]
        safetensors.numpy.save_file(weights, files[0])
        np.savetxt(files[1], tokens, fmt="%d")
        self.program("dump", self.path, "--weights", files[0], "--samples", files[1], "--force", "--out", files[2])
        with np.load(files[2]) as arrays:
            return dict(arrays)

    def _train(self, name: str, *options: str) -> None:
        self.program("train", self.path, "--engine", "fused", *options, "--run", self.folder / name)


class PyTorch:
    """PyTorch's training of one config from given weights."""

    def __init__(self, config: dict, uses_layers: bool, weights: dict[str, np.ndarray], tokens: np.ndarray, labels: np.ndarray):
        self.config, self.uses_layers, self.weights = config, uses_layers, weights
        self.tokens, self.labels = torch.from_numpy(tokens), torch.from_numpy(labels)
        # How much each answer counts.
        self.answer_weights = torch.ones(labels.shape)

    def weigh(self, of_samples: np.ndarray) -> None:
        """Weighs each answer by its sample and, as scikit-learn's `class_weight` does, by its class."""
        labels, own = self.labels, "training.class_weights"
        weights = {int(key.split(".")[-1]): value for key, value in self.config.items() if key.startswith(own + ".")}
        if own in self.config:
            classes, counts = labels[labels != NOT_COUNTED].unique(return_counts=True)
            weights = dict(zip(classes.tolist(), counts.sum() / (len(classes) * counts), strict=True))
        self.answer_weights = torch.from_numpy(of_samples).reshape(-1, *[1] * (labels.ndim - 1)).repeat(1, *labels.shape[1:])
        for label, weight in weights.items():
            self.answer_weights[labels == label] *= weight

    def losses(self, noise: float = 0.0) -> np.ndarray:
        """The losses of the steps. With noise, every number of a gradient is off by up to that share of the largest one of
        its tensor."""
        config = self.config
        generator = torch.Generator().manual_seed(0)
        model = Classifier(config, self.weights, self.uses_layers)
        dropout = Dropout(config)
        optimizer, schedule = optimizer_and_schedule(config, model.parameters())
        losses = []
        for _ in range(config["training.steps"]):
            optimizer.zero_grad()
            with dropout.within(model, len(self.tokens)) if any(dropout.rates.values()) else contextlib.nullcontext():
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
            dropout.step += 1
            losses.append(loss.item())
        assert not model.unused(), f"PyTorch's model does not use {sorted(model.unused())}"
        return np.array(losses)

    def gradients(self) -> dict[str, np.ndarray]:
        """The gradient of the first loss for each parameter."""
        model = Classifier(self.config, self.weights, self.uses_layers)
        self._loss(model(self.tokens)).backward()
        return {name.replace("/", "."): parameter.grad.numpy() for name, parameter in model.own.items()}

    def _loss(self, logits: torch.Tensor) -> torch.Tensor:
        """The mean over the answers that count of weight times loss: `logits` are `[sample, class]` or `[sample, position, class]`."""
        smoothing = self.config.get("training.label_smoothing", 0.0)
        losses = nn.functional.cross_entropy(
            logits.flatten(0, -2), self.labels.flatten(), reduction="none", label_smoothing=smoothing, ignore_index=NOT_COUNTED
        ).reshape(self.labels.shape)
        losses = losses * self.answer_weights
        counted = self.labels != NOT_COUNTED
        if self.config.get("training.loss_per_sample"):
            return (losses.sum(-1) / counted.sum(-1)).mean()
        return losses.sum() / counted.sum()


class Dropout:
    """What the steps of a config leave out: Headlight's masks, from another implementation."""

    PRESETS = {None: [], "keras": ["residual"], "pytorch": ["attention", "hidden", "residual"]}
    PLACES = ["attention", "hidden", "attended", "fed"]

    def __init__(self, config: dict):
        get = lambda key, default: config.get(f"training.dropout.{key}", default)
        preset, rate = self.PRESETS[get("preset", None)], get("rate", 0.1)
        self.rates = {name: get(name, rate if name in preset else 0.0) for name in ["embedding", "attention", "hidden", "residual"]}
        self.seed, self.step, self.layer = config["seed"], 0, 0
        # The place of each sample in the batch.
        self.places = np.array([], dtype=int)

    def apply(self, kind: str, layer: int, values: torch.Tensor) -> torch.Tensor:
        """The values of a place in a layer that are kept."""
        rate = self.rates.get(kind, self.rates["residual"])
        place = 0 if kind == "embedding" else 4 * layer + 1 + self.PLACES.index(kind)
        numbers = dropout_numbers(self.seed, self.step, place, len(values), values[0].numel())[self.places]
        threshold = min(round(65_536 * rate), 65_535)
        kept = torch.from_numpy(numbers >= threshold).reshape(values.shape)
        return values * kept / (1 - threshold / 65_536)

    @contextlib.contextmanager
    def within(self, model: Classifier, samples: int):
        """Puts the masks where the model drops, and where PyTorch's own layers do, for a step of all samples."""
        order = shuffled(samples, words(self.seed, "shuffle", self.step + 1 << 40))  # of the epoch
        self.places = np.argsort(order)
        model.drop = self.apply
        for layer, module in enumerate(model.layers):
            module.register_forward_pre_hook(lambda *_, layer=layer: setattr(self, "layer", layer))
            for name, kind in {"dropout": "hidden", "dropout1": "attended", "dropout2": "fed"}.items():
                getattr(module, name).forward = functools.partial(self.apply, kind, layer)
        with mock.patch.object(nn.functional, "scaled_dot_product_attention", self.attend):
            yield

    def attend(self, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False) -> torch.Tensor:
        """PyTorch's function of this name."""
        assert not is_causal
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = (scores if attn_mask is None else scores + attn_mask).softmax(-1)
        return self.apply("attention", self.layer, weights) @ value


def difference(losses: np.ndarray, exact: np.ndarray) -> float:
    """The largest difference of a loss, in shares of it or of the floor."""
    assert losses.shape == exact.shape, (losses.shape, exact.shape)
    found = float((np.abs(losses - exact) / np.maximum(np.abs(exact), FLOOR)).max())
    return found if np.isfinite(found) else np.inf
