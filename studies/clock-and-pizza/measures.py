"""How a model adds: gradient symmetricity, distance irrelevance and circularity of Zhong et al. 2023, as PART.csv beside the rows.

    headlight reproduce clock-and-pizza --save-weights
    python -m studies.clock-and-pizza.measures headlight small clock-and-pizza/small.jsonl clock-and-pizza/small.csv
"""

import numpy as np

from studies.model import below, measure, random_words

SAMPLES, COMPONENTS, STEP = 100, 4, 1e-5


def measures(config, model, _held_out):
    """The three measures; tokens are the numbers."""
    p = config["data"]["rule"]["modulus"]
    a, b = np.divmod(np.arange(p * p), p)
    logits = np.empty((p, p))
    logits[(a + b) % p, (a - b) % p] = model.forward(np.stack([a, b], axis=1))[np.arange(p * p), (a + b) % p]

    words = random_words(0)
    cosines = []
    for _ in range(SAMPLES):
        *pair, label = (below(p, words) for _ in range(3))
        width = model.parameters["token_embedding"].shape[1]
        moved = STEP * np.eye(2 * width).reshape(-1, 2, width)
        tokens = np.tile(pair, (2 * width, 1))
        ends = [model.forward(tokens, sign * moved)[:, label] for sign in (1, -1)]
        first, second = (ends[0] - ends[1]).reshape(2, width)
        cosines.append(first @ second / np.linalg.norm(first) / np.linalg.norm(second))

    rows = model.parameters["token_embedding"][:p]
    components = np.linalg.svd(rows - rows.mean(0))[0][:, :COMPONENTS]
    # All power but that of frequency 0 is also at the negative frequency; p is odd.
    power = 2 * np.abs(np.fft.rfft(components, axis=0)[1:]) ** 2 / p
    return {
        "gradient_symmetricity": np.mean(cosines),
        "distance_irrelevance": logits.std(axis=0).mean() / logits.std(),
        "circularity": power.max(0).mean(),
    }


if __name__ == "__main__":
    measure(__file__, measures, keep=("held_out_accuracy",))
