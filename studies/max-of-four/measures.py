"""The answers of a model to all inputs, and the order of its scores: the table seeds.csv beside the rows.

    headlight reproduce max-of-four --save-weights
    python -m studies.max-of-four.measures headlight seeds max-of-four/seeds.jsonl max-of-four/seeds.csv     # from the repository's root
"""

import numpy as np
from scipy.stats import kendalltau

from studies.model import measure


def measures(_config, model, _held_out):
    """The shares of right and wrong answers, and what the weights say."""
    embedding, positions = model.parameters["token_embedding"], model.parameters["position_embedding"]
    vocab, width = embedding.shape
    inputs = embedding + positions[:, None]
    query, key, value = (model.linear(f"blocks.0.attention.{part}", inputs) for part in ("query", "key", "value"))
    # `[query's token, key's position, key's token]` and `[position, token, class]`
    scores = np.einsum("qd,ptd->qpt", query[-1], key) / np.sqrt(width)
    directions = model.linear("classifier", model.linear("blocks.0.attention.output", value))
    own = model.linear("classifier", inputs[-1])

    tokens = np.arange(vocab)
    counts = dict.fromkeys(("right", "on_tokens", "near"), 0)
    by_class = np.zeros(vocab, dtype=int)
    for last in range(vocab):
        # The logits, times the sum of the exponentials of the scores, which moves no answer.
        weight = np.exp(scores[last] - scores[last].max())[:, :, None]
        parts = weight * (directions + own[last])
        pairs = parts[0][:, None] + parts[1] + parts[3][last]
        largest_of_pair = np.maximum(np.maximum(tokens[:, None], tokens), last)
        for third in range(vocab):
            answers = (pairs + parts[2][third]).argmax(-1)
            largest = np.maximum(largest_of_pair, third)
            wrong = answers != largest
            on_tokens = (answers == tokens[:, None]) | (answers == tokens) | (answers == third) | (answers == last)
            counts["right"] += (~wrong).sum()
            counts["on_tokens"] += (wrong & on_tokens).sum()
            counts["near"] += (wrong & (np.abs(answers - largest) <= 2)).sum()
            by_class += np.bincount(largest[wrong], minlength=vocab)
    wrong = by_class.sum()
    by_position = scores.reshape(-1, vocab)
    return {
        "accuracy_on_all": counts["right"] / vocab**4,
        "errors_on_tokens": counts["on_tokens"] / wrong,
        "errors_near": counts["near"] / wrong,
        "worst_class": by_class.argmax(),
        "errors_in_worst_class": by_class.max() / wrong,
        "score_order": np.mean([kendalltau(tokens, row).statistic for row in by_position]),
        "neighbour_order": np.mean(np.diff(by_position, axis=-1) > 0),
        "copying": np.mean(directions.argmax(-1) == tokens),
    }


if __name__ == "__main__":
    measure(__file__, measures)
