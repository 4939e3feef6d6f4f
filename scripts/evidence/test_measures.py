"""The measures of `report.measures` in NumPy and SciPy, from the weights that the binary trains; tests of crates/experiment read them.

Everything is computed in float64. Gradients are differences of two forward passes, and Kendall's tau is SciPy's.
"""

import json

import numpy as np
import pytest
from common import ROOT, golden
from scipy.stats import kendalltau

FOLDER = ROOT / "crates/analysis/tests/measures"
EPSILON = 1e-6


class Model:
    """The forward pass of one sample: learned positions, all biases, norms after each sum or none."""

    def __init__(self, config: dict, weights: dict[str, np.ndarray]) -> None:
        model = config["model"]
        attention = model.get("attention", {})
        self.weights = {name: array.astype(np.float64) for name, array in weights.items()}
        self.heads, self.layers = model["n_heads"], model.get("n_layers", 1)
        self.has_norm = model.get("norm", "post") == "post"
        self.has_feed_forward = model.get("d_ff", 0) > 0
        self.rate, self.padding = attention.get("rate", 1.0), attention.get("padding_token")
        # The class is read from [CLS], or from the last position.
        self.read = 0 if config["data"].get("cls", "first") == "first" else -1

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        if not self.has_norm:
            return x
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * self.weights[f"{name}.gamma"] + self.weights[f"{name}.beta"]

    def forward(self, tokens, moved=0.0, held=None, left_out=(), removed=None, read_context=None) -> tuple[np.ndarray, np.ndarray]:
        """Logits, and attention weights `[layer, head, query, key]`. `moved` is added to the embeddings of the tokens; `held` are
        attention weights to use; the places of `left_out` are empty, or hold padding; `removed` is a block and a head whose context is 0; `read_context` is that of the last block's heads
        at the position that is read. Keeps the last block's values, `[head, position, d_head]`."""
        if self.padding is not None:
            tokens = [self.padding if position in left_out else token for position, token in enumerate(tokens)]
        x = self.weights["token_embedding"][tokens] + moved + self.weights["position_embedding"]
        x[list(left_out)] *= self.padding is not None
        hidden = np.array([token == self.padding or position in left_out for position, token in enumerate(tokens)])
        attention = []
        for layer in range(self.layers):
            block = f"blocks.{layer}."
            query, key, value = (
                np.stack(np.split(self.linear(f"{block}attention.{part}", x), self.heads, axis=-1)) for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
            scores[:, :, hidden] = -np.inf
            softmax = np.exp(scores - scores.max(-1, keepdims=True))
            softmax /= softmax.sum(-1, keepdims=True)
            weights = self.rate * softmax + (1 - self.rate) * ~hidden if held is None else held[layer]
            attention.append(weights)
            contexts, self.values = weights @ value, value
            if removed is not None and removed[0] == layer:
                contexts[removed[1]] = 0
            if read_context is not None and layer == self.layers - 1:
                contexts[:, self.read] = read_context
            context = np.concatenate(list(contexts), axis=-1)
            x = self.norm(f"{block}norm", x + self.linear(f"{block}attention.output", context))
            if self.has_feed_forward:
                inner = np.maximum(self.linear(f"{block}feed_forward.hidden", x), 0)
                x = self.norm(f"{block}feed_forward.norm", x + self.linear(f"{block}feed_forward.output", inner))
        return self.linear("classifier", x[self.read]), np.stack(attention)

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        logits = np.array([0.0, logits[0]]) if len(logits) == 1 else logits
        parts = np.exp(logits - logits.max())
        return parts / parts.sum()


class Samples:
    """Measures over samples."""

    def __init__(self, config: dict, model: Model, tokens: np.ndarray) -> None:
        self.model, self.tokens = model, tokens
        self.has_cls = config["data"].get("cls", "first") != "none"
        self.rule = config["data"]["rule"]

    def words(self, tokens: np.ndarray) -> list[int]:
        cls = {self.model.read % len(tokens)} if self.has_cls else set()
        return [position for position, token in enumerate(tokens) if position not in cls and token != self.model.padding]

    def kendall(self, importance) -> float:
        taus = []
        for tokens in self.tokens:
            attention = self.model.forward(tokens)[1][-1, :, self.model.read].mean(0)
            places = self.words(tokens)
            taus.append(kendalltau(attention[places], [importance(tokens, place) for place in places]).statistic)
        return float(np.nanmean(taus))

    def kendall_gradient(self) -> float:
        def importance(tokens, place):
            logits, held = self.model.forward(tokens)
            predicted = self.model.probabilities(logits).argmax()
            step = np.zeros((len(tokens), self.model.weights["token_embedding"].shape[1]))
            step[place] = 1e-5 * self.model.weights["token_embedding"][tokens[place]]
            ends = [self.model.probabilities(self.model.forward(tokens, sign * step, held)[0])[predicted] for sign in (1, -1)]
            return abs(ends[0] - ends[1])

        return self.kendall(importance)

    def kendall_removal(self) -> float:
        def importance(tokens, place):
            before, after = (self.model.probabilities(self.model.forward(tokens, left_out=out)[0]) for out in ((), (place,)))
            return np.abs(before - after).sum() / 2

        return self.kendall(importance)

    def deciding(self, positions) -> tuple[np.ndarray, float]:
        """Attention by layer and head, and uniform attention, on the positions that a function gives."""
        attention, uniform = [], []
        for tokens in self.tokens:
            deciding = positions(tokens)
            if deciding:
                attention.append(self.model.forward(tokens)[1][:, :, self.model.read, deciding].sum(-1))
                uniform.append(len(deciding) / np.sum(tokens != self.model.padding))
        return np.mean(attention, axis=0), float(np.mean(uniform))


    def label(self, tokens) -> int:
        rule = self.rule
        return int(tokens[rule["position"]] == rule["token"]) if rule["kind"] == "token-at-position" else int(max(tokens))

    def head_removal(self) -> np.ndarray:
        def loss(removed):
            logits = (self.model.forward(tokens, removed=removed)[0] for tokens in self.tokens)
            return np.mean([-np.log(self.model.probabilities(own)[self.label(tokens)]) for own, tokens in zip(logits, self.tokens)])

        return np.array([[loss((layer, head)) - loss(None) for head in range(self.model.heads)] for layer in range(self.model.layers)])


class Pairs:
    """Samples of class 1, and the same ones with another token at the position that decides."""

    def __init__(self, config: dict, model: Model, samples: Samples) -> None:
        self.model, self.position = model, config["data"]["rule"]["position"]
        self.pairs = []
        for index, tokens in enumerate(samples.tokens):
            if samples.label(tokens) == 1:
                others = np.roll(samples.tokens, -index, axis=0)[:, self.position]
                other = next(token for token in others if token != config["data"]["rule"]["token"])
                changed = tokens.copy()
                changed[self.position] = other
                self.pairs.append((tokens, changed))
        self.pairs = self.pairs[:64]

    def odds(self, of_one: int, change=lambda tokens: {}) -> float:
        return np.mean([self.model.forward(pair[1 - of_one], **change(pair))[0][0] for pair in self.pairs])

    def gap(self, change=lambda pair: {}) -> float:
        return self.odds(1, change) - self.odds(0, change)

    def carried(self, of_weights: int) -> float:
        def change(pair):
            parts = []
            for tokens in pair:
                weights = self.model.forward(tokens)[1][-1, :, self.model.read]
                parts.append((weights, self.model.values))
            weights, values = parts[1 - of_weights][0], parts[of_weights][1]
            return {"read_context": np.einsum("hk,hkd->hd", weights, values)}

        return (self.odds(0, change) - self.odds(0)) / self.gap()

    def gap_by_weights(self) -> float:
        return self.carried(1)

    def gap_by_values(self) -> float:
        return self.carried(0)


def expected(config: dict, model: Model, tokens: np.ndarray) -> dict:
    """The measures that a config asks for."""
    samples = Samples(config, model, tokens)
    sources = [samples]
    if config["data"]["rule"]["kind"] == "token-at-position":
        sources.append(Pairs(config, model, samples))
    own = {}
    for name in config["report"]["measures"]:
        if name.startswith("deciding"):
            own["deciding_attention"], own["deciding_uniform"] = samples.deciding(lambda tokens: [0, 1])
        else:
            own[name] = next(getattr(source, name) for source in sources if hasattr(source, name))()
    return {name: np.round(value, 6).tolist() for name, value in own.items()}


@pytest.fixture(scope="module")
def computed(headlight) -> dict[str, dict]:
    """What NumPy computes for each config."""
    found = {}
    for path in sorted(FOLDER.glob("*.toml")):
        run = headlight.train(path)
        found[path.stem] = expected(run.config, Model(run.config, run.weights), headlight.data(path)["held_out_tokens"])
    return found


@pytest.mark.parametrize("config", sorted(path.stem for path in FOLDER.glob("*.toml")))
def test_the_program_has_the_measures_of_numpy(headlight, computed, config):
    found = headlight.json("evaluate", headlight.train(FOLDER / f"{config}.toml").path)["measures"]
    assert computed[config].keys() == found.keys()
    for name, value in computed[config].items():
        # One pair of words whose order float32 does not tell moves the mean over the samples by less.
        tolerance = 0.005 if name.startswith("kendall") else 1e-4
        assert np.allclose(found[name], value, rtol=0, atol=tolerance), f"{name}: {found[name]}, not {value}"


def test_the_committed_measures_are_numpys(computed):
    committed = json.loads(golden(FOLDER / "expected.json", json.dumps(computed, indent=2) + "\n"))
    assert committed.keys() == computed.keys()
    for config, measures in committed.items():
        for name, value in measures.items():
            assert np.allclose(value, computed[config][name], rtol=0, atol=2e-6), f"{config}, {name}: {value} is committed"
