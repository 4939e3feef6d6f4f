"""One training run of the notebook's model in Keras, recorded for Headlight to repeat.

    python scripts/keras/keras_reference.py            # writes data/keras_reference.safetensors
    python scripts/keras/keras_reference.py --check    # compares it with a fresh run

Parameters have Headlight's names and shapes. In the file:

    initial.<parameter>      before the first step
    gradient.<parameter>     of the first batch's loss at the initial weights; dense for embeddings too
    final.<parameter>        after the last step
    batch_order              [epoch, sample] uint16: the samples in order
    losses                   [step] float32: each batch's loss before its own step
    samples                  [16] int32: 8 positives and 8 negatives, 0 and 10 among them
    initial.<array>, final.<array>    for these samples, the arrays of a dump without the layer axis
    final.probabilities      [sample] float32: of all 8,000

Keras draws the initial weights; the batch order is NumPy's, so that it can be stored and repeated.
The steps are `train_on_batch` with the compiled Adam. `binary_crossentropy` gets probabilities but
computes from logits: `Dense(activation="sigmoid")` leaves them on the tensor as `_keras_logits`,
and Keras's TensorFlow backend prefers them. So the clipping of bare probabilities at 1e-7 affects
neither losses nor gradients; each run checks that in `loss_is_from_logits`.

Keras on TensorFlow differs from Adam as published in two ways. It adds epsilon before the bias
correction. And the gradient of an embedding is a list of rows, which it squares before it sums the
rows of one token, so the second moment of [CLS] is smaller.

The biases of the keys have no effect: a softmax ignores what all scores of a row have in common.
Their gradients are rounding errors, and so are their values: oneDNN's order of sums changed them by
9e-5, and all else by 3e-6. `--check` skips them, and subtracts their part from keys and scores before
it compares these.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import safetensors
import safetensors.numpy

from notebook_keras import BATCH_SIZE, EPOCHS, SAMPLES
from notebook_keras import build_model, dataset, headlight_shape, internals, keras, tf
from notebook_keras import to_headlight, variables

PATH = pathlib.Path(__file__).resolve().parents[2] / "data" / "keras_reference.safetensors"
TOLERANCE = 1e-5  # absolute, and relative for what is larger than 1
KEY_BIAS = "blocks.0.attention.key.bias"  # one head: as long as a key


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


def loss_is_from_logits() -> bool:
    """Whether a confident wrong answer costs its logit, 40, and not -log(1e-7) = 16.1."""
    model = build_model()
    model.compile(optimizer="adam", loss="binary_crossentropy")
    classifier = model.get_layer("classifier")
    classifier.kernel.assign(np.zeros(classifier.kernel.shape))
    classifier.bias.assign([40.0])
    tokens = np.zeros((1, model.input_shape[1]), dtype=int)
    return model.train_on_batch(tokens, np.zeros(1, dtype="float32")) == 40.0


def record(seed: int) -> dict[str, np.ndarray]:
    tokens, labels = dataset()
    assert loss_is_from_logits()
    keras.utils.set_random_seed(seed)
    model = build_model()
    model.compile(optimizer="adam", loss="binary_crossentropy")

    # 0 is a negative, and 10 the first positive.
    positives, negatives = np.flatnonzero(labels == 1)[:8], np.flatnonzero(labels == 0)[:8]
    samples = np.sort(np.concatenate([positives, negatives])).astype(np.int32)
    generator = np.random.default_rng(seed)
    order = np.stack([generator.permutation(SAMPLES) for _ in range(EPOCHS)])
    batches = order.reshape(-1, BATCH_SIZE)

    recorded = {"batch_order": order.astype(np.uint16), "samples": samples}
    first = batches[0]
    for name, gradient in gradients(model, tokens[first], labels[first]).items():
        recorded[f"gradient.{name}"] = gradient

    def record_model(prefix: str) -> None:
        for name, values in to_headlight(model).items():
            recorded[f"{prefix}.{name}"] = values
        for name, values in internals(model, tokens[samples]).items():
            if name != "probabilities":
                recorded[f"{prefix}.{name}"] = values

    record_model("initial")
    losses = []
    for batch in batches:
        model.reset_metrics()  # or the loss would be a mean over the batches so far
        losses.append(model.train_on_batch(tokens[batch], labels[batch]))
    recorded["losses"] = np.array(losses, dtype=np.float32)
    record_model("final")
    recorded["final.probabilities"] = internals(model, tokens)["probabilities"]
    return recorded


def without_key_bias(recorded: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with nothing in them that depends on the biases of the keys."""
    recorded = dict(recorded)
    for moment in ["initial", "final"]:
        recorded[f"{moment}.key"] = recorded[f"{moment}.key"] - recorded.pop(f"{moment}.{KEY_BIAS}")
        scores = recorded[f"{moment}.attention_scores"]
        recorded[f"{moment}.attention_scores"] = scores - scores.mean(axis=-1, keepdims=True)
    return recorded


def check(fresh: dict[str, np.ndarray]) -> bool:
    committed = safetensors.numpy.load_file(PATH)
    assert set(fresh) == set(committed), set(fresh) ^ set(committed)
    fresh, committed = without_key_bias(fresh), without_key_bias(committed)
    good = True
    differences = {}
    for name, values in fresh.items():
        assert (values.shape, values.dtype) == (committed[name].shape, committed[name].dtype), name
        if values.dtype == np.float32:
            differences[name] = float(np.abs(values - committed[name]).max())
            # Gradients of the norm's input reach 12, where 1e-6 is the last digit of float32.
            good &= differences[name] <= TOLERANCE * max(1.0, np.abs(values).max())
        else:
            same = np.array_equal(values, committed[name])
            print(f"{name:12} {'the same' if same else 'DIFFERENT'}")
            good &= same
    print("largest differences:")
    for name in sorted(differences, key=differences.get, reverse=True)[:8]:
        print(f"  {name:40} {differences[name]:.1e}")
    print(f"{PATH.name}: {len(fresh)} arrays, {'all' if good else 'NOT all'} within {TOLERANCE}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="default: 0, or the file's")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    seed = args.seed
    if args.check and seed is None:
        with safetensors.safe_open(PATH, "np") as file:
            seed = json.loads(file.metadata()["origin"])["seed"]
    seed = seed or 0
    recorded = record(seed)
    if args.check:
        sys.exit(0 if check(recorded) else 1)
    origin = {
        "script": f"scripts/keras/{pathlib.Path(__file__).name}",
        "seed": seed,
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
    }
    # In one string: the order of several would change from run to run.
    safetensors.numpy.save_file(recorded, PATH, {"origin": json.dumps(origin)})
    print(f"{PATH.name}: {PATH.stat().st_size} bytes, last loss {recorded['losses'][-1]:.6f}")


if __name__ == "__main__":
    main()
