"""The labels of each rule are those that NumPy computes from the rule's definition in docs/config.md.

    python scripts/checks/check_rules.py target/release/headlight            # compares the labels
    python scripts/checks/check_rules.py target/release/headlight --table    # and prints a table about each rule

Lets the program write datasets of 10,000 samples, as they are drawn and balanced, with [CLS] first, last and nowhere, and
compares every label. The table is that of EXPERIMENTS.md, for [CLS] first: shares of classes, baselines, and speed in processor
time. It needs scripts/requirements.txt.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

SAMPLES, TIMED = 10_000, 200_000
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


class Case:
    """A rule, with [CLS] at a place, balanced or not."""

    def __init__(self, headlight, folder, case, cls, balanced):
        self.headlight, self.folder, self.cls = headlight, folder, cls
        self.kind, rule, n_tokens, self.seq_len, self.of = case
        self.has_cls, self.first = int(cls != "none"), int(cls == "first")
        self.vocab_size = n_tokens + self.has_cls
        self.rule = {key: self.vocab_size - 1 if value == LAST else value for key, value in rule.items()}
        self.balanced = balanced
        self.is_per_position = case in PER_POSITION

    def write(self, samples, seed=0):
        """The tokens and labels that the program writes, and the seconds of processor time that it takes."""
        task = {"repeat": "next-token"}.get(self.kind, "token-classification" if self.is_per_position else "classification")
        data = {"task": task, "generator": "chacha", "seed": seed, "samples": samples, "cls": self.cls}
        data |= {"vocab_size": self.vocab_size, "seq_len": self.seq_len, "balanced": self.balanced}
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in {"kind": self.kind, **self.rule}.items())
        lines = [f"{key} = {json.dumps(value)}" for key, value in data.items()]
        mask = "causal" if self.kind == "repeat" else "none"
        lines += [f"rule = {{ {pairs} }}", "[model]", "d_model = 8", f'attention = {{ mask = "{mask}" }}', "[training]", "epochs = 1"]
        config, out = self.folder / "rule.toml", self.folder / "rule.npz"
        config.write_text("[data]\n" + "\n".join(lines) + "\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([self.headlight, "data", "--quiet", "--force", config, "--out", out], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        data = np.load(out)
        # The file of a next-token task has no labels: they are the tokens that follow.
        labels = data["labels"] if "labels" in data else self.labels(data["tokens"])
        return data["tokens"], labels, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def labels(self, tokens):
        """The labels by the definition, as the file has them."""
        assert (tokens[:, {"first": 0, "last": -1}[self.cls]] == 0).all() if self.has_cls else True
        own_tokens = tokens[:, self.first : self.first + self.seq_len]
        over = [self.rule[key] for key in ("padding", "end") if key in self.rule]
        own = ~np.isin(own_tokens, over)
        if self.of is counts_of:
            labels = counts_of(own_tokens, own)
        else:
            labels = self.of(own_tokens, rule=self.rule, own=own, first=self.first, has_cls=self.has_cls)
        if not self.is_per_position:
            return labels.astype(int)
        rows = np.full(tokens.shape, IGNORED)
        rows[:, self.first : self.first + self.seq_len] = np.where(own, labels, IGNORED)
        if self.kind == "repeat" and self.first:
            rows[:, 0] = tokens[:, 1]
        return rows

    def compare(self, tokens, labels):
        expected = self.labels(tokens)
        if labels.shape != expected.shape or (labels != expected).any():
            sys.exit(f"{self.kind} {self.rule}, cls = {self.cls}, balanced = {self.balanced}: labels differ from NumPy's")
        if self.balanced and np.ptp(np.unique(labels, return_counts=True)[1]) > 1:
            sys.exit(f"{self.kind} {self.rule}, cls = {self.cls}: classes are not balanced")

    def row(self, tokens, labels):
        new_tokens, new_labels, _ = self.write(SAMPLES, seed=1)
        self.compare(new_tokens, new_labels)
        counts = np.bincount(labels[labels != IGNORED].astype(int))
        shares = counts[counts > 0] / counts.sum()
        baseline = by_position if self.is_per_position else by_counts
        right = baseline(tokens, labels.astype(int), new_tokens, new_labels, self.vocab_size)
        usual = (new_labels == counts.argmax())[new_labels != IGNORED].mean()
        speed = (TIMED - 1) / (self.write(TIMED)[2] - self.write(1)[2])
        values = [f"{key} {value}" for key, value in self.rule.items() if key not in ("padding", "end")]
        name = ", ".join([self.kind, *values, *(f"with {key}" for key in ("padding", "end") if key in self.rule)])
        balanced = "–" if self.is_per_position else "yes" if self.balanced else "no"
        print(
            f"| {name} | {self.vocab_size - self.has_cls} × {self.seq_len} | {balanced} | {len(labels) + len(new_labels):,} | {len(shares)} "
            f"| {shares.min():.2%} to {shares.max():.2%} | {usual:.1%} | {right:.1%} | {round(speed, -3):,.0f} |"
        )


def by_counts(tokens, labels, new_tokens, new_labels, vocab_size):
    """Accuracy on new samples of a logistic regression on the counts of tokens, their squares and products."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    counts, new_counts = (np.stack([(rows == token).sum(1) for token in range(vocab_size)], 1) for rows in (tokens, new_tokens))
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler(), LogisticRegression(max_iter=1000))
    return model.fit(counts, labels).score(new_counts, new_labels)


def by_position(tokens, labels, new_tokens, new_labels, vocab_size):
    """Accuracy on new samples of the label that is most frequent among the first ones, given the position and its token."""
    n_classes = labels.max() + 1
    seen = np.zeros((tokens.shape[1], vocab_size, n_classes), int)
    positions = np.broadcast_to(np.arange(tokens.shape[1]), tokens.shape)
    counted, new = labels != IGNORED, new_labels != IGNORED
    np.add.at(seen, (positions[counted], tokens[counted], labels[counted]), 1)
    answers = seen.argmax(-1)[np.broadcast_to(np.arange(tokens.shape[1]), new_tokens.shape), new_tokens]
    return (answers == new_labels)[new].mean()


def main():
    headlight, has_table = sys.argv[1], "--table" in sys.argv[2:]
    if has_table:
        print("| rule | tokens × length | balanced | equal | classes | share of a class | most frequent class | baseline | samples per second |")
        print("|---|---:|---|---:|---:|---:|---:|---:|---:|")
    compared = 0
    with tempfile.TemporaryDirectory() as name:
        for case in PER_SAMPLE + PER_POSITION:
            for balanced in (False, True) if case in PER_SAMPLE else (False,):
                for cls in ("first", "none") if case[0] == "repeat" else ("first", "last", "none"):
                    dataset = Case(headlight, pathlib.Path(name), case, cls, balanced)
                    tokens, labels, _ = dataset.write(SAMPLES)
                    dataset.compare(tokens, labels)
                    compared += 1
                    if has_table and cls == "first":
                        dataset.row(tokens, labels)
    print(f"{compared} datasets of {SAMPLES:,} samples have the labels of the definitions, by NumPy {np.__version__}")


if __name__ == "__main__":
    main()
