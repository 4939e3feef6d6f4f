"""Headlight's models in PyTorch (scripts/evidence/pytorch/every_model.py) and their training, eager or compiled.

The model computes every position in every block, as PyTorch's own layers do.
"""

import os
import shutil
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from shapes import ROOT

sys.path.append(str(ROOT / "scripts/evidence/pytorch"))
from every_model import DEFAULTS, Classifier, optimizer_and_schedule  # noqa: E402


def logits(config: dict, weights: dict[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """As Headlight has them: those of class 1, or of each class."""
    model = Classifier(config, weights)
    with torch.no_grad():
        found = model(torch.from_numpy(tokens).long()).numpy()
    assert not model.unused(), f"PyTorch's model does not use {model.unused()}"
    return found[..., 1] if weights["classifier.weight"].shape[1] == 1 else found


class Training:
    """Steps of one model, one after another. `order`: the samples of each step, `[step, sample]`."""

    def __init__(
        self,
        config: dict,
        weights: dict[str, np.ndarray],
        tokens: np.ndarray,
        labels: np.ndarray,
        order: np.ndarray,
        compiled: bool = False,
    ):
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        self.config = DEFAULTS | config
        self.model = Classifier(config, weights)
        self.batches = [(torch.from_numpy(tokens[batch]).long(), torch.from_numpy(labels[batch]).long()) for batch in order]
        self.step = self._compiled() if compiled else self._eager()
        for batch in self.batches[:3]:
            self.step(*batch)

    def seconds_per_step(self, least: float) -> float:
        """Over at least so many seconds."""
        steps, start = 0, time.perf_counter()
        while time.perf_counter() < start + least:
            self.step(*self.batches[steps % len(self.batches)])
            steps += 1
        return (time.perf_counter() - start) / steps

    def _loss(self, tokens: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.model(tokens).flatten(0, -2), labels.flatten(), ignore_index=-100)

    def _eager(self):
        """A step with PyTorch's own optimizer, all parameters in one kernel."""
        get = lambda key: self.config[f"training.{key}"]
        is_adamw = get("optimizer") == "adamw"
        # Adam as published: epsilon is added after the correction of bias.
        made = torch.optim.AdamW if is_adamw else torch.optim.Adam
        options = {"weight_decay": get("weight_decay")} if is_adamw else {}
        epsilon = get("epsilon") or (1e-8 if is_adamw else 1e-7)
        rate, betas = get("learning_rate"), (get("beta_1"), get("beta_2"))
        optimizer = made(self.model.parameters(), rate, betas, epsilon, fused=True, **options)
        factor = optimizer_and_schedule(self.config, [torch.nn.Parameter(torch.zeros(1))])[1].lr_lambdas[0]
        count = 0

        def step(tokens: torch.Tensor, labels: torch.Tensor) -> None:
            nonlocal count
            optimizer.param_groups[0]["lr"] = rate * factor(min(count, get("steps")))
            optimizer.zero_grad()
            self._loss(tokens, labels).backward()
            optimizer.step()
            count += 1

        return step

    def _compiled(self):
        """A step with gradients and optimizer in one graph, over one vector of all parameters: one kernel call."""
        if not shutil.which(os.environ.get("CXX", "g++")):
            raise RuntimeError("torch.compile needs a C++ compiler; install g++ or set CXX")
        from torch._inductor import config

        config.cpp_wrapper = True  # its launcher in C++ too
        torch.compiler.reset()  # it limits how often it compiles one function
        get = lambda key: self.config[f"training.{key}"]
        is_adamw = get("optimizer") == "adamw"
        (beta_1, beta_2), decay = (get("beta_1"), get("beta_2")), get("weight_decay") if is_adamw else 0.0
        epsilon = get("epsilon") or (1e-8 if is_adamw else 1e-7)
        factor = optimizer_and_schedule(self.config, [torch.nn.Parameter(torch.zeros(1))])[1].lr_lambdas[0]
        names, shapes = zip(*((name, value.shape) for name, value in self.model.named_parameters()))
        sizes = [shape.numel() for shape in shapes]
        vector = torch.nn.utils.parameters_to_vector(self.model.parameters()).detach()
        mean, square = torch.zeros_like(vector), torch.zeros_like(vector)
        count, rate = torch.zeros(()), torch.zeros(())
        model = self.model

        def loss(vector: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            parts = (part.view(shape) for part, shape in zip(vector.split(sizes), shapes))
            logits = torch.func.functional_call(model, dict(zip(names, parts)), (tokens,))
            return F.cross_entropy(logits.flatten(0, -2), labels.flatten(), ignore_index=-100)

        @torch.compile(fullgraph=True, dynamic=False)
        def whole(
            vector: torch.Tensor,
            mean: torch.Tensor,
            square: torch.Tensor,
            count: torch.Tensor,
            rate: torch.Tensor,
            tokens: torch.Tensor,
            labels: torch.Tensor,
        ) -> None:
            gradient = torch.func.grad(loss)(vector, tokens, labels)
            count.add_(1)
            mean.lerp_(gradient, 1 - beta_1)
            square.lerp_(gradient * gradient, 1 - beta_2)
            left_1, left_2 = 1 - beta_1**count, torch.sqrt(1 - beta_2**count)
            vector.mul_(1 - rate * decay).sub_(rate / left_1 * mean / (square.sqrt() / left_2 + epsilon))

        steps = 0

        def step(tokens: torch.Tensor, labels: torch.Tensor) -> None:
            nonlocal steps
            rate.fill_(get("learning_rate") * factor(min(steps, get("steps"))))
            with torch.no_grad():
                whole(vector, mean, square, count, rate, tokens, labels)
            steps += 1

        return step
