"""What `headlight certify` counts is what NumPy counts from the weights alone, in float64.

With few tokens, NumPy answers every input: labels, wrong answers, the inputs with the smallest margins, and the tokens that wrong inputs
have in common must be those of the certificate. Where a margin is below 1e-4, float32 may decide otherwise. With the notebook's 50 tokens,
it answers the listed inputs, and random ones, of which a share must be wrong that suits the certificate's.
"""

import itertools
import math

import numpy as np
import pytest

NEAR = 1e-4
AT_ONCE = 50_000

# Changes to the notebook's config, and how many random inputs NumPy answers; 0: all inputs.
SMALL = ["data.vocab_size=11", "data.samples=2000", "data.held_out=500"]
CASES = [
    ([*SMALL, "data.rule.token=7"], 0),
    ([*SMALL, "data.rule.token=7", "model.n_heads=2", "training.epochs=6"], 0),
    ([*SMALL, 'data.rule={kind = "token-anywhere", token = 4}', "model.n_heads=4", "model.attention.temperature=0.5"], 0),
    ([*SMALL, 'data.rule={kind = "equal-positions", first = 1, second = 5}', "model.layer_norm_eps=0.1", "training.epochs=40"], 0),
    ([], 10_000_000),
    (["training.epochs=1", "seed=3"], 1_000_000),
]

LABELS = {
    "token-at-position": lambda tokens, rule: tokens[:, rule["position"]] == rule["token"],
    "token-anywhere": lambda tokens, rule: (tokens[:, 1:] == rule["token"]).any(1),
    "equal-positions": lambda tokens, rule: tokens[:, rule["first"]] == tokens[:, rule["second"]],
}


