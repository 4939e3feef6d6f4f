"""Do initial weights tell that a seed will look away? Writes prediction.csv beside the rows.

    headlight reproduce second-way --save-weights
    python -m studies.second-way.prediction second-way/seeds.jsonl second-way/prediction.csv     # from the repository's root
"""

import pathlib
import sys

import numpy as np
import pandas as pd
from safetensors.numpy import load_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from studies import common as c

TOKEN, POSITION, EPSILON = 42, 3, 1e-6
# The share of seeds that fit the prediction; the others test it.
FITTED = 0.7


def features(first):
    """What the initial weights of the notebook's model say: numbers by name."""
    first = {name: values.astype(np.float64) for name, values in first.items()}
    tokens, positions, classifier = first["token_embedding"], first["position_embedding"], first["classifier.weight"][:, 0]
    query, key, value, output = (first[f"blocks.0.attention.{name}.weight"] for name in ("query", "key", "value", "output"))
    width = len(classifier)
    cls, other = tokens[0] + positions[0], tokens[1:].mean(0) + positions[1:].mean(0)
    mean_input = (cls + other * (len(positions) - 1)) / len(positions)
    # How much the score of a key moves with its input, and the logit with the mean input: through the norm, output and value.
    score = key @ (cls @ query) / np.sqrt(width)
    residual = cls + mean_input @ value @ output
    deviation = np.sqrt(residual.var() + EPSILON)
    normal = (residual - residual.mean()) / deviation
    through = (classifier - classifier.mean() - normal * (normal @ classifier) / width) / deviation
    direction = value @ (output @ through)
    parts = {
        "token at the position": tokens[TOKEN] + positions[POSITION] - mean_input,
        "position": positions[POSITION] - positions[1:].mean(0),
        "token": tokens[TOKEN] - tokens[1:].mean(0),
        "[CLS]": cls - mean_input,
    }
    words = {"position": "the position", "token": "the token", "token at the position": "the token at the position"}
    found = {}
    for names in (("token at the position", "position", "token"), ("[CLS]",)):
        for kind, vector in (("value", direction), ("score", score)):
            found |= {f"{kind} of {words.get(name, name)}": parts[name] @ vector for name in names}
    lengths = [np.linalg.norm(vector) for vector in (direction, score)]
    return found | {
        "value direction, logarithm of its length": np.log(lengths[0]),
        "score direction, logarithm of its length": np.log(lengths[1]),
        "cosine of the two directions": direction @ score / (lengths[0] * lengths[1]),
        "deviation before the norm, logarithm": np.log(deviation),
        "classifier, logarithm of its length": np.log(np.linalg.norm(classifier)),
    }


def predicted(table, away):
    """How well some features tell, on seeds that were not used to fit."""
    fitted = int(FITTED * len(table))
    model = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(table[:fitted], away[:fitted])
    area, (low, high) = c.roc_area(model.decision_function(table[fitted:]), away[fitted:])
    return {"area": area, "low": low, "high": high, "tested": len(table) - fitted}


def main():
    """Reads rows and weights, and writes the table."""
    rows_path, out = map(pathlib.Path, sys.argv[1:])
    rows = c.read_rows(rows_path)
    rows = rows[rows.held_out_f1 >= 0.99]
    away = c.numbers(rows, "attention_positive/3") < c.numbers(rows, "attention_negative/3")
    weights = (load_file(rows_path.with_suffix(".weights") / f"{seed}.safetensors") for seed in rows.seed)
    first = [{name.removeprefix("first/"): values for name, values in own.items()} for own in weights]
    table = pd.DataFrame(map(features, first))
    fitted = int(FITTED * len(table))
    standard = StandardScaler().fit(table[:fitted]).transform(table)
    results = [{"features": f"{name}, alone"} | predicted(standard[:, [place]], away) for place, name in enumerate(table)]
    results.append({"features": "all"} | predicted(standard, away))
    squares = PolynomialFeatures(2, include_bias=False).fit_transform(standard)
    results.append({"features": "all, their squares and their products"} | predicted(squares, away))
    pd.DataFrame(results).to_csv(out, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
