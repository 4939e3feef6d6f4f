"""The notebook's model in Keras, and its parameters under Headlight's names.

    from notebook_keras import build_model, dataset, from_headlight, internals, to_headlight

`to_headlight` converts from Keras, `from_headlight` to Keras; `keras_weights.py` does both for files.
The layers and their names are the notebook's.

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
    vocab_size: int = VOCAB_SIZE, d_model: int = D_MODEL, seq_len: int = SEQ_LEN, n_heads: int = 1
) -> keras.Model:
    """The notebook's model with fresh weights, not compiled."""
    inputs = layers.Input((seq_len + 1,), dtype="int32", name="tokens")
    embedded = PositionalEmbedding(vocab_size, d_model, seq_len + 1, name="embed")(inputs)
    attended, _ = layers.MultiHeadAttention(
        num_heads=n_heads, key_dim=d_model // n_heads, output_shape=d_model, name="self_attn"
    )(embedded, embedded, return_attention_scores=True)
    normed = layers.LayerNormalization(epsilon=1e-6, name="ln")(embedded + attended)
    outputs = layers.Dense(1, activation="sigmoid", name="classifier")(normed[:, 0, :])
    return keras.Model(inputs, outputs, name="TinySelfAttention")


class Parts:
    """The layers of a model, found by their kind: a model loaded from the notebook has lost a name."""

    def __init__(self, model: keras.Model):
        self.embed = next(layer for layer in model.layers if hasattr(layer, "tok"))
        self.attention, self.norm, self.classifier = (
            next(layer for layer in model.layers if isinstance(layer, kind))
            for kind in [layers.MultiHeadAttention, layers.LayerNormalization, layers.Dense]
        )


def variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Keras's variables by Headlight's names, in Headlight's order."""
    parts = Parts(model)
    named = {
        "token_embedding": parts.embed.tok.embeddings,
        "position_embedding": parts.embed.pos.embeddings,
    }
    for part in ["query", "key", "value", "output"]:
        dense = getattr(parts.attention, f"{part}_dense")
        named[f"blocks.0.attention.{part}.weight"] = dense.kernel
        named[f"blocks.0.attention.{part}.bias"] = dense.bias
    named["blocks.0.norm.gamma"] = parts.norm.gamma
    named["blocks.0.norm.beta"] = parts.norm.beta
    named["classifier.weight"] = parts.classifier.kernel
    named["classifier.bias"] = parts.classifier.bias
    return named


def headlight_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Keras keeps heads as an axis of their own; Headlight's matrices are [in, out]."""
    if name.endswith(("query.weight", "key.weight", "value.weight")):
        return (shape[0], shape[1] * shape[2])  # [d_model, head, d_head]
    if name.endswith("output.weight"):
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


def internals(model: keras.Model, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """The activations of the layers, in the shapes of a dump without its layer axis.

    Weights are what `return_attention_scores=True` returns. Scores and context appear nowhere
    outside the attention layer, so they come from its own projections and einsum equations.
    """
    parts = Parts(model)
    attention, classifier = parts.attention, parts.classifier
    embeddings = parts.embed(tokens)
    attended, weights = attention(embeddings, embeddings, return_attention_scores=True)
    query = attention.query_dense(embeddings)  # [sample, position, head, d_head]
    key = attention.key_dense(embeddings)
    value = attention.value_dense(embeddings)
    scaled = ops.multiply(query, attention._inverse_sqrt_key_dim)
    scores = ops.einsum(attention._dot_product_equation, key, scaled)
    context = ops.einsum(attention._combine_equation, weights, value)
    residual = embeddings + attended
    cls = parts.norm(residual)[:, 0, :]
    logits = ops.matmul(cls, classifier.kernel) + classifier.bias

    # These recomputed values must equal what the layer and the model return.
    assert np.array_equal(attention.output_dense(context), attended)
    assert np.array_equal(ops.softmax(scores), weights)
    assert np.array_equal(classifier.activation(logits), model(tokens))

    heads_first = (0, 2, 1, 3)
    return {
        "logits": logits.numpy()[:, 0],
        "probabilities": model(tokens).numpy()[:, 0],
        "attention_scores": scores.numpy(),  # [sample, head, query, key]
        "attention_weights": weights.numpy(),
        "query": query.numpy().transpose(heads_first),  # [sample, head, position, d_head]
        "key": key.numpy().transpose(heads_first),
        "value": value.numpy().transpose(heads_first),
        "context": context.numpy().transpose(heads_first),
        "embeddings": embeddings.numpy(),  # [sample, position, d_model]
        "residual": residual.numpy(),
    }
