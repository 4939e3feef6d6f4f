"""Three training runs in Keras, recorded for Headlight to repeat.

    python scripts/evidence/keras_reference.py    # writes the files; test_keras.py compares them with fresh runs

`data/keras_reference.safetensors` is the notebook's model. `data/keras_classes.safetensors` has two blocks of two
heads with feed-forward layers, and three classes: how often token 7 occurs. `data/keras_words.safetensors` has one
such block, and the sentences of `data/keras_words.csv`, whose lengths differ: words, padding, three classes.

Parameters have Headlight's names and shapes. In a file:

    initial.<parameter>      before the first step
    gradient.<parameter>     of the first batch's loss at the initial weights; dense for embeddings too
    final.<parameter>        after the last step
    batch_order              [epoch, sample] uint16: the samples in order
    losses                   [step] float32: each batch's loss before its own step
    samples                  int32: the first of each class, 8 of two or 4 of three
    initial.<array>, final.<array>    for these samples, the arrays of a dump; without the layer axis for one block
    final.probabilities      [sample] or [sample, class] float32: of all samples

Keras draws the initial weights; the batch order is NumPy's, so that it can be stored and repeated.
The steps are `train_on_batch` with the compiled Adam. `binary_crossentropy` gets probabilities but
computes from logits: `Dense(activation="sigmoid")` leaves them on the tensor as `_keras_logits`,
and Keras's TensorFlow backend prefers them; so it does with "softmax". So the clipping of bare probabilities at
1e-7 affects neither losses nor gradients; each run checks that in `loss_is_from_logits`.

Keras on TensorFlow differs from Adam as published in two ways. It adds epsilon before the bias
correction. And the gradient of an embedding is a list of rows, which it squares before it sums the
rows of one token, so the second moment of [CLS] is smaller.

The biases of the keys have no effect: a softmax ignores what all scores of a row have in common.
Their gradients are rounding errors, and so are their values: oneDNN's order of sums changed them by
9e-5, and all else by 3e-6. A comparison skips them, and subtracts their part from keys and scores before it compares these.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import random

import numpy as np
import safetensors
import safetensors.numpy

from notebook_keras import BATCH_SIZE, EPOCHS
from notebook_keras import build_model, dataset, headlight_shape, internals, keras, tf
from notebook_keras import to_headlight, variables

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
SENTENCES = DATA / "keras_words.csv"
PADDING = 1


@dataclasses.dataclass
class Experiment:
    """What is trained: tokens [sample, position], labels [sample], and the sizes of the model."""

    file: str
    tokens: np.ndarray
    labels: np.ndarray
    epochs: int
    samples_per_class: int  # whose arrays are recorded
    model: dict[str, int]

    @property
    def path(self) -> pathlib.Path:
        return DATA / self.file

    @property
    def loss(self) -> str:
        several = self.model.get("n_classes", 2) > 2
        return "sparse_categorical_crossentropy" if several else "binary_crossentropy"

    def build(self) -> keras.Model:
        model = build_model(**self.model)
        model.compile(optimizer="adam", loss=self.loss)
        return model


def counts() -> tuple[np.ndarray, np.ndarray]:
    """How often token 7 occurs: not at all, once, or more often. As `data/keras_classes.toml`."""
    np.random.seed(0)
    tokens = np.random.randint(1, 11, size=(2_000, 6))
    tokens = np.concatenate([np.zeros((len(tokens), 1), dtype=int), tokens], axis=1)
    return tokens, np.minimum((tokens == 7).sum(axis=1), 2)


def sentences() -> list[tuple[str, str]]:
    """Texts and classes, drawn from a grammar."""
    draw = random.Random(0)
    found = []
    for _ in range(400):
        word, label = draw.choice([("good", "happy"), ("fine", "so-so"), ("awful", "sad")])
        no = draw.random() < 0.3
        if no:
            label = {"happy": "sad", "sad": "happy"}.get(label, label)
        words = [draw.choice(["the", "this", "my"]), draw.choice(["film", "book", "song", "meal"])]
        words += [draw.choice(["was", "seems"]), *["not"] * no, *["very"] * draw.randrange(3), word]
        found.append((" ".join(words), label))
    return found


def words() -> tuple[np.ndarray, np.ndarray]:
    """The sentences as tokens. [CLS] is 0, padding 1, and words count from 3: the most frequent first, and among equals
    the first in the alphabet. Classes are in the order of their names."""
    texts = [text.split() for text, _ in sentences()]
    counts = collections.Counter(word for text in texts for word in text)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    ids = {word: index + 3 for index, word in enumerate(ordered)}
    longest = max(map(len, texts))
    tokens = [[0, *map(ids.get, text), *[PADDING] * (longest - len(text))] for text in texts]
    labels = [label for _, label in sentences()]
    return np.array(tokens), np.array(list(map(sorted(set(labels)).index, labels)))


EXPERIMENTS = [
    Experiment("keras_reference.safetensors", *dataset(), EPOCHS, samples_per_class=8, model={}),
    Experiment(
        "keras_classes.safetensors",
        *counts(),
        epochs=2,
        samples_per_class=4,
        model={
            "vocab_size": 11,
            "d_model": 16,
            "seq_len": 6,
            "n_heads": 2,
            "n_layers": 2,
            "d_ff": 32,
            "n_classes": 3,
        },
    ),
    Experiment(
        "keras_words.safetensors",
        *words(),
        epochs=3,
        samples_per_class=4,
        model={
            "vocab_size": 17,
            "d_model": 8,
            "seq_len": 7,
            "n_heads": 2,
            "d_ff": 16,
            "n_classes": 3,
            "padding_token": PADDING,
        },
    ),
]


def gradients(model: keras.Model, tokens: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Gradients of the compiled loss, dense, by Headlight's names."""
    named = variables(model)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(y=tf.constant(labels), y_pred=model(tokens, training=True))
    found = tape.gradient(loss, [variable.value for variable in named.values()])
    return {
        name: tf.convert_to_tensor(gradient).numpy().reshape(headlight_shape(name, gradient.shape))
        for name, gradient in zip(named, found)
    }


