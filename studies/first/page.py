"""Is the first symbol of a string 1, and does a model know it of longer strings? Chiang and Cholak 2022."""

import numpy as np

from studies import common as c

KNOWS = 0.99
NAMES = ["plain", "times log n"]
LOSS, ACCURACY = "tests/long/loss", "tests/long/accuracy"

study = c.Study(__file__)
rows = study.parts["lengths"]
lengths = sorted(rows["data.seq_len"].unique())


def of(scaled, length=None):
    """The runs with plain scores (0) or scores times log n (1), of all training lengths or of one."""
    own = rows[rows["model.attention.log_length"] == bool(scaled)]
    return own if length is None else own[own["data.seq_len"] == length]


def learned(own):
    """Those that know strings of the length that they were trained on."""
    return own[own.held_out_accuracy >= KNOWS]


def knowing(own):
    """How many know strings of 1,000 symbols."""
    return int((c.numbers(own, ACCURACY) >= KNOWS).sum())


def attention(own):
    """The attention on the first of 1,000 symbols in the last layer, mean over both classes."""
    return (c.numbers(own, "tests/long/attention_positive") + c.numbers(own, "tests/long/attention_negative")) / 2


def quartiles(values):
    """Three quartiles."""
    return [c.quantile(values, share) for share in (0.25, 0.5, 0.75)]


def share(own):
    """A share with its interval."""
    return c.wilson(knowing(own), len(own))


findings = ["Log-length scores are scores times the logarithm of the number of keys; plain scores are scores as they are."]
for scaled, name in enumerate(["plain", "log-length"]):
    own = learned(of(scaled))
    know = knowing(own)
    findings.append(
        f"With {name} scores, {know} of {len(own)} ({100 * know / len(own):.0f}%; {c.percents(share(own))}) models that answer 99% of held-out "
        "strings of their own length also answer 99% of 1,000 strings of 1,000 symbols."
    )
by_length = ", ".join(f"{knowing(learned(of(0, n)))} of {len(learned(of(0, n)))} at {n}" for n in [10, 30, 50, 70, 100])
findings.append(f"With plain scores, this depends on the training length: {by_length} symbols.")
longest = lengths[-1]
plain, log = (f"{len(learned(of(scaled, longest)))} of {len(of(scaled, longest))}" for scaled in (0, 1))
findings.append(
    f"10,000 strings do not always teach the training length itself: at {longest} symbols, {plain} models learn with plain scores, and {log} "
    "with log-length scores."
)

compared = []
for scaled, claim in enumerate(["fail if trained on short strings", "generalise"]):
    own = learned(of(scaled))
    compared.append([f"know 1,000 symbols, scores {NAMES[scaled]}", claim, f"{100 * knowing(own) / len(own):.1f}%", c.percents(share(own))])


def panel(label, values):
    """A range for each length and kind of scores."""
    sets = {name: (np.array(lengths) + 2 * scaled - 1, [values(of(scaled, n)) for n in lengths]) for scaled, name in enumerate(NAMES)}
    return c.lines(sets, ("training length, in symbols", label))


def with_interval(own):
    """The share of the models that know 1,000 symbols, between the ends of its interval."""
    low, high = share(learned(own))
    return [low, knowing(learned(own)) / len(learned(own)), high]


study.write(
    findings,
    [
        "The model and the recipe are the published ones: two layers of width 16 with one head, trained on 10,000 fresh strings of one length, "
        "one per step. At the end, each model answers the same 1,000 strings of 1,000 symbols. The paper trains at 10 to 200 and shows means of "
        "20 trials in figures, without a table; we train at 10 to 100 and count models. The column of published values has its claims in our "
        "words.",
        "Their code multiplies the query's input by ln(n + 1); log-length scores also scale the query's bias.",
    ],
    compared,
    [
        panel("share that knows 1,000 symbols", with_interval),
        panel("cross-entropy on 1,000 symbols", lambda own: quartiles(c.numbers(own, LOSS))),
        panel("attention on the first of 1,000", lambda own: quartiles(attention(own))),
    ],
)
