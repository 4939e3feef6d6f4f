"""A training: its steps, its evaluations, and the weights of each step."""

from __future__ import annotations

import json
import time
from array import array as buffer
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import ceil, log
from typing import Any

from ._config import Config
from ._engine import Engine, Floats
from ._model import Model, Plan
from ._progress import Report

# Between two parts of a training, Python shows progress and takes interrupts: a part has a tenth of a second, and at first so many steps.
_PART = 0.1
_FIRST = 64


@dataclass
class Trained:
    """What came of a training.

    Attributes:
        samples: Those that a run dumps. `[sample][position]`
        question: What the model answers, if it is known.
        losses: The loss of each step's batch, before the step.
        rows: An evaluation each, as in `metrics.jsonl`.
        weights: Those of the steps that are kept, which are all of a small model.
        step: The last step.
        best: The step of the best model, if the config keeps it.
        results: What the engine measures of the last model.
    """

    plan: Plan
    samples: list[list[int]]
    question: str | None
    losses: buffer[float] = field(default_factory=lambda: buffer("f"))
    rows: list[dict[str, Any]] = field(default_factory=list)
    weights: dict[int, bytes] = field(default_factory=dict)
    step: int = 0
    best: int | None = None
    results: dict[str, Any] = field(default_factory=dict)

    def model(self, step: int) -> Model:
        """The model after a step."""
        weights = self.weights.get(step)
        if weights is None:
            weights = weights_at(self.plan, step)
        return Model(self.plan, weights)


def trained(config: Config, report: Report, told: Callable[[int, str], bool] | None) -> Trained:
    """Trains a config; `told` hears of each evaluation, and answers whether training stops.

    Raises:
        ValueError: The config or the samples are invalid.
        Diverged: The loss became NaN or infinite.
    """
    engine, measuring = Engine(config.module), Engine(config.module)
    begun, _ = engine.ask(config.request("begin"))
    found = Trained(Plan.of(config, begun), [sample["tokens"] for sample in begun["samples"]], begun["question"])
    # The training itself computes no sample besides its batches.
    begun, _ = engine.ask(config.request("begin", tokens=[]))
    schedule = Schedule.of(found.plan.resolved, begun)

    def evaluate() -> bool:
        measuring.take(engine)
        found.results, _ = measuring.ask({"operation": "end"})
        row = schedule.row(found.step, found.losses, found.results)
        found.rows.append(row)
        return told is not None and told(found.step, json.dumps(row))

    is_stopped = False
    part, done = 0, False
    while not (done or is_stopped):
        began = time.monotonic()
        answer, floats = engine.ask({"operation": "advance", "steps": part})
        _keep(found, answer, floats)
        if report is not None:
            report(found.step, schedule.steps)
        done = answer["done"]
        if done or schedule.is_due(found.step):
            is_stopped = evaluate()
        elapsed = time.monotonic() - began
        most = _FIRST if part == 0 else max(1, int(part * _PART / max(elapsed, 1e-3)))
        part = schedule.until_next(found.step, most)
    if found.step == 0:
        # A callback can stop the training before its first step, and then it is the only one.
        answer, floats = engine.ask({"operation": "advance", "steps": 1})
        _keep(found, answer, floats)
        evaluate()
    best = found.results.get("best")
    found.best = None if best is None else best["step"]
    return found


def weights_at(plan: Plan, step: int) -> bytes:
    """The weights after a step, trained again.

    Raises:
        ValueError: The training has fewer steps.
    """
    engine = Engine(plan.config.module)
    begun, _ = engine.ask(plan.config.request("begin", tokens=[], steps=step, keep=step))
    if begun["steps"] < step:
        raise ValueError(f"step {step}: the training has {begun['steps']} steps")
    answer, floats = engine.ask({"operation": "advance", "steps": step})
    return bytes(floats[-plan.size :])


