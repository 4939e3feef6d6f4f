"""The labels of each rule are those that NumPy computes from the rule's definition in docs/reference/config.md.

The program writes datasets of 10,000 samples, as they are drawn and balanced, with [CLS] first, last and nowhere; every label is compared.
"""

import json

import numpy as np
import pytest

SAMPLES = 10_000
IGNORED = -100


def counts_of(tokens, own):
    """How often the token of each position occurs, among the positions of `own`."""
    return ((tokens[:, :, None] == tokens[:, None, :]) & own[:, None, :]).sum(-1)


def at(tokens, places):
    return np.take_along_axis(tokens, places[:, None], 1)[:, 0]


def majority(tokens, rule, **_):
    return 2 * (tokens == rule["token"]).sum(1) > tokens.shape[1]


def parity(tokens, rule, first, **_):
    places = np.array(rule.get("positions", first + np.arange(tokens.shape[1]))) - first
    return (tokens[:, places] == rule["token"]).sum(1) % 2


def sum_mod(tokens, rule, first, **_):
    places = np.array(rule.get("positions", first + np.arange(tokens.shape[1]))) - first
    return tokens[:, places].sum(1) % rule["modulus"]


def largest(tokens, **_):
    return tokens.max(1)


def most_frequent(tokens, own, **_):
    return at(tokens, counts_of(tokens, own).argmax(1))


def balanced_brackets(tokens, rule, **_):
    depths = np.cumsum((tokens == rule["opening"]).astype(int) - (tokens == rule["closing"]), 1)
    return (depths.min(1) >= 0) & (depths[:, -1] == 0)


def induction(tokens, **_):
    is_same = tokens[:, :-1] == tokens[:, -1:]
    assert is_same.any(1).all(), "a last token has not occurred before"
    return at(tokens, tokens.shape[1] - 1 - is_same[:, ::-1].argmax(1))


def double_histogram(tokens, own, **_):
    # A token that occurs n times is counted at n positions.
    counts = counts_of(tokens, own)
    return ((counts[:, :, None] == counts[:, None, :]) & own[:, None, :]).sum(-1) // np.maximum(counts, 1)


def reverse(tokens, own, **_):
    places = own.sum(1)[:, None] - 1 - np.arange(tokens.shape[1])
    return np.take_along_axis(tokens, np.maximum(places, 0), 1)


def ascending(tokens, own, **_):
    return np.sort(np.where(own, tokens, tokens.max() + 1), 1)


def ranking(tokens, own, has_cls, **_):
    length = tokens.shape[1]
    earlier = (tokens[:, :, None] == tokens[:, None, :]) & np.tri(length, k=-1, dtype=bool)
    is_new = own & ~earlier.any(-1)
    order = np.argsort(np.where(is_new, (length - counts_of(tokens, own)) * length + np.arange(length), length**3), 1)
    after = 0 if has_cls else IGNORED
    return np.where(np.arange(length) < is_new.sum(1)[:, None], np.take_along_axis(tokens, order, 1), after)


def dyck(tokens, has_cls, **_):
    kinds, closes = np.divmod(tokens - has_cls, 2)
    samples, rows = np.arange(len(tokens)), np.zeros_like(tokens)
    open_kinds, depth, has_failed = np.zeros_like(tokens), np.zeros(len(tokens), int), np.zeros(len(tokens), bool)
    for position in range(tokens.shape[1]):
        kind, is_close = kinds[:, position], closes[:, position] == 1
        fits = (depth > 0) & (open_kinds[samples, depth - 1] == kind)
        has_failed |= is_close & ~fits
        opening = samples[~is_close]
        open_kinds[opening, depth[opening]] = kind[opening]
        depth += np.where(is_close, -1 * fits, 1)
        rows[:, position] = np.where(has_failed, 2, depth == 0)
    return rows


def following(tokens, rule, **_):
    assert (tokens[:, rule["period"] :] == tokens[:, : -rule["period"]]).all(), "a sequence does not repeat"
    return np.pad(tokens[:, 1:], ((0, 0), (0, 1)), constant_values=IGNORED)


