"""scikit-learn's metrics of a few sets of predictions, which tests of the core read, and of evaluations of runs.

Probabilities are multiples of 1/64: exact, and with ties.
"""

import csv
import json

import numpy as np
import pytest
from common import ROOT, golden
from sklearn import calibration, metrics

PATH = ROOT / "data/scikit_learn_metrics.json"
THRESHOLDS = [0.1, 0.25, 0.5, 0.75, 0.9]


def drawn(samples: int, n_classes: int, seed: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities that are higher for the label's class: `[sample, class]`."""
    draw = np.random.RandomState(seed)
    labels = draw.randint(0, n_classes, size=samples)
    logits = draw.normal(size=(samples, n_classes)) + shift * np.eye(n_classes)[labels]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    parts = np.clip(np.round(64 * shares), 1, 60).astype(int)
    parts[:, 0] += 64 - parts.sum(axis=1)
    return labels, parts / 64


def number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def against_all(is_class: np.ndarray, scores: np.ndarray) -> dict:
    both = 0 < is_class.sum() < len(is_class)
    return {
        "roc_auc": float(metrics.roc_auc_score(is_class, scores)) if both else None,
        "average_precision": float(metrics.average_precision_score(is_class, scores)) if is_class.any() else None,
    }


def ratios(true: np.ndarray, predicted: np.ndarray, **options) -> dict:
    found = metrics.precision_recall_fscore_support(true, predicted, **options)[:3]
    return dict(zip(["precision", "recall", "f1"], found))


def at_threshold(labels: np.ndarray, scores: np.ndarray, threshold: float) -> dict:
    predicted = (scores >= threshold).astype(int)
    found = ratios(labels, predicted, average="binary", zero_division=np.nan)
    return {
        "threshold": float(threshold),
        "predicted_positives": int(predicted.sum()),
        **{name: number(value) for name, value in found.items()},
    }


def bins_of(event: np.ndarray, probability: np.ndarray) -> dict:
    shares, means = calibration.calibration_curve(event, probability, n_bins=10)
    place = np.searchsorted(np.linspace(0, 1, 11)[1:-1], probability)
    counts = np.bincount(place, minlength=10)
    error = float(np.sum(counts[counts > 0] * np.abs(shares - means)) / len(event))
    shares, means = iter(shares.tolist()), iter(means.tolist())
    bins = [[int(count), next(means), next(shares)] if count else [0, None, None] for count in counts]
    return {"bins": bins, "expected_error": error}


def expected(labels: np.ndarray, probabilities: np.ndarray) -> dict:
    """What `headlight evaluate --json` has, by scikit-learn."""
    n_classes = probabilities.shape[1]
    every = list(range(n_classes))
    # The first of equals; of two classes, class 1 needs more than one half.
    predicted = probabilities.argmax(axis=1)
    by_class = ratios(labels, predicted, labels=every, zero_division=np.nan)
    ranked = [against_all(labels == class_, probabilities[:, class_]) for class_ in every]
    classes = [
        {
            "samples": int((labels == class_).sum()),
            **{name: number(values[class_]) for name, values in by_class.items()},
            **ranked[class_],
        }
        for class_ in every
    ]
    means = ratios(labels, predicted, average="macro", zero_division=0)
    for name in ["roc_auc", "average_precision"]:
        known = [row[name] for row in ranked if row[name] is not None]
        means[name] = float(np.mean(known)) if known else None
    one_hot = np.eye(n_classes)[labels]
    squares = ((probabilities - one_hot) ** 2).sum(axis=1).mean()
    answer = {
        "samples": len(labels),
        "loss": float(-np.log(probabilities[np.arange(len(labels)), labels]).mean()),
        "accuracy": float(metrics.accuracy_score(labels, predicted)),
        "macro": {name: None if value is None else float(value) for name, value in means.items()},
        "classes": classes,
        "confusion": metrics.confusion_matrix(labels, predicted, labels=every).tolist(),
    }
    if n_classes > 2:
        sure = probabilities[np.arange(len(labels)), predicted]
        return answer | {"calibration": bins_of(predicted == labels, sure), "brier": float(squares)}
    scores = probabilities[:, 1]
    answer["thresholds"] = [at_threshold(labels, scores, threshold) for threshold in THRESHOLDS]
    answer["best_f1"] = None
    if labels.any():
        _, _, cuts = metrics.precision_recall_curve(labels, scores)
        rows = [at_threshold(labels, scores, cut) for cut in cuts[::-1]]
        best = max(rows, key=lambda row: row["f1"])
        # Each threshold above the next lower score gives the same; Headlight takes the middle.
        lower = scores[scores < best["threshold"]].max(initial=-np.inf)
        middle = best["threshold"] if np.isinf(lower) else (best["threshold"] + lower) / 2
        answer["best_f1"] = at_threshold(labels, scores, middle)
    if 0 < labels.sum() < len(labels):
        assert np.isclose(squares / 2, metrics.brier_score_loss(labels, scores))
    return answer | {"calibration": bins_of(labels == 1, scores), "brier": float(squares / 2)}


def cases() -> list[dict]:
    drawings = [drawn(60, 2, 1, 1.0), drawn(7, 2, 2, 0.0), drawn(80, 3, 3, 1.0), drawn(40, 5, 4, 0.5)]
    labels, probabilities = drawn(12, 2, 5, 0.0)
    drawings += [(np.zeros_like(labels), probabilities), (np.ones_like(labels), probabilities)]
    labels, probabilities = drawn(20, 4, 6, 1.0)
    drawings.append((np.minimum(labels, 2), probabilities))
    return [
        {
            "labels": labels.tolist(),
            "probabilities": (probabilities if probabilities.shape[1] > 2 else probabilities[:, 1:]).tolist(),
            "expected": expected(labels, probabilities),
        }
        for labels, probabilities in drawings
    ]


def agree(found: object, wanted: object, where: str, bound: float) -> None:
    """Compares what `wanted` has; `found` may have more."""
    if isinstance(wanted, dict):
        for key in wanted:
            agree(found[key], wanted[key], f"{where}.{key}", bound)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), where
        for index, value in enumerate(wanted):
            agree(found[index], value, f"{where}[{index}]", bound)
    elif isinstance(wanted, float):
        assert abs(found - wanted) <= bound, f"{where}: {found}, not {wanted}"
    else:
        assert found == wanted, f"{where}: {found}, not {wanted}"


