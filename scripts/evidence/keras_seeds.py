"""Trains the notebook's model in Keras once per seed, as the notebook does.

    python scripts/evidence/keras_seeds.py 0 49                  # adds to data/keras_seeds.csv
    python scripts/evidence/keras_seeds.py 0 9 --out ten.csv     # seeds 0 to 9, both included

The dataset is the same for every seed; `keras.utils.set_random_seed(seed)` is called before the
batch order and the weights are drawn. Seeds that the file already has are skipped.

loss_1 to loss_3 are the losses that Keras reports for the epochs: the mean over an epoch's batches,
each before its own step. All else is measured on the 8,000 training samples with the final weights.
final_loss is the mean binary cross-entropy, in float64 from the logits. min_positive and max_negative
are probabilities. attention_positive_P and attention_negative_P are the mean weight that [CLS] gives
position P, by class.
"""

import argparse
import csv
import pathlib
import time
import warnings

import numpy as np

from notebook_keras import BATCH_SIZE, EPOCHS, SAMPLES, SEQ_LEN
from notebook_keras import build_model, dataset, internals, keras, tf

PATH = pathlib.Path(__file__).resolve().parents[2] / "data" / "keras_seeds.csv"
POSITIONS = range(SEQ_LEN + 1)
COLUMNS = (
    ["seed"]
    + [f"loss_{epoch + 1}" for epoch in range(EPOCHS)]
    + ["final_loss", "accuracy", "min_positive", "max_negative"]
    + [f"attention_{kind}_{at}" for kind in ["positive", "negative"] for at in POSITIONS]
)


def train(seed: int, tokens: np.ndarray, labels: np.ndarray) -> tuple[keras.Model, list[float]]:
    """The trained model and the loss of each epoch."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    model = build_model()
    model.compile(optimizer="adam", loss="binary_crossentropy")
    batches = tf.data.Dataset.from_tensor_slices((tokens, labels)).shuffle(SAMPLES)
    history = model.fit(batches.batch(BATCH_SIZE), epochs=EPOCHS, verbose=0)
    return model, history.history["loss"]


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> float:
    """Mean binary cross-entropy: log(1 + exp(z)) - y z, in float64."""
    logits = logits.astype(np.float64)
    return float(np.mean(np.logaddexp(0.0, logits) - labels * logits))


def measure(model: keras.Model, tokens: np.ndarray, labels: np.ndarray) -> list[float]:
    found = internals(model, tokens)
    positive = labels == 1
    probabilities = found["probabilities"].astype(np.float64)
    rows = found["attention_weights"][:, 0, 0].astype(np.float64)  # [sample, key], from [CLS]
    return [
        cross_entropy(found["logits"], labels),
        np.mean((found["logits"] >= 0) == positive),
        probabilities[positive].min(),
        probabilities[~positive].max(),
        *rows[positive].mean(axis=0),
        *rows[~positive].mean(axis=0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int, help="first seed")
    parser.add_argument("last", type=int, help="last seed, included")
    parser.add_argument("--out", type=pathlib.Path, default=PATH, help="default: %(default)s")
    args = parser.parse_args()
    # fit() warns that tf.data shuffles already.
    warnings.filterwarnings("ignore", message="`shuffle=True` was passed")
    tokens, labels = dataset()
    done = set()
    if args.out.exists():
        with args.out.open(newline="") as file:
            done = {int(row["seed"]) for row in csv.DictReader(file)}
    with args.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for seed in sorted(set(range(args.first, args.last + 1)) - done):
            start = time.perf_counter()
            model, losses = train(seed, tokens, labels)
            numbers = losses + measure(model, tokens, labels)
            writer.writerow([seed] + [f"{number:.9g}" for number in numbers])
            file.flush()
            print(f"seed {seed}: loss {losses[-1]:.5f}, {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
