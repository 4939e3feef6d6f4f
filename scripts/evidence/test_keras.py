"""Headlight beside Keras: the recorded runs are Keras's, weights go both ways, and a thousand seeds are distributed like Keras's."""

import csv
import json

import headlight as hl
import keras_reference
import numpy as np
import pytest
import safetensors.numpy
from common import ROOT
from keras_reference import EXPERIMENTS, record, recorded_seed, without_key_bias
from keras_weights import build_for
from notebook_keras import build_model, dataset, from_headlight, internals, keras, to_headlight
from scipy import stats

NOTEBOOK = ROOT / "configs/notebook.toml"
TOLERANCES = {
    "attention_weights": 1e-6,
    "context": 1e-6,
    "attention_scores": 2e-6,
    "logits": 5e-6,
    "probabilities": 5e-6,
    "query": 5e-6,
    "key": 5e-6,
    "value": 5e-6,
    "embeddings": 1e-6,
    "residual": 5e-6,
}


def test_the_recorded_sentences_are_those_of_the_grammar():
    assert keras_reference.SENTENCES.read_text(encoding="utf-8") == keras_reference.text_of_sentences()


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.path.stem)
def test_a_fresh_run_is_the_recorded_one(experiment):
    fresh, committed = record(experiment, recorded_seed(experiment.path)), safetensors.numpy.load_file(experiment.path)
    assert set(fresh) == set(committed)
    fresh, committed = without_key_bias(fresh), without_key_bias(committed)
    for name, values in fresh.items():
        assert (values.shape, values.dtype) == (committed[name].shape, committed[name].dtype), name
        if values.dtype == np.float32:
            # Gradients of the norm's input reach 12, where 1e-6 is the last digit of float32.
            assert np.abs(values - committed[name]).max() <= 1e-5 * max(1.0, np.abs(values).max()), name
        else:
            assert np.array_equal(values, committed[name]), name


def compare(dump: dict[str, np.ndarray], model: keras.Model, tolerances: dict[str, float]) -> None:
    """Compares a dump of one layer with what Keras computes for its tokens."""
    expected = internals(model, dump["tokens"])
    for name, tolerance in tolerances.items():
        found = dump[name]
        if found.ndim == expected[name].ndim + 1:
            found = found[:, 0]
        assert found.shape == expected[name].shape, name
        assert np.abs(found - expected[name]).max() <= tolerance, name


def test_keras_computes_what_headlight_trained(headlight):
    run = headlight.train(NOTEBOOK)
    compare(run.dump(), build_for(run.weights, n_heads=1), dict.fromkeys(TOLERANCES, 1e-5))


@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_headlight_computes_what_keras_computes(headlight, n_heads):
    tokens = dataset()[0][:200]
    assert np.array_equal(headlight.data(NOTEBOOK)["tokens"][:200], tokens), "this is not the notebook's dataset"
    samples, weights, out = (headlight.folder / name for name in ["samples.txt", "keras.safetensors", "keras.npz"])
    np.savetxt(samples, tokens, fmt="%d")
    keras.utils.set_random_seed(0)
    generator = np.random.default_rng(n_heads)
    model = build_model(n_heads=n_heads)
    for _ in ["fresh from Keras", "moved, no bias 0"]:
        safetensors.numpy.save_file(to_headlight(model), weights)
        given = ["--set", f"model.n_heads={n_heads}", "--weights", weights, "--samples", samples]
        headlight("dump", NOTEBOOK, *given, "--force", "--out", out)
        with np.load(out) as dump:
            assert np.array_equal(dump["tokens"], tokens)
            compare(dict(dump), model, TOLERANCES)
        moved = {
            name: (values + generator.normal(0.0, 0.3, values.shape)).astype(np.float32)
            for name, values in to_headlight(model).items()
        }
        from_headlight(moved, model)


COUNT = {"data": {"rule": {"kind": "count", "token": 2}, "samples": 10}, "training": {"epochs": 1}}
LARGE = {"vocab_size": 9, "d_model": 12, "seq_len": 5, "n_heads": 3, "n_layers": 2, "d_ff": 7, "n_classes": 3}


@pytest.mark.parametrize(
    ("sizes", "config", "length", "vocab_size"),
    [({}, "notebook", 6, 51), (LARGE, COUNT, 5, 9), ({**LARGE, "d_ff": 0, "n_classes": 2}, COUNT, 5, 9)],
)
def test_a_model_of_keras_is_a_model_of_the_python_module(sizes, config, length, vocab_size):
    model, rng = build_model(**sizes), np.random.default_rng(7)
    # Keras begins with biases of 0 and a flat norm, which would hide a mistake.
    model.set_weights([rng.normal(size=values.shape) * 0.5 for values in model.get_weights()])
    tokens = rng.integers(1, vocab_size, (200, length + 1))
    tokens[:, 0] = 0
    theirs = np.squeeze(model.predict(tokens, verbose=0))
    assert np.abs(hl.Model.from_keras(model, config)(tokens).probabilities - theirs).max() < 2e-6


def other_models() -> dict[str, keras.Model]:
    layers = keras.layers
    tokens = layers.Input((7,), dtype="int32")
    embedded = layers.Embedding(51, 8)(tokens)
    attended = layers.MultiHeadAttention(1, 8, use_bias=False)(embedded, embedded)
    normed = layers.LayerNormalization(epsilon=1e-6)(embedded + layers.MultiHeadAttention(1, 8)(embedded, embedded))
    return {
        "no attention": keras.Model(tokens, layers.Dense(1)(layers.Flatten()(embedded))),
        "no biases": keras.Model(tokens, layers.Dense(1)(layers.LayerNormalization()(embedded + attended)[:, 0])),
        "a vocabulary without the rule's token": build_model(vocab_size=9),
        "a mean over positions": keras.Model(tokens, layers.Dense(1)(layers.GlobalAveragePooling1D()(normed))),
        "convolution": keras.Model(tokens, layers.Conv1D(1, 2)(embedded)),
    }


@pytest.mark.parametrize("name", list(other_models()))
def test_other_models_of_keras_are_refused(name):
    with pytest.raises(ValueError):
        hl.Model.from_keras(other_models()[name], "notebook")


def columns(row: dict) -> dict[str, float]:
    """A row of a sweep as a row of data/keras_seeds.csv."""
    found = {f"loss_{epoch}": loss for epoch, loss in enumerate(row["epoch_loss"], start=1)}
    found |= {name: row[name] for name in ["final_loss", "accuracy", "min_positive", "max_negative"]}
    for name in ["attention_positive", "attention_negative"]:
        found |= {f"{name}_{position}": weight for position, weight in enumerate(row[name])}
    return found


def test_a_thousand_seeds_are_distributed_like_kerass(thousand_seeds):
    """21 columns, many of them correlated: two files from one distribution fail by chance in at most a fifth of the comparisons."""
    with (ROOT / "data/keras_seeds.csv").open(newline="") as file:
        theirs = list(csv.DictReader(file))
    ours = [columns(json.loads(line)) for line in thousand_seeds.read_text().splitlines()]
    assert set(ours[0]) == set(theirs[0]) - {"seed"}
    values = lambda rows, name: np.array([float(row[name]) for row in rows])
    pvalues = {name: stats.ks_2samp(values(theirs, name), values(ours, name)).pvalue for name in ours[0]}
    assert min(pvalues.values()) >= 0.01, {name: p for name, p in pvalues.items() if not p >= 0.01}
    assert not any(map(np.isnan, pvalues.values()))
