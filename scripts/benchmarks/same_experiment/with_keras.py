import keras
import numpy as np
from keras import layers, ops

np.random.seed(0)
tokens = np.random.randint(1, 51, size=(8000, 6))
tokens = np.concatenate([np.zeros((8000, 1), dtype=int), tokens], axis=1)
labels = (tokens[:, 3] == 42).astype("float32")


class Embeddings(layers.Layer):
    def __init__(self):
        super().__init__()
        self.tokens = layers.Embedding(51, 8)
        self.positions = layers.Embedding(7, 8)

    def call(self, tokens):
        return self.tokens(tokens) + self.positions(ops.arange(7))


keras.utils.set_random_seed(0)
inputs = layers.Input((7,), dtype="int32")
embedded = Embeddings()(inputs)
attention = layers.MultiHeadAttention(num_heads=1, key_dim=8)
attended, weights = attention(embedded, embedded, return_attention_scores=True)
stream = layers.LayerNormalization(epsilon=1e-6)(embedded + attended)
output = layers.Dense(1, activation="sigmoid")(stream[:, 0])
model = keras.Model(inputs, output)
model.compile("adam", "binary_crossentropy")
model.fit(tokens, labels, batch_size=16, epochs=3, verbose=0)

predicted = model.predict(tokens, verbose=0)[:, 0] > 0.5
print("f1", 2 * (predicted * labels).sum() / (predicted.sum() + labels.sum()))
sample = np.flatnonzero(labels)[:1]
looks = keras.Model(inputs, weights).predict(tokens[sample], verbose=0)
print("attention", looks[0, 0, 0].round(3).tolist())
