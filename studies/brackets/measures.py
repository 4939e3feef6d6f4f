"""How much of the failure of a string of brackets each head carries, by patching: the table SMALL.csv or FULL.csv beside the rows.

    headlight reproduce brackets --save-weights
    python -m studies.brackets.measures headlight small brackets/small.jsonl brackets/small.csv     # from the repository's root
"""

import numpy as np

from studies.model import below, measure, random_words

MOST_PAIRS = 64


def is_balanced(rule, tokens):
    """Whether a string is balanced."""
    depths = np.cumsum((tokens == rule["opening"]).astype(int) - (tokens == rule["closing"]))
    return depths[-1] == 0 and depths.min() >= 0


def broken(rule, tokens, words, is_order):
    """A balanced string with one bracket turned, or with two exchanged so that a prefix falls below zero."""
    openings, closings = (list(np.flatnonzero(tokens == rule[kind])) for kind in ("opening", "closing"))
    other = tokens.copy()
    if not is_order:
        both = openings + closings
        place = both[below(len(both), words)]
        other[place] = rule["closing" if place in openings else "opening"]
        return other
    while is_balanced(rule, other):
        places = [kind[below(len(kind), words)] for kind in (openings, closings)]
        other = tokens.copy()
        other[places] = tokens[places[::-1]]
    return other


def measures(config, model, held_out):
    """The fall of the log-odds, and the share that each head's context gives alone."""
    rule = config["data"]["rule"]
    balanced = [tokens for tokens in held_out if is_balanced(rule, tokens) and rule["opening"] in tokens]
    balanced = np.array(balanced[:MOST_PAIRS])
    found = {}
    for name, is_order in [("totals", False), ("order", True)]:
        words = random_words(config["data"].get("seed", 0))
        others = np.array([broken(rule, tokens, words, is_order) for tokens in balanced])
        before = model.log_odds(balanced)
        gap = (before - model.log_odds(others)).mean()
        model.forward(others)
        contexts = model.contexts
        found[f"gap_of_{name}"] = gap
        for layer, head in np.ndindex(model.layers, model.heads):
            after = model.log_odds(balanced, replaced=(layer, head, contexts[layer][:, head]))
            found[f"{name}_by_head/{layer}/{head}"] = (before - after).mean() / gap
    return found


if __name__ == "__main__":
    measure(__file__, measures)
