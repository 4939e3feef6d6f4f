"""Are there two algorithms of addition modulo 59? Zhong et al. 2023, whose table of one block is published.csv (MIT)."""

import numpy as np
import pandas as pd

from studies import common as c

RATE, STEPS = "model.attention.rate", "training.steps"
NAMES = ["gradient_symmetricity", "distance_irrelevance"]
CIRCULAR, LEVEL, BINS = 0.995, 0.05, 10

study = c.Study(__file__)
learned = {name: rows[rows.held_out_accuracy >= 0.99] if len(rows) else rows for name, rows in study.parts.items()}
small, longer = learned["small"], learned["longer"]

published = pd.read_csv(study.home / "published.csv")
published = published[published.best_test_accuracy >= 0.99]
published = published.rename(columns={"attn_coeff": RATE, "gradient_sim": NAMES[0]})


def bins(rows):
    """The bin of each run's attention rate."""
    return np.minimum((rows[RATE] * BINS).astype(int), BINS - 1)


def by_bin(rows, name):
    """Medians by bins of the attention rate."""
    return rows[name].groupby(bins(rows)).median()


def at(rows, rate, **others):
    """The runs with an attention rate, and perhaps with other values."""
    own = rows[np.isclose(rows[RATE], rate)]
    for key, value in others.items():
        own = own[own[key] == value]
    return own


circular = published[(published.d_model == 128) & (published.circularity >= CIRCULAR)]
rates = sorted(small[RATE].unique())
words = [name.replace("_", " ") for name in NAMES]

compared = []
for rate in [rates[0], rates[-1]]:
    for name, word in zip(NAMES, words, strict=True):
        theirs, ours = by_bin(circular, name)[int(rate * BINS)], at(small, rate)[name].to_numpy()
        compared.append([f"{word}, rate {rate:.2f}", f"{theirs:.3f}", f"{c.median(ours):.3f}", c.between(c.median_interval(ours))])

correlations = [c.spearman(small[RATE].to_numpy(), small[name].to_numpy())[0] for name in NAMES]
mode = c.one_mode(small.distance_irrelevance.to_numpy())
mode_published = c.one_mode(circular.distance_irrelevance.to_numpy())
findings = [
    "The attention rate r mixes softmax weights with weights of 1: r softmax(scores) + 1 - r. Distance irrelevance says how little a - b "
    "matters to the logit of the right class. Gradient symmetricity says how alike the two numbers act on a logit. The algorithm "
    "called pizza has high symmetricity and low irrelevance, and the clock the reverse.",
    f"The attention rate changes gradient symmetricity strongly: over the {len(small)} runs of the small recipe, the rank correlation is "
    f"{correlations[0]:.2f}. It changes distance irrelevance less ({correlations[1]:.2f}). Our runs do not decide whether there are two algorithms "
    "or a continuum.",
]
if len(longer):
    lowest = [c.median(at(longer, 0.05, **{STEPS: steps})[NAMES[1]].to_numpy()) for steps in (1500, 20000)]
    findings.append(
        f"Our values differ most in distance irrelevance at low rates. In one "
        f"seed of width 64 with the published recipe, the value falls from {lowest[0]:.2f} after 1,500 steps to {lowest[1]:.2f} after 20,000. So the "
        "number of steps is the likely cause."
    )
findings.append(
    f"Silverman's test, fixed before the runs, {'rules' if mode < LEVEL else 'does not rule'} out one mode of distance irrelevance in our runs "
    f"({c.probability(mode)}). It {'rules' if mode_published < LEVEL else 'does not rule'} it out in the {len(circular)} circular "
    f"published runs ({c.probability(mode_published)}). Two modes need not be two algorithms: an S-shaped dependence on the rate gives them."
)

def curves(name):
    """Medians by attention rate, ours and published."""
    sets = {"ours, small recipe": by_bin(small, name), "published": by_bin(circular, name)}
    sets = {label: ((own.index + 0.5) / BINS, own) for label, own in sets.items()}
    return c.lines(sets, ("attention rate", f"{name.replace('_', ' ')}, median"))


study.write(
    findings,
    [
        "The published runs have width 128, 80% of the pairs to train on, weight decay 2, learning rate 0.001 and 20,000 steps. The table "
        f"has medians of the {len(circular)} whose circularity is 0.995 or more: their embeddings lie close to circles. The small recipe has width 64, half "
        "of the pairs, weight decay 1, learning rate 0.003 and 1,500 steps. Runs with a held-out accuracy of 99% or more count.",
    ],
    compared,
    [
        *map(curves, NAMES),
        c.scatter(small[NAMES[0]].to_numpy(), small[NAMES[1]].to_numpy(), tuple(words)),
        c.histogram(small[NAMES[1]].to_numpy(), "distance irrelevance, small recipe"),
    ],
)