def loss_is_from_logits(experiment: Experiment) -> bool:
    """Whether a confident wrong answer costs its logit, 40, and not -log(1e-7) = 16.1."""
    model = experiment.build()
    classifier = model.get_layer("classifier")
    classifier.kernel.assign(np.zeros(classifier.kernel.shape))
    classifier.bias.assign([*np.zeros(classifier.units - 1), 40.0])
    tokens = np.zeros((1, model.input_shape[1]), dtype=int)
    return model.train_on_batch(tokens, np.zeros(1, experiment.labels.dtype)) == 40.0


def record(experiment: Experiment, seed: int) -> dict[str, np.ndarray]:
    tokens, labels = experiment.tokens, experiment.labels
    padding = experiment.model.get("padding_token")
    assert loss_is_from_logits(experiment)
    keras.utils.set_random_seed(seed)
    model = experiment.build()

    count = experiment.samples_per_class
    first_of_each = [np.flatnonzero(labels == label)[:count] for label in np.unique(labels)]
    samples = np.sort(np.concatenate(first_of_each)).astype(np.int32)
    generator = np.random.default_rng(seed)
    order = np.stack([generator.permutation(len(tokens)) for _ in range(experiment.epochs)])
    batches = order.reshape(-1, BATCH_SIZE)

    recorded = {"batch_order": order.astype(np.uint16), "samples": samples}
    first = batches[0]
    for name, gradient in gradients(model, tokens[first], labels[first]).items():
        recorded[f"gradient.{name}"] = gradient

    def record_model(prefix: str) -> None:
        for name, values in to_headlight(model).items():
            recorded[f"{prefix}.{name}"] = values
        for name, values in internals(model, tokens[samples], padding).items():
            if name != "probabilities":
                # Safetensors writes an array's memory, in whatever order it is.
                recorded[f"{prefix}.{name}"] = np.ascontiguousarray(values)

    record_model("initial")
    losses = []
    for batch in batches:
        model.reset_metrics()  # or the loss would be a mean over the batches so far
        losses.append(model.train_on_batch(tokens[batch], labels[batch]))
    recorded["losses"] = np.array(losses, dtype=np.float32)
    record_model("final")
    recorded["final.probabilities"] = internals(model, tokens, padding)["probabilities"]
    return recorded


def without_key_bias(recorded: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with nothing in them that depends on the biases of the keys."""
    recorded = dict(recorded)
    for moment in ["initial", "final"]:
        key = recorded[f"{moment}.key"]
        names = [name for name in recorded if name.startswith(moment) and name.endswith("key.bias")]
        biases = [recorded.pop(name) for name in sorted(names)]
        heads, width = key.shape[-3], key.shape[-1]
        biases = np.stack(biases).reshape(len(biases), heads, 1, width)
        recorded[f"{moment}.key"] = key - (biases if len(names) > 1 else biases[0])
        scores = recorded[f"{moment}.attention_scores"]
        recorded[f"{moment}.attention_scores"] = scores - scores.mean(axis=-1, keepdims=True)
    return recorded


def text_of_sentences() -> str:
    return "".join(f"{line}\n" for line in ["text,label", *map(",".join, sentences())])


def recorded_seed(path: pathlib.Path) -> int:
    with safetensors.safe_open(path, "np") as file:
        return json.loads(file.metadata()["origin"])["seed"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    args = parser.parse_args()
    SENTENCES.write_text(text_of_sentences(), encoding="utf-8")
    for experiment in EXPERIMENTS:
        path, recorded = experiment.path, record(experiment, args.seed)
        origin = {
            "script": f"scripts/evidence/{pathlib.Path(__file__).name}",
            "seed": args.seed,
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
            "numpy": np.__version__,
        }
        # In one string: the order of several would change from run to run.
        safetensors.numpy.save_file(recorded, path, {"origin": json.dumps(origin)})
        print(f"{path.name}: {path.stat().st_size} bytes, last loss {recorded['losses'][-1]:.6f}")


if __name__ == "__main__":
    main()