# Name, rule, tokens without [CLS], their number in a sample, labels. LAST and LAST - 1 are the last tokens.
LAST = "LAST"
PER_SAMPLE = [
    ("majority", {"token": 1}, 3, 20, majority),
    ("parity", {"token": 1}, 4, 12, parity),
    ("parity", {"token": 1, "positions": [2, 3, 5]}, 2, 20, parity),
    ("sum-mod", {"modulus": 7}, 30, 4, sum_mod),
    ("sum-mod", {"modulus": 5, "positions": [1, 4]}, 30, 5, sum_mod),
    ("max", {}, 32, 4, largest),
    ("most-frequent", {}, 8, 9, most_frequent),
    ("balanced-brackets", {"opening": 1, "closing": 2}, 3, 40, balanced_brackets),
    ("balanced-brackets", {"opening": 1, "closing": 2, "padding": LAST}, 4, 40, balanced_brackets),
    ("induction", {}, 8, 12, induction),
]
PER_POSITION = [
    ("histogram", {"padding": LAST}, 7, 7, counts_of),
    ("double-histogram", {"padding": LAST}, 7, 7, double_histogram),
    ("ranking", {"padding": LAST}, 7, 7, ranking),
    ("reverse", {"padding": LAST, "end": 1}, 7, 7, reverse),
    ("reverse", {}, 7, 7, reverse),
    ("sort", {"padding": LAST, "end": 1}, 7, 7, ascending),
    ("dyck", {"kinds": 1}, 2, 15, dyck),
    ("dyck", {"kinds": 2}, 4, 15, dyck),
    ("repeat", {"period": 16}, 32, 32, following),
]


def places(kind: str) -> tuple:
    return ("first", "none") if kind == "repeat" else ("first", "last", "none")


CASES = [(*case, cls, balanced) for case in PER_SAMPLE for balanced in (False, True) for cls in places(case[0])]
CASES += [(*case, cls, False) for case in PER_POSITION for cls in places(case[0])]


@pytest.mark.parametrize(("kind", "rule", "n_tokens", "seq_len", "of", "cls", "balanced"), CASES)
def test_labels_follow_from_the_definition(headlight, kind, rule, n_tokens, seq_len, of, cls, balanced):
    has_cls, first = int(cls != "none"), int(cls == "first")
    vocab_size = n_tokens + has_cls
    rule = {key: vocab_size - 1 if value == LAST else value for key, value in rule.items()}
    is_per_position = kind in [case[0] for case in PER_POSITION]
    data = write(headlight, {"kind": kind, **rule}, is_per_position, cls, vocab_size, seq_len, balanced)

    tokens = data["tokens"]
    if has_cls:
        assert (tokens[:, {"first": 0, "last": -1}[cls]] == 0).all()
    own_tokens = tokens[:, first : first + seq_len]
    own = ~np.isin(own_tokens, [rule[key] for key in ("padding", "end") if key in rule])
    expected = counts_of(own_tokens, own) if of is counts_of else of(own_tokens, rule=rule, own=own, first=first, has_cls=has_cls)
    if is_per_position:
        rows = np.full(tokens.shape, IGNORED)
        rows[:, first : first + seq_len] = np.where(own, expected, IGNORED)
        if kind == "repeat" and first:
            rows[:, 0] = tokens[:, 1]
        expected = rows
    if kind == "repeat":
        # The file of a next-token task has no labels: they are the tokens that follow, which `following` has checked.
        assert "labels" not in data
    else:
        assert data["labels"].shape == expected.shape
        assert (data["labels"] == expected).all()
    if balanced:
        assert np.ptp(np.unique(data["labels"], return_counts=True)[1]) <= 1


def write(headlight, rule, is_per_position, cls, vocab_size, seq_len, balanced) -> dict[str, np.ndarray]:
    """The dataset that the program writes."""
    task = {"repeat": "next-token"}.get(rule["kind"], "token-classification" if is_per_position else "classification")
    data = {"task": task, "generator": "chacha", "seed": 0, "samples": SAMPLES, "cls": cls}
    data |= {"vocab_size": vocab_size, "seq_len": seq_len, "balanced": balanced}
    pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in rule.items())
    lines = ["[data]", *(f"{key} = {json.dumps(value)}" for key, value in data.items())]
    mask = "causal" if rule["kind"] == "repeat" else "none"
    lines += [f"rule = {{ {pairs} }}", "[model]", "d_model = 8", f'attention = {{ mask = "{mask}" }}', "[training]", "epochs = 1"]
    config = headlight.folder / "rule.toml"
    config.write_text("\n".join(lines) + "\n")
    return headlight.data(config)
