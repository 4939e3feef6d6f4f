"""Does attention say which words matter? Jain and Wallace 2019; Wiegreffe and Pinter 2019."""

import numpy as np

from studies import common as c

WORDS = {"kendall_gradient": "with gradients", "kendall_removal": "with leaving words out"}
# Of SST: the mean over sentences.
PUBLISHED = {
    "kendall_gradient": "0.351 (LSTM), 0.606 (mean)",
    "kendall_removal": "0.291 (LSTM), 0.623 (mean)",
}

# The grammars with the largest and the smallest median of both.
EXTREMES = ["sentiment", "pronoun"]

study = c.Study(__file__)
learned = {name: rows[rows.held_out_f1 >= 0.99] for name, rows in study.parts.items()}
taus = {measure: {name: c.numbers(rows, measure) for name, rows in learned.items()} for measure in WORDS}
gradient, removal = taus.values()


def medians(by_grammar):
    """The least and the largest median."""
    all_of_them = [c.median(values) for values in by_grammar.values()]
    return f"{min(all_of_them):.2f} to {max(all_of_them):.2f}"


def within(groups):
    """The share of the variance that lies within the groups."""
    groups = [c.known(values) for values in groups]
    return 100 * sum(len(own) * own.var() for own in groups) / (len(np.concatenate(groups)) * np.concatenate(groups).var())


compared, panels = [], []
for name, rows in learned.items():
    for measure, words in WORDS.items():
        values = taus[measure][name]
        if name in EXTREMES:
            quantity = f"Kendall's tau {words}, {name}"
            compared.append([quantity, PUBLISHED[measure], f"{c.median(values):.3f}", c.between(c.median_interval(values))])
        panels.append(c.histogram(values, f"{name}: Kendall's tau {words}"))

spreads = [c.quantile(values, 0.95) - c.quantile(values, 0.05) for values in gradient.values()]
first, *others = gradient.values()

study.write(
    [
        f"Attention ranks words somewhat as gradients do: by grammar, the median over seeds of Kendall's tau is {medians(gradient)}. It agrees "
        f"with the ranking by leaving words out about as much: {medians(removal)}.",
        f"One seed says little. Within a grammar, the 5th and the 95th percentile of seeds differ by {min(spreads):.2f} to {max(spreads):.2f}, "
        "although all models have a held-out F1 of 0.99 or more.",
        f"The seed accounts for {within([first, *others]):.0f}% of the variance of Kendall's tau with gradients over all models, and for "
        f"{within(others):.0f}% without the models of `sentiment`, the only ones of one layer.",
    ],
    [
        "Attention is that of [CLS] in the last layer, mean over two heads. A word's gradient is that of the predicted class's log-odds by its "
        "embedding, times the embedding, with attention weights held fixed. Leaving a word out hides it from all attention; the paper deletes "
        "it. Each value is a mean of Kendall's tau-b over up to 1,000 held-out sentences.",
        "The published values are for SST (reviews), with bidirectional LSTMs and with encoders that take the mean of embeddings. Ours are "
        "transformers on sentences of built-in grammars; the table has the two extreme grammars. Only models with a held-out F1 of 0.99 or more count.",
    ],
    compared,
    panels,
)