class Model:
    """A model with one block, [CLS] first, and norms after residual additions."""

    def __init__(self, run) -> None:
        self.data, self.model = run.config["data"], run.config["model"]
        self.weights = {name: values.astype(float) for name, values in run.weights.items()}
        assert self.model["n_layers"] == 1 and self.model.get("d_ff", 0) == 0

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        name = f"blocks.0.attention.{name}"
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def logits(self, tokens: np.ndarray) -> np.ndarray:
        """The log-odds of class 1 for samples, `[CLS]` among their tokens. `[sample]`"""
        heads = self.model["n_heads"]
        # [position, token, d_model]
        x = self.weights["token_embedding"] + self.weights["position_embedding"][:, None]
        own = x[0, 0]
        query, keys, values = self.linear("query", own), self.linear("key", x), self.linear("value", x)
        d_head = query.size // heads
        scale = 1 / (math.sqrt(d_head) * self.model["attention"].get("temperature", 1.0))
        places = np.arange(tokens.shape[1])
        context = []
        for head in range(heads):
            columns = slice(head * d_head, (head + 1) * d_head)
            scores = (keys[..., columns] @ query[columns] * scale)[places, tokens]
            weights = np.exp(scores - scores.max(1, keepdims=True))
            weights /= weights.sum(1, keepdims=True)
            context.append(sum(weights[:, [place]] * values[place, tokens[:, place], columns] for place in places))
        stream = own + self.linear("output", np.concatenate(context, 1))
        centred = stream - stream.mean(1, keepdims=True)
        normed = centred / np.sqrt((centred**2).mean(1, keepdims=True) + self.model["layer_norm_eps"])
        normed = normed * self.weights["blocks.0.norm.gamma"] + self.weights["blocks.0.norm.beta"]
        return (normed @ self.weights["classifier.weight"] + self.weights["classifier.bias"])[:, 0]

    def answers(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The labels of samples, and their margins."""
        labels = LABELS[self.data["rule"]["kind"]](tokens, self.data["rule"]).astype(int)
        logits = np.concatenate([self.logits(part) for part in np.array_split(tokens, -(-len(tokens) // AT_ONCE))])
        return labels, np.where(labels == 1, logits, -logits)

    def every_input(self) -> np.ndarray:
        tokens = range(1, self.data["vocab_size"])
        rows = np.array(list(itertools.product(tokens, repeat=self.data["seq_len"])))
        return np.insert(rows, 0, 0, axis=1)


def check_examples(model: Model, certificate: dict) -> None:
    """The listed inputs have the label, the class and the margin that NumPy gives them."""
    for own in certificate["classes"]:
        tokens = np.array([example["tokens"] for example in own["worst"]])
        labels, margins = model.answers(tokens)
        assert (labels == own["class"]).all()
        for example, margin in zip(own["worst"], margins):
            assert abs(example["margin"] - margin) < NEAR, f"{example}: {margin}"
            assert abs(margin) < NEAR or (example["predicted"] == own["class"]) == (margin > 0), example
        assert own["smallest_margin"] == own["worst"][0]["margin"]
    assert certificate["smallest_margin"] == min(own["smallest_margin"] for own in certificate["classes"])


def check_all(model: Model, certificate: dict) -> None:
    """Every input."""
    tokens = model.every_input()
    labels, margins = model.answers(tokens)
    assert certificate["inputs"] == len(tokens)
    for own in certificate["classes"]:
        is_own = labels == own["class"]
        wrong, right = is_own & (margins < 0), is_own & (margins >= 0)
        unsure = int((is_own & (np.abs(margins) < NEAR)).sum())
        assert own["inputs"] == is_own.sum()
        assert abs(own["wrong"] - int(wrong.sum())) <= unsure, f"{own['wrong']} wrong, not {wrong.sum()}"
        smallest = np.sort(margins[is_own])[: len(own["worst"])]
        assert np.abs(smallest - [example["margin"] for example in own["worst"]]).max() < NEAR, smallest
        for common in own["common"]:
            shares = (tokens[wrong] == common["token"]).mean(0)
            tolerance = 1e-9 + 2 * unsure / max(own["wrong"], 1)
            assert np.abs(shares - common["positions"]).max() <= tolerance, common
            assert abs(shares.sum() - common["per_wrong_input"]) <= tolerance * len(shares)
            others = (tokens[right] == common["token"]).mean(0)
            assert abs(others.sum() - common["per_right_input"]) <= tolerance * len(shares), common
            assert shares.sum() >= 2 * others.sum() - tolerance * len(shares)
    assert certificate["wrong"] == sum(own["wrong"] for own in certificate["classes"])
    assert math.isclose(certificate["share"], certificate["wrong"] / certificate["inputs"])


def tail(count: int, draws: int, share: float) -> float:
    """The probability of a count that is as far from the expected one, on its side, or farther."""
    choices = lambda k: math.lgamma(draws + 1) - math.lgamma(k + 1) - math.lgamma(draws - k + 1)
    chance = lambda k: math.exp(choices(k) + k * math.log(share) + (draws - k) * math.log1p(-share))
    width = 12 * math.sqrt(draws * share) + 50
    if count > draws * share:
        return sum(chance(k) for k in range(count, min(draws, math.ceil(count + width)) + 1))
    return sum(chance(k) for k in range(max(0, math.floor(count - width)), count + 1))


def check_random(model: Model, certificate: dict, draws: int) -> None:
    """Random inputs."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(draws // AT_ONCE):
        tokens = rng.integers(1, model.data["vocab_size"], (AT_ONCE, model.data["seq_len"]))
        _, margins = model.answers(np.insert(tokens, 0, 0, axis=1))
        wrong += int((margins < 0).sum())
    share = certificate["share"]
    chance = tail(wrong, draws, share) if share > 0 else float(wrong == 0)
    assert chance > 1e-5, f"{wrong} of {draws} are wrong, and the certificate has a share of {share}"


@pytest.mark.parametrize(("changes", "draws"), CASES)
def test_numpy_counts_what_the_certificate_says(headlight, changes, draws):
    run = headlight.train("notebook", *changes)
    certificate = headlight.json("certify", run.path)
    model = Model(run)
    check_examples(model, certificate)
    if draws:
        check_random(model, certificate, draws)
    else:
        check_all(model, certificate)