def test_the_committed_metrics_are_scikit_learns():
    found = cases()
    text = "[\n" + ",\n".join(json.dumps(case) for case in found) + "\n]\n"
    agree(json.loads(golden(PATH, text)), found, PATH.name, 1e-12)


@pytest.mark.parametrize("config", ["quick", "count"])
def test_an_evaluation_has_scikit_learns_metrics(headlight, config):
    few = ["data.samples=600", "data.held_out=200"]
    run = headlight.train(config, *few, "training.epochs=1").path
    data = headlight.folder / f"{config}.jsonl"
    headlight("data", config, *(part for change in few for part in ("--set", change)), "--out", data)
    found = headlight.json("evaluate", run, data)
    found["calibration"]["bins"] = [[row["samples"], row["mean_probability"], row["share"]] for row in found["calibration"]["bins"]]
    predictions = data.with_suffix(".csv")
    headlight("predict", run, data, "--out", predictions)
    with predictions.open(newline="") as file:
        rows = list(csv.DictReader(file))[600:]  # the file holds 200 samples out, which an evaluation judges
    labels = np.array([int(row["label"]) for row in rows])
    names = [name for name in rows[0] if name.startswith("probability")]
    probabilities = np.array([[float(np.float32(row[name])) for name in names] for row in rows])
    if len(names) == 1:
        probabilities = np.column_stack([1 - probabilities, probabilities])
    # The loss comes from logits, and one minus a small probability loses digits.
    agree(found, expected(labels, probabilities), config, 1e-6)
