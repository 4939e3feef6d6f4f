"""Which of four numbers is the largest? Gross et al. 2024."""

import numpy as np

from studies import common as c

INPUTS = 64**4
FAILED = 0.99

study = c.Study(__file__)
rows = study.parts["seeds"]
exact, neighbours, copying, near, worst, in_worst, on_tokens, held_out = (
    c.numbers(rows, name)
    for name in [
        "accuracy_on_all",
        "neighbour_order",
        "copying",
        "errors_near",
        "worst_class",
        "errors_in_worst_class",
        "errors_on_tokens",
        "held_out_accuracy",
    ]
)
failing = exact < FAILED
failed, off = int(failing.sum()), 100 * np.abs(exact - held_out)
interval = c.percents(c.wilson(failed, len(rows)), 2)


def percent(share):
    """A share, to 5 digits."""
    return f"{100 * share:.3f}%"


def of_wrong(shares):
    """A share of wrong answers, over those of all seeds."""
    known = np.isfinite(shares)
    return ((1 - exact) * shares)[known].sum() / (1 - exact)[known].sum()


def says(name):
    """How well a number of the weights tells that a seed failed."""
    values = c.numbers(rows, name)
    area, ends = c.roc_area(-values, failing)
    return f"{area:.3f} ({c.between(ends)})"


study.write(
    [
        f"Of {len(rows):,} seeds, the mean accuracy over all 16,777,216 inputs is {percent(exact.mean())} (standard deviation "
        f"{percent(exact.std())}), and the median {percent(c.median(exact))}. The worst seed has {percent(exact.min())}, the best "
        f"{percent(exact.max())}. {(exact == 1).sum()} seeds are right on every input.",
        f"{failed} of the seeds are below {percent(FAILED)}: {percent(failed / len(rows))} (95% interval {interval}).",
        f"The accuracy on 1,024 held-out samples differs from the exact one by {c.median(off):.2f} percentage points in the median, and by "
        f"{off.max():.2f} at most. Sampling alone gives such differences.",
        f"Of all wrong answers, {percent(of_wrong(near))} name a number that differs from the right one by 1 or 2 ({percent(c.median(near))} in "
        f"the median seed), and {percent(of_wrong(on_tokens))} another number of the input ({percent(c.median(on_tokens))}). In the median seed, "
        f"{percent(c.median(in_worst))} of the wrong answers belong to one right answer; in the median failed seed, "
        f"{percent(c.median(in_worst[failing]))}.",
        "A model may score the larger of two neighbours, such as 31 and 30, lower. How often it does so tells failed seeds from the others: the "
        f"area under the ROC curve is {says('neighbour_order')}. For the order of all scores (Kendall's tau) it is {says('score_order')}; "
        f"for how often a value is largest for its own class, {says('copying')}.",
    ],
    [
        "The recipe is the published one: 3,000 steps of 128 fresh samples. The paper trained 151 seeds, and proves lower bounds for their "
        "accuracies.",
        "The accuracy over all inputs is exact. A key's score depends on the query's token, the key's token and its position alone, so all "
        "inputs are computed from tables, in double precision. Where the two largest logits differ by less than 0.0001, the engine computes the "
        "input.",
    ],
    [],
    [
        c.histogram((1 - exact) * INPUTS, "wrong inputs, of 16,777,216"),
        c.scatter(neighbours, exact, ("how often the larger of two neighbours gets the larger score", "accuracy")),
        c.scatter(copying, exact, ("how often a value is largest for its own class", "accuracy")),
        c.histogram(worst, "the largest number with the most wrong answers, by seed"),
    ],
)
