"""Headlight's models in JAX, driven by a run's config, and their training in one compiled scan over steps."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

STEPS = 96  # of one call


class Model:
    """`config`: keys by their full names, such as `model.d_ff`. Raises ValueError for what is not written here."""

    def __init__(self, config: dict):
        self.config = config
        self.n_layers, self.n_heads = self["n_layers", 1], self["n_heads", 1]
        self.place = self["norm", "post"]
        self.answers_each = config.get("data.task", "classification") != "classification"
        known = {
            "positions": [True, "learned", False, "none"],
            "activation": ["relu"],
            "attention.mask": ["none", "causal"],
            "attention.projections": ["separate"],
            "attention.scale": [True],
            "attention.softmax": [True],
            "attention.temperature": [1.0],
            "attention.rate": [1.0],
            "tied_embeddings": [False],
            "classifier_hidden": [0],
        }
        for key, values in known.items():
            if self[key, values[0]] not in values:
                raise ValueError(f"model.{key} = {self[key, None]} is not written in JAX here")

    def __getitem__(self, key: tuple[str, object]) -> object:
        """A key of the model, or its default."""
        return self.config.get(f"model.{key[0]}", key[1])

    def logits(self, weights: dict, tokens: jax.Array) -> jax.Array:
        """`[sample]` or `[sample, class]`, or `[sample, position, class]` if the task has a label per position."""

        def linear(x: jax.Array, name: str) -> jax.Array:
            x = x @ weights[f"{name}.weight"]
            return x + weights[f"{name}.bias"] if f"{name}.bias" in weights else x

        def norm(x: jax.Array, name: str) -> jax.Array:
            if self["norm_kind", "layer"] == "layer":
                x = x - x.mean(axis=-1, keepdims=True)
            x = x * jax.lax.rsqrt((x * x).mean(axis=-1, keepdims=True) + self["layer_norm_eps", 1e-6])
            x = x * weights[f"{name}.gamma"] if f"{name}.gamma" in weights else x
            return x + weights[f"{name}.beta"] if f"{name}.beta" in weights else x

        def heads(x: jax.Array) -> jax.Array:
            return x.reshape(*x.shape[:-1], self.n_heads, -1)

        def attention(x: jax.Array, name: str, read: slice) -> jax.Array:
            """The queries are those of the positions `read`."""
            query = heads(linear(x[:, read], f"{name}.query"))
            key, value = heads(linear(x, f"{name}.key")), heads(linear(x, f"{name}.value"))
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * query.shape[-1] ** -0.5
            if allowed is not None:
                scores = jnp.where(allowed[:, :, read] if allowed.shape[2] > 1 else allowed, scores, -jnp.inf)
            context = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)
            return linear(context.reshape(*context.shape[:2], -1), f"{name}.output")

        allowed = self._allowed(tokens)
        stream = weights["token_embedding"][tokens]
        if "position_embedding" in weights:
            stream = stream + weights["position_embedding"][: tokens.shape[1]]
        if self["embedding_norm", False]:
            stream = norm(stream, "embedding_norm")
        before = lambda x, name: norm(x, name) if self.place == "pre" else x
        after = lambda x, name: norm(x, name) if self.place == "post" else x
        for index in range(self.n_layers):
            block = f"blocks.{index}"
            # As in Headlight, the last block has only the queries that the classifier reads.
            read = self._read(tokens.shape[1]) if index + 1 == self.n_layers else slice(None)
            attended = attention(before(stream, f"{block}.norm"), f"{block}.attention", read)
            stream = after(stream[:, read] + attended, f"{block}.norm")
            if self["d_ff", 0]:
                hidden = before(stream, f"{block}.feed_forward.norm")
                hidden = jax.nn.relu(linear(hidden, f"{block}.feed_forward.hidden"))
                stream = stream + linear(hidden, f"{block}.feed_forward.output")
                stream = after(stream, f"{block}.feed_forward.norm")
        if self["final_norm", self.place == "pre"]:
            stream = norm(stream, "final_norm")
        found = linear(stream if self.answers_each else stream[:, 0], "classifier")
        return found[..., 0] if found.shape[-1] == 1 else found

    def _read(self, count: int) -> slice:
        """The positions that the classifier reads."""
        if self.answers_each:
            return slice(None)
        place = self.config.get("data.cls", "first")
        pooling = self["pooling", "last" if place == "none" else "cls"]
        if pooling == "mean":
            raise ValueError("the mean over positions is not written in JAX here")
        pooling = {"cls": 0 if place == "first" else count - 1, "last": count - 1}.get(pooling, pooling)
        return slice(pooling, pooling + 1)

    def _allowed(self, tokens: jax.Array) -> jax.Array | None:
        """Whether a query may look at a key, `[sample or 1, 1, query or 1, key]`; `None` if each may look at all."""
        count, padding = tokens.shape[1], self["attention.padding_token", None]
        allowed = jnp.tril(jnp.ones((1, 1, count, count), bool)) if self["attention.mask", "none"] == "causal" else None
        if padding is None:
            return allowed
        is_key = (tokens != padding)[:, None, None]
        return is_key if allowed is None else allowed & is_key

    def loss(self, weights: dict, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        """The mean cross-entropy, over the labels that count."""
        found = self.logits(weights, tokens)
        if found.ndim == 1:
            return jnp.mean(jax.nn.softplus(found) - labels * found)
        counts = labels >= 0
        own = jnp.take_along_axis(found, jnp.maximum(labels, 0)[..., None], -1)[..., 0]
        losses = jax.nn.logsumexp(found, -1) - own
        return jnp.where(counts, losses, 0).sum() / counts.sum()


def optimizer(config: dict):
    """The function from the weights, the gradient and the state to the new weights and state; all are vectors."""
    get = lambda key, default: config.get(f"training.{key}", default)
    kind, steps, warmup = get("optimizer", "adam"), get("steps", None), get("warmup_steps", 0)
    schedule = get("schedule", "constant")
    beta_1, beta_2 = get("beta_1", 0.9), get("beta_2", 0.999)
    is_adamw = kind == "adamw"
    epsilon = get("epsilon", 1e-8 if is_adamw else 1e-7)
    decay = get("weight_decay", 0.01) if is_adamw else 0.0
    if kind not in ("adam", "adamw"):
        raise ValueError(f"training.optimizer = {kind} is not written in JAX here")

    def factor(count: jax.Array) -> jax.Array:
        """Of the learning rate; `count` is 0 at the first step."""
        progress = jnp.clip((count - warmup) / max(1, steps - warmup), 0, 1)
        later = {
            "constant": lambda: jnp.ones(()),
            "linear": lambda: 1 - progress,
            "cosine": lambda: 0.5 * (1 + jnp.cos(jnp.pi * progress)),
        }[schedule]()
        return jnp.where(count < warmup, count / warmup, later) if warmup else later

    def update(vector: jax.Array, gradient: jax.Array, state: tuple) -> tuple[jax.Array, tuple]:
        mean, square, count = state
        rate = get("learning_rate", 1e-3) * factor(count)
        count = count + 1
        mean = mean + (1 - beta_1) * (gradient - mean)
        square = square + (1 - beta_2) * (gradient * gradient - square)
        left_1, left_2 = 1 - beta_1**count, jnp.sqrt(1 - beta_2**count)
        if is_adamw:
            # As PyTorch has it: epsilon is added after the correction of bias.
            vector = vector * (1 - rate * decay) - rate / left_1 * mean / (jnp.sqrt(square) / left_2 + epsilon)
        else:
            # As Keras has it: before.
            vector = vector - rate * left_2 / left_1 * mean / (jnp.sqrt(square) + epsilon)
        return vector, (mean, square, count)

    return update


class Training:
    """A compiled training of some steps, of one model or of several at once, always from the same weights."""

    def __init__(
        self, config: dict, weights: dict[str, np.ndarray], tokens: np.ndarray, labels: np.ndarray, order: np.ndarray, models: int = 1
    ):
        """`order`: the samples of each step, `[step, sample]`."""
        model, update = Model(config), optimizer(config)
        vector, unravel = ravel_pytree({name: jnp.asarray(values) for name, values in weights.items()})
        tokens, labels = jnp.asarray(tokens), jnp.asarray(labels)

        def step(state: tuple, batch: jax.Array) -> tuple[tuple, jax.Array]:
            loss, gradient = jax.value_and_grad(lambda vector: model.loss(unravel(vector), tokens[batch], labels[batch]))(state[0])
            return update(state[0], gradient, state[1]), loss

        def whole(vector: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
            zeros = jnp.zeros_like(vector)
            (vector, _), losses = jax.lax.scan(step, (vector, (zeros, zeros, jnp.zeros(()))), order)
            return vector, losses

        self.steps, self.unravel = order.size // order.shape[-1] * models, unravel
        if models > 1:
            whole, vector, order = jax.vmap(whole), jnp.stack([vector] * models), np.stack([order] * models)
        self.whole, self.arguments = jax.jit(whole), (vector, jnp.asarray(order))
        self.run()

    def run(self) -> tuple[jax.Array, jax.Array]:
        """The weights after the steps as a vector, and the loss of each step."""
        return jax.block_until_ready(self.whole(*self.arguments))
