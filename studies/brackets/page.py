"""Is a string of brackets balanced, and does each seed find the circuit that is taught? ARENA, chapter 1.5.1."""

import numpy as np

from studies import common as c

LEARNED, CARRIES = 0.99, 0.5
LAYERS, HEADS = 3, 2
KINDS = {
    "taught": "as taught, one head of the last layer for each",
    "one": "with one head of the last layer for both",
    "overlapping": "with two heads of the last layer, at least one for both",
    "earlier": "with a head for each, at least one in an earlier layer",
    "totals": "whose heads carry half of totals, and none half of order",
    "order": "whose heads carry half of order, and none half of totals",
    "spread": "without a head that carries half of either",
}

study = c.Study(__file__)


def by_head(rows, name):
    """A number of each head. `[run, layer, head]`"""
    heads = [[c.numbers(rows, f"{name}/{layer}/{head}") for head in range(HEADS)] for layer in range(LAYERS)]
    return np.moveaxis(np.array(heads), 2, 0)


def kind(totals, order):
    """How the evidence of a model reaches the position that is read: totals and order by head."""
    carried = [totals, order]
    most = [np.unravel_index(own.argmax(), own.shape) for own in carried]
    carries = tuple(own.max() >= CARRIES for own in carried)
    if carries != (True, True):
        return {(False, False): "spread", (True, False): "totals", (False, True): "order"}[carries]
    if any(layer != LAYERS - 1 for layer, _ in most):
        return "earlier"
    if most[0] == most[1]:
        return "one"
    return "overlapping" if any(carried[1 - gap][most[gap]] >= CARRIES for gap in (0, 1)) else "taught"


def percent(count, of):
    """A share."""
    return f"{100 * count / of:.1f}%"


findings, compared, panels = [], [], []
for part, size in [("full", "full-size"), ("small", "small")]:
    rows = study.parts[part]
    own = rows[rows.held_out_accuracy >= LEARNED].reset_index(drop=True) if len(rows) else rows
    if not len(own):
        continue
    totals, order, removal = (by_head(own, name) for name in ("totals_by_head", "order_by_head", "head_removal"))
    is_known = np.isfinite(totals).all(axis=(1, 2)) & np.isfinite(order).all(axis=(1, 2))
    steps = c.numbers(own, "learned_at_step")
    own, totals, order, removal = own[is_known], totals[is_known], order[is_known], removal[is_known]
    kinds = np.array([kind(*shares) for shares in zip(totals, order, strict=True)])
    count = {name: int((kinds == name).sum()) for name in KINDS}
    n, taught = len(own), count["taught"]
    alike = c.spearman(totals[:, -1].ravel(), order[:, -1].ravel())[0]
    rises = [c.median(removal[:, layer].max(axis=1)) for layer in range(LAYERS)]
    in_layers = ", ".join(f"{rise:.2f} in layer {layer}" for layer, rise in enumerate(rises))
    by_kind = "; ".join(f"{count[name]} {KINDS[name]}" for name in KINDS if count[name])
    findings += [
        f"Of {len(rows)} {size} models, {n} learn: {percent(n, len(rows))} ({c.percents(c.wilson(n, len(rows)))}). The median one has a held-out "
        f"F1 of 99% after {c.median(steps):.0f} steps.",
        f"In {taught} of these {n}, the heads of the last layer have the roles that are taught ({c.percents(c.wilson(taught, n))}). By kind: "
        f"{by_kind}.",
        f"The two shares of a head of the last layer have a rank correlation of {alike:.2f}: one that carries much of totals carries much of "
        f"order. Without the head of a layer that matters more, the loss rises in the median by {in_layers}.",
    ]
    interval = c.percents(c.wilson(taught, n))
    compared.append([f"last layer has the taught roles, {size}", "1 of 1", percent(taught, n), interval, c.NOT_COMPARABLE])
    labels = (f"share of totals, heads of the last layer, {part}", "share of order")
    panels.append(c.scatter(totals[:, -1].ravel(), order[:, -1].ravel(), labels))

study.write(
    findings,
    [
        "The model is the taught one, with [CLS] as the start token. No recipe was published. Ours is AdamW with a learning rate that falls from "
        "0.001 over 5,000 steps; `small` has width 16, a rate of 0.003 and 2,000 steps. Half of the strings are balanced.",
        "In up to 64 balanced held-out strings, the context of one head is replaced by that of the same string with one bracket turned (unequal "
        "totals), or with two brackets exchanged so that a prefix falls below zero (wrong order). A head carries a failure if this alone gives "
        "at least half of the fall of the log-odds.",
        "The criterion was committed before the runs. A model has learned if it answers 99% of 1,000 held-out strings. It has the taught roles if "
        "one head of the last layer carries unequal totals, the other a wrong order, and neither both. What earlier layers compute is not "
        "tested. The last three kinds were one kind before the runs.",
    ],
    compared,
    panels,
)
