"""The notebook's model in Keras, its like with more blocks and classes, and parameters under Headlight's names.

    from notebook_keras import build_model, dataset, from_headlight, internals, to_headlight

`to_headlight` converts from Keras, `from_headlight` to Keras; `keras_weights.py` does both for files.
The layers are the notebook's, and so are their names in its model. More blocks repeat its one; a feed-forward
layer, a residual sum and a norm can follow attention in each; more than two classes have a softmax.

Keras seeds its initialisers from Python's `random`, which the notebook leaves unseeded:
its `tf.random.set_seed(0)` fixes only the batch order. `keras.utils.set_random_seed` fixes both.
"""

import os

# Must come before TensorFlow is imported; so the other scripts import `keras` and `tf` from here.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its order of sums depends on the CPU
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

# One thread adds in one order: the same bytes on every run.
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

VOCAB_SIZE = 51  # includes [CLS] = 0
SEQ_LEN = 6  # without [CLS]
SAMPLES = 8_000
D_MODEL = 8
EPOCHS = 3
BATCH_SIZE = 16


def dataset() -> tuple[np.ndarray, np.ndarray]:
    """Tokens [sample, position] int64 and labels [sample] float32. Seeds NumPy with 0."""
    np.random.seed(0)
    tokens = np.random.randint(1, VOCAB_SIZE, size=(SAMPLES, SEQ_LEN))
    tokens = np.concatenate([np.zeros((SAMPLES, 1), dtype=int), tokens], axis=1)
    return tokens, (tokens[:, 3] == 42).astype("float32")


@keras.saving.register_keras_serializable(package="headlight")
class PositionalEmbedding(layers.Layer):
    def __init__(self, vocab, d_model, max_len, **kw):
        super().__init__(**kw)
        self.sizes = {"vocab": vocab, "d_model": d_model, "max_len": max_len}
        self.tok = layers.Embedding(vocab, d_model, name="tok_emb")
        self.pos = layers.Embedding(max_len, d_model, name="pos_emb")

    # The notebook lacks these two; with them a saved model keeps the layer's name.
    def get_config(self):
        return {**super().get_config(), **self.sizes}

    def build(self, _):
        self.tok.build()
        self.pos.build()

    def call(self, tok_ids):
        return self.tok(tok_ids) + self.pos(tf.range(tf.shape(tok_ids)[1]))


def build_model(
    vocab_size: int = VOCAB_SIZE,
    d_model: int = D_MODEL,
    seq_len: int = SEQ_LEN,
    n_heads: int = 1,
    n_layers: int = 1,
    d_ff: int = 0,
    n_classes: int = 2,
    padding_token: int | None = None,
) -> keras.Model:
    """The notebook's model with fresh weights, not compiled. No query attends to a padding token."""
    inputs = layers.Input((seq_len + 1,), dtype="int32", name="tokens")
    stream = PositionalEmbedding(vocab_size, d_model, seq_len + 1, name="embed")(inputs)
    mask = padding_mask(inputs, padding_token)
    for block in range(n_layers):
        suffix = f"_{block}" if block else ""
        attended, _ = layers.MultiHeadAttention(
            num_heads=n_heads,
            key_dim=d_model // n_heads,
            output_shape=d_model,
            name=f"self_attn{suffix}",
        )(stream, stream, attention_mask=mask, return_attention_scores=True)
        stream = layers.LayerNormalization(epsilon=1e-6, name=f"ln{suffix}")(stream + attended)
        if d_ff:
            hidden = layers.Dense(d_ff, activation="relu", name=f"hidden{suffix}")(stream)
            output = layers.Dense(d_model, name=f"output{suffix}")(hidden)
            norm = layers.LayerNormalization(epsilon=1e-6, name=f"ff_ln{suffix}")
            stream = norm(stream + output)
    one_logit = n_classes == 2
    outputs = layers.Dense(
        1 if one_logit else n_classes,
        activation="sigmoid" if one_logit else "softmax",
        name="classifier",
    )(stream[:, 0, :])
    return keras.Model(inputs, outputs, name="TinySelfAttention")


def padding_mask(tokens, padding_token: int | None):
    """True where a query may attend to a key, [sample, 1, key]; None without padding."""
    if padding_token is None:
        return None
    return ops.expand_dims(ops.not_equal(tokens, padding_token), 1)


class Block:
    """The layers of a block; `hidden`, `output` and `feed_forward_norm` are None without feed-forward layer."""

    def __init__(self, attention, norm, hidden=None, output=None, feed_forward_norm=None):
        self.attention, self.norm = attention, norm
        self.hidden, self.output, self.feed_forward_norm = hidden, output, feed_forward_norm


class Parts:
    """The layers of a model, found by their kind: a model loaded from the notebook has lost a name."""

    def __init__(self, model: keras.Model):
        self.embed = next(layer for layer in model.layers if hasattr(layer, "tok"))
        attentions, norms, denses = (
            [layer for layer in model.layers if isinstance(layer, kind)]
            for kind in [layers.MultiHeadAttention, layers.LayerNormalization, layers.Dense]
        )
        *denses, self.classifier = denses
        if denses:
            columns = [attentions, norms[::2], denses[::2], denses[1::2], norms[1::2]]
        else:
            columns = [attentions, norms]
        self.blocks = [Block(*row) for row in zip(*columns, strict=True)]


def variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Keras's variables by Headlight's names, in Headlight's order."""
    parts = Parts(model)
    named = {
        "token_embedding": parts.embed.tok.embeddings,
        "position_embedding": parts.embed.pos.embeddings,
    }

    def add_dense(name: str, dense: layers.Layer) -> None:
        named[f"{name}.weight"] = dense.kernel
        named[f"{name}.bias"] = dense.bias

    def add_norm(name: str, norm: layers.LayerNormalization) -> None:
        named[f"{name}.gamma"] = norm.gamma
        named[f"{name}.beta"] = norm.beta

    for index, block in enumerate(parts.blocks):
        for part in ["query", "key", "value", "output"]:
            add_dense(f"blocks.{index}.attention.{part}", getattr(block.attention, f"{part}_dense"))
        add_norm(f"blocks.{index}.norm", block.norm)
        if block.hidden:
            add_dense(f"blocks.{index}.feed_forward.hidden", block.hidden)
            add_dense(f"blocks.{index}.feed_forward.output", block.output)
            add_norm(f"blocks.{index}.feed_forward.norm", block.feed_forward_norm)
    add_dense("classifier", parts.classifier)
    return named


def headlight_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Keras keeps heads as an axis of their own; Headlight's matrices are [in, out]."""
    if name.endswith(("query.weight", "key.weight", "value.weight")):
        return (shape[0], shape[1] * shape[2])  # [d_model, head, d_head]
    if name.endswith("attention.output.weight"):
        return (shape[0] * shape[1], shape[2])  # [head, d_head, d_model]
    if name.endswith(("query.bias", "key.bias", "value.bias")):
        return (shape[0] * shape[1],)  # [head, d_head]
    return shape


def to_headlight(model: keras.Model) -> dict[str, np.ndarray]:
    """The model's parameters as Headlight stores them."""
    return {
        name: variable.numpy().reshape(headlight_shape(name, variable.shape))
        for name, variable in variables(model).items()
    }


def from_headlight(tensors: dict[str, np.ndarray], model: keras.Model) -> None:
    """Sets the model's parameters. Raises ValueError if names or shapes differ."""
    named = variables(model)
    if set(tensors) != set(named):
        raise ValueError(f"names that only one side has: {sorted(set(tensors) ^ set(named))}")
    for name, variable in named.items():
        expected = headlight_shape(name, variable.shape)
        if tensors[name].shape != expected:
            raise ValueError(f"{name} has shape {tensors[name].shape}, the model needs {expected}")
        variable.assign(tensors[name].reshape(variable.shape))


def internals(
    model: keras.Model, tokens: np.ndarray, padding_token: int | None = None
) -> dict[str, np.ndarray]:
    """The activations of the layers, in the shapes of a dump; without the layer axis if there is one block.

    Weights are what `return_attention_scores=True` returns. Scores and context appear nowhere
    outside the attention layer, so they come from its own projections and einsum equations.
    """
    parts = Parts(model)
    classifier = parts.classifier
    mask = padding_mask(tokens, padding_token)
    embeddings = stream = parts.embed(tokens)
    per_block = []
    for block in parts.blocks:
        attention = block.attention
        attended, weights = attention(
            stream, stream, attention_mask=mask, return_attention_scores=True
        )
        query = attention.query_dense(stream)  # [sample, position, head, d_head]
        key = attention.key_dense(stream)
        value = attention.value_dense(stream)
        scaled = ops.multiply(query, attention._inverse_sqrt_key_dim)
        scores = ops.einsum(attention._dot_product_equation, key, scaled)
        context = ops.einsum(attention._combine_equation, weights, value)
        # These recomputed values must equal what the layer returns.
        assert np.array_equal(attention.output_dense(context), attended)
        allowed = scores if mask is None else ops.where(mask[:, None], scores, -np.inf)
        assert np.array_equal(ops.softmax(allowed), weights)
        residual = stream + attended
        heads_first = (0, 2, 1, 3)
        arrays = {
            "attention_scores": scores.numpy(),  # [sample, head, query, key]
            "attention_weights": weights.numpy(),
            "query": query.numpy().transpose(heads_first),  # [sample, head, position, d_head]
            "key": key.numpy().transpose(heads_first),
            "value": value.numpy().transpose(heads_first),
            "context": context.numpy().transpose(heads_first),
            "residual": residual.numpy(),  # [sample, position, d_model]
        }
        stream = block.norm(residual)
        if block.hidden:
            hidden = block.hidden(stream)
            residual = stream + block.output(hidden)
            arrays["feed_forward_hidden"] = hidden.numpy()
            arrays["feed_forward_residual"] = residual.numpy()
            stream = block.feed_forward_norm(residual)
        per_block.append(arrays)
    logits = ops.matmul(stream[:, 0, :], classifier.kernel) + classifier.bias
    assert np.array_equal(classifier.activation(logits), model(tokens))

    one_logit = classifier.units == 1
    found = {
        "logits": logits.numpy(),
        "probabilities": model(tokens).numpy(),
    }
    if one_logit:
        found = {name: values[:, 0] for name, values in found.items()}
    found["embeddings"] = embeddings.numpy()  # [sample, position, d_model]
    for name in per_block[0]:
        blocks = [arrays[name] for arrays in per_block]
        found[name] = blocks[0] if len(blocks) == 1 else np.stack(blocks, axis=1)
    return found
