"""Is a string of brackets balanced, and does each seed find the circuit that is taught? ARENA, chapter 1.5.1."""

import numpy as np

from studies import common as c

LEARNED, CARRIES = 0.99, 0.5
LAYERS, HEADS = 3, 2
KINDS = {
    "taught": "as taught",
    "one": "one head of the last layer, for both",
    "overlapping": "two heads of the last layer, at least one for both",
    "earlier": "one head for each, at least one in an earlier layer",
    "spread": "no head for one of them or for both",
}

study = c.Study(__file__)


def by_head(rows, name):
    """A number of each head. `[run, layer, head]`"""
    heads = [[c.numbers(rows, f"{name}/{layer}/{head}") for head in range(HEADS)] for layer in range(LAYERS)]
    return np.moveaxis(np.array(heads), 2, 0)


def kind(totals, order):
    """How the evidence of a model reaches the readout position: a name of KINDS."""
    carried = [totals, order]
    most = [np.unravel_index(own.argmax(), own.shape) for own in carried]
    if any(own.max() < CARRIES for own in carried):
        return "spread"
    if any(layer != LAYERS - 1 for layer, _ in most):
        return "earlier"
    if most[0] == most[1]:
        return "one"
    return "overlapping" if any(carried[1 - gap][most[gap]] >= CARRIES for gap in (0, 1)) else "taught"


def percent(count, of):
    """A share."""
    return f"{100 * count / of:.1f}%"


findings = [
    "Brackets are unbalanced if their totals differ, or if their order is wrong. In the taught circuit, one head of the last layer carries the "
    "first failure, and the other head the second."
]
columns, alike, panels = {"heads that carry the failures": KINDS.values()}, [], []
for part, size in [("full", "full-size"), ("small", "small")]:
    rows = study.parts[part]
    own = rows[rows.held_out_accuracy >= LEARNED].reset_index(drop=True) if len(rows) else rows
    if not len(own):
        continue
    totals, order = (by_head(own, name) for name in ("totals_by_head", "order_by_head"))
    is_known = np.isfinite(totals).all(axis=(1, 2)) & np.isfinite(order).all(axis=(1, 2))
    totals, order = totals[is_known], order[is_known]
    kinds = np.array([kind(*shares) for shares in zip(totals, order, strict=True)])
    count = [int((kinds == name).sum()) for name in KINDS]
    columns[f"{size} models"] = count
    n, taught = len(kinds), count[0]
    alike.append(f"{c.spearman(totals[:, -1].ravel(), order[:, -1].ravel())[0]:.2f} in {size} models")
    findings.append(
        f"Of {len(rows):,} {size} models, {n} learn: {percent(n, len(rows))} ({c.percents(c.wilson(n, len(rows)))}). {taught} of "
        f"these have the taught circuit ({c.percents(c.wilson(taught, n))})."
    )
    labels = (f"share of totals, heads of the last layer, {part}", "share of order")
    panels.append(c.scatter(totals[:, -1].ravel(), order[:, -1].ravel(), labels))

findings += [
    c.table(list(columns), list(zip(*columns.values(), strict=True))),
    "In the last layer, a head that carries more of the first failure also carries more of the second. The rank correlation is "
    f"{' and '.join(alike)}.",
]

study.write(
    findings,
    [
        "The model is the taught one, with [CLS] as the start token. No recipe was published. Ours is AdamW with a learning rate that falls from "
        "0.001 over 5,000 steps; `small` has width 16, a rate of 0.003 and 2,000 steps. Half of the strings are balanced.",
        "In up to 64 balanced held-out strings, the context of one head is replaced by that of a changed string. One bracket is turned (unequal "
        "totals), or two are exchanged so that a prefix falls below zero (wrong order). A head carries a failure if this alone gives "
        "at least half of the fall of the log-odds.",
        "The criterion was committed before the runs. A model has learned if it answers 99% of 1,000 held-out strings. What earlier layers compute "
        "is not tested.",
    ],
    [],
    panels,
)
