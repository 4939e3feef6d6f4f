"""Every stage of configs/walkthroughs in NumPy; tests of crates/walkthrough read expected.json.

Everything is computed in float64, from the TOML alone. Minus infinity becomes null.
"""

import json
import pathlib
import tomllib

import numpy as np
import pytest
from common import ROOT, golden

PATH = ROOT / "crates/walkthrough/tests/expected.json"
FILES = sorted((ROOT / "configs/walkthroughs").glob("*.toml"))
TOLERANCE = 1e-6
BEGINNINGS = {
    "x": ["x", "memory", "w_query", "w_key", "w_value"],
    "query": ["query", "key"],
    "scores": ["scores", "d_k"],
    "weights": ["weights"],
}
ON_DEMAND = ["exponentials", "exponentials_sum", "weights_sum"]
ONE_LINE = ["title", "source", "about", "published", "case"]


def beginning(keys: dict) -> str | None:
    return next((name for name in BEGINNINGS if name in keys), None)


def cases(document: dict) -> list[dict]:
    """The keys of each case, completed by the keys at the top of the file."""
    if "case" not in document:
        return [document]
    merged = []
    for case in document["case"]:
        top = {key: value for key, value in document.items() if key not in ONE_LINE}
        own, inherited = beginning(case), beginning(top)
        if own and inherited and own != inherited:
            for key in BEGINNINGS[inherited] + (["value"] if "x" in (own, inherited) else []):
                top.pop(key, None)
        merged.append(top | case)
    return merged


def index(label: str | int, names: list[str]) -> int:
    return label if isinstance(label, int) else names.index(label)


def stages(case: dict) -> dict[str, np.ndarray]:
    """The visible rows of every visible stage."""
    given = {name: np.array(case[name], dtype=np.float64) for name in case if is_matrix(case[name])}
    tokens = case["tokens"]
    shown = [index(label, tokens) for label in case.get("query_rows", range(len(tokens)))]
    result = {}
    value = given.get("value")
    scores, d_k = None, None
    if "x" in given:
        result["x"] = given["x"]
        side = given.get("memory", given["x"])
        if "memory" in given:
            result["memory"] = side
        result |= {name: given[name] for name in ("w_query", "w_key", "w_value") if name in given}
        query = given["x"] @ given["w_query"] if "w_query" in given else given["x"]
        key = side @ given["w_key"] if "w_key" in given else side
        value = side @ given["w_value"] if "w_value" in given else side
        projected = {"query": query[shown], "key": key, "value": value}
        result |= {name: projected[name] for name in projected if f"w_{name}" in given}
        scores, d_k = query @ key.T, query.shape[1]
    else:
        if "query" in given:
            result["query"], result["key"] = given["query"][shown], given["key"]
            scores, d_k = given["query"] @ given["key"].T, given["query"].shape[1]
        if "scores" in given:
            scores, d_k = given["scores"], case.get("d_k")
        if value is not None:
            result["value"] = value
    if scores is None:
        weights = given["weights"]
    else:
        result["scores"] = scores[shown]
        factor, temperature = scale(case.get("scale", True), d_k), case.get("temperature", 1.0)
        if factor != 1 or temperature != 1:
            scores = scores * (factor / temperature)
            result["scaled"] = scores[shown]
        mask = allowed(case.get("mask", "none"), scores.shape)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
            result["masked"] = scores[shown]
        exponentials = np.exp(scores)
        result["exponentials"] = exponentials[shown]
        result["exponentials_sum"] = exponentials[shown].sum(axis=1, keepdims=True)
        top = scores.max(axis=1, keepdims=True)
        exponentials = np.exp(scores - np.where(np.isfinite(top), top, 0))
        sums = exponentials.sum(axis=1, keepdims=True)
        weights = np.divide(exponentials, sums, out=np.zeros_like(scores), where=sums > 0)
    result["weights"] = weights[shown]
    result["weights_sum"] = weights[shown].sum(axis=1, keepdims=True)
    if value is not None:
        if len(shown) == 1:
            result["contributions"] = weights[shown[0]][:, None] * value
        result["output"] = weights[shown] @ value
    published = {entry["stage"] for entry in case.get("published", [])}
    if "weights" in given:
        published.add("weights_sum")
    return {name: rows for name, rows in result.items() if name not in ON_DEMAND or name in published}


def scale(given: bool | float, d_k: int | None) -> float:
    if given is True:
        return d_k**-0.5
    return 1.0 if given is False else given


def is_matrix(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], list) and not isinstance(value[0][0], dict)


def allowed(mask: str | list, shape: tuple[int, int]) -> np.ndarray | None:
    if mask == "none":
        return None
    return np.tril(np.ones(shape, dtype=bool)) if mask == "causal" else np.array(mask, dtype=bool)


def errata(case: dict, computed: dict[str, np.ndarray]) -> list[list]:
    """Stage, row and columns of the numbers that differ from the printed ones."""
    tokens = case["tokens"]
    key_tokens = case.get("key_tokens", tokens)
    queries = [tokens[index(label, tokens)] for label in case.get("query_rows", range(len(tokens)))]
    found = []
    for entry in case.get("published", []):
        stage = entry["stage"]
        rows = computed[stage]
        by_key = stage in ("memory", "key", "value", "contributions")
        row = index(entry["row"], key_tokens if by_key else tokens if stage == "x" else queries)
        columns = [index(label, key_tokens) for label in entry.get("columns", range(rows.shape[1]))]
        half = 0.5 * 10.0 ** -entry["decimals"]
        wrong = []
        for column, printed in zip(columns, entry["values"], strict=True):
            number = rows[row, column]
            if np.isinf(number) or np.isinf(printed):
                if number != printed:
                    wrong.append(column)
            elif abs(number - printed) > half + 1e-6 * max(1.0, abs(number)):
                wrong.append(column)
        if wrong:
            found.append([stage, row, wrong])
    return found


def plain(rows: np.ndarray) -> list[list[float | None]]:
    return [[None if value == -np.inf else round(float(value), 9) + 0.0 for value in row] for row in rows]


def expectation(path: pathlib.Path) -> list[dict]:
    worked = []
    for case in cases(tomllib.loads(path.read_text())):
        computed = stages(case)
        worked.append({
            "stages": {name: plain(rows) for name, rows in computed.items()},
            "errata": errata(case, computed),
        })
    return worked


def test_the_committed_stages_are_numpys():
    entries = {path.stem: expectation(path) for path in FILES}
    text = "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()) + "\n}\n"
    assert golden(PATH, text) == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_program_has_numpys_stages(headlight, path):
    expected = expectation(path)
    found = headlight.json("walkthrough", path.stem)
    assert len(found["cases"]) == len(expected)
    assert found["errata"] == sum(len(case["errata"]) for case in expected)
    for case, mine in zip(found["cases"], expected, strict=True):
        theirs = {stage["stage"]: stage["values"] for stage in case["stages"]}
        assert sorted(theirs) == sorted(mine["stages"])
        for stage, rows in mine["stages"].items():
            a, b = np.array(rows, dtype=np.float64), np.array(theirs[stage], dtype=np.float64)
            assert a.shape == b.shape, stage
            assert np.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True).all(), (case["title"], stage)
        errata = [
            [entry["stage"], entry["row"], [c for c, wrong in zip(entry["columns"], entry["differs"]) if wrong]]
            for entry in case["published"]
            if entry["erratum"]
        ]
        assert errata == mine["errata"]