def _keep(found: Trained, answer: dict[str, Any], floats: Floats) -> None:
    """Keeps the losses and the weights of a part of the training."""
    size = found.plan.size
    losses = answer["losses"]
    found.losses.frombytes(bytes(floats[:losses]))
    for number, step in enumerate(answer["kept"]):
        start = losses + number * size
        found.weights[step] = bytes(floats[start : start + size])
    found.step = answer["step"]


@dataclass(frozen=True)
class Schedule:
    """When a training evaluates its model.

    Attributes:
        steps: All steps.
        per_epoch: Steps of an epoch; 0 if each step draws its own samples, so that there are no epochs.
        every: Steps between evaluations within an epoch, or 0.
        at: Steps to evaluate at, in place of those of epochs.
        per_decade: Evaluations per factor of ten of steps, or 0.
    """

    steps: int
    per_epoch: int
    every: int
    at: frozenset[int]
    per_decade: int

    @classmethod
    def of(cls, config: dict[str, Any], begun: dict[str, Any]) -> Schedule:
        """That of a resolved config and the engine's answer to the start of its training."""
        training = config["training"]
        is_fresh = config["data"].get("samples") == "fresh"
        return cls(
            steps=begun["steps"],
            per_epoch=0 if is_fresh else ceil(begun["counts"]["train"] / training["batch_size"]),
            every=training.get("evaluate_every", 0),
            at=frozenset(training.get("evaluate_at", [])),
            per_decade=training.get("evaluations_per_decade", 0),
        )

    def is_due(self, step: int) -> bool:
        """Whether the model is evaluated after a step, as `evaluation_is_due` in `crates/experiment` says."""
        if step == self.steps:
            return True
        if self.per_decade:
            # The grid has a point between the halves to the next steps on either side.
            place = [log(step + half) / log(10) * self.per_decade for half in (-0.5, 0.5)] if step else [0, 1]
            return ceil(place[1]) > ceil(place[0])
        if self.at:
            return step in self.at
        return step == 0 or self._ends_epoch(step) or (self.every > 0 and step % self.every == 0)

    def _ends_epoch(self, step: int) -> bool:
        return self.per_epoch > 0 and step % self.per_epoch == 0

    def until_next(self, step: int, most: int) -> int:
        """How many steps there are to the next evaluation, and not more than `most`."""
        return next((count for count in range(1, most) if self.is_due(step + count)), most)

    def row(self, step: int, losses: buffer[float], results: dict[str, Any]) -> dict[str, Any]:
        """An evaluation as a row of `metrics.jsonl`, of what the engine measures."""
        epoch = step // self.per_epoch if self.per_epoch else 0
        # The mean loss of the epoch's batches so far, or without epochs that of the last batch.
        since = (step - 1) // self.per_epoch * self.per_epoch if self.per_epoch else step - 1
        row = {"epoch": epoch, "step": step, "train_loss": mean(losses[since:step]) if step else None}
        return {**row, **measured(results, "loss")}

    def epoch_losses(self, losses: Floats) -> list[float]:
        """The mean loss of the batches of each epoch."""
        ends = range(self.per_epoch, len(losses) + 1, self.per_epoch) if self.per_epoch else []
        return [mean(losses[end - self.per_epoch : end]) for end in ends]


def measured(results: dict[str, Any], loss: str) -> dict[str, float | None]:
    """Metrics of training samples and of held-out ones as columns, with the name that rows have for the loss."""
    columns: dict[str, float | None] = {}
    for prefix, metrics in (("", results["train"]), ("held_out_", results["held_out"])):
        if metrics is not None:
            for name in ("loss", "accuracy", "f1"):
                value = metrics[name]
                columns[prefix + (loss if name == "loss" else name)] = None if value is None else float(value)
    return columns


def mean(values: Iterable[float]) -> float:
    """The mean as the engine computes it: one number after the other, where `sum` of Python 3.12 corrects its rounding."""
    total, count = 0.0, 0
    for value in values:
        total += value
        count += 1
    return total / count
