"""Whatever comes in: a result, or an exception with a sentence; never the end of the interpreter."""

import threading

import headlight as hl
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

ANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
# What the documentation promises. Memory and recursion are Python's own.
PROMISED = (ValueError, TypeError)

SAMPLES = np.ones((2, 6), dtype=int)
ARRAYS = hnp.arrays(
    dtype=st.one_of(
        hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes(), hnp.boolean_dtypes(), hnp.complex_number_dtypes(), hnp.unicode_string_dtypes()
    ),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=8),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.binary(max_size=9))
THINGS = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=7), st.dictionaries(st.text(max_size=9), inner, max_size=4)), max_leaves=20)
POSITIONS = st.one_of(st.integers(-3, 9), THINGS)


@pytest.fixture(scope="module")
def model():
    return hl.train("quick").model


def tried(call):
    try:
        call()
    except PROMISED as error:
        assert str(error)


# What is called, with strategies for its arguments.
TRIED = {
    "samples": (lambda model, samples: model(samples).logits, st.one_of(ARRAYS, THINGS)),
    "samples of nearly the right form": (
        lambda model, tokens: model(tokens).query,
        hnp.arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(5, 8)), elements=st.integers(-2, 60)),
    ),
    "a head": (lambda model, layer, head: model(SAMPLES).without(head=(layer, head)), THINGS, THINGS),
    "a key": (lambda model, key: model(SAMPLES).without(key=key), THINGS),
    "a block": (lambda model, layer: model(SAMPLES).without(block=layer), THINGS),
    "a patch": (lambda model, *patch: model(SAMPLES).patched("output", *patch), POSITIONS, st.one_of(ARRAYS, THINGS)),
    "a patch anywhere": (lambda model, *patch: model(SAMPLES).patched(*patch), THINGS, POSITIONS, st.one_of(ARRAYS, THINGS)),
    "weights of a query": (lambda model, position, vector: model(SAMPLES).with_weights(0, 0, position, vector), POSITIONS, st.one_of(ARRAYS, THINGS)),
    "changes of a config": (
        lambda model, sections, seed: hl.train("quick", seed=seed, **{**sections, "training": {"epochs": 1}}),
        st.dictionaries(st.sampled_from(["data", "model", "training", "dump", "nothing"]), THINGS, max_size=3),
        st.one_of(st.none(), THINGS),
    ),
    "configs": (lambda model, config: hl.train(config), st.dictionaries(st.text(max_size=9), THINGS, max_size=4)),
    "sweeps": (
        lambda model, seeds, grid: hl.sweep("quick", seeds=min(seeds, 3) if isinstance(seeds, int) else seeds, grid=grid, training={"epochs": 1}),
        st.one_of(THINGS, st.builds(range, st.integers(-2, 2), st.integers(-2, 2))),
        st.one_of(st.none(), st.dictionaries(st.text(max_size=20), st.lists(THINGS, max_size=2), max_size=2)),
    ),
    "attention of other models": (
        lambda model, weights, tokens, scores: hl.show(weights, tokens, scores=scores),
        st.one_of(ARRAYS, THINGS),
        st.one_of(ARRAYS, THINGS),
        st.one_of(st.none(), ARRAYS),
    ),
    "attention of nearly the right form": (
        lambda model, weights, count: hl.show(weights, list(range(count))),
        hnp.arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(0, 4)), elements=st.floats(0, 1)),
        st.integers(0, 4),
    ),
    "arrays": (lambda model, *columns: hl.datasets.from_arrays(*columns), st.one_of(ARRAYS, THINGS), st.one_of(ARRAYS, THINGS)),
    "logits": (lambda model, logit: model.attribute(SAMPLES, logit), THINGS),
    "weights": (
        lambda model, weights: hl.Model.from_weights("quick", weights),
        st.one_of(THINGS, st.dictionaries(THINGS.filter(lambda key: isinstance(key, (str, int))), ARRAYS, max_size=3)),
    ),
}


@pytest.mark.filterwarnings("ignore:the weights:UserWarning")
@pytest.mark.parametrize("name", TRIED)
@ANY
@given(data=st.data())
def test_anything(model, name, data):
    call, *strategies = TRIED[name]
    arguments = [data.draw(strategy) for strategy in strategies]
    tried(lambda: call(model, *arguments))


@ANY
@given(texts=st.one_of(THINGS, st.lists(st.text(max_size=20))), labels=st.one_of(THINGS, st.lists(st.text(max_size=3))))
def test_texts(texts, labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    try:
        hl.datasets.from_texts(texts, labels, path=path)
    except PROMISED:
        assert not path.exists()


PAIR = [[1, 2, 42, 4, 5, 6], [1, 2, 3, 4, 5, 6]]
MASKED = np.ma.masked_equal(PAIR, 6)
SQUARES_TURNED = lambda model: {name: values.T if values.shape == (8, 8) else values for name, values in model.weights.items()}
TEXTS = ["a good film", "a bad film"]
DATES = pd.to_datetime(["2020-01-01", "2020-01-02"])


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda run: hl.train("nope"), ValueError, "nope"),
        (lambda run: hl.train(3), TypeError, "config"),
        (lambda run: hl.train({"data": None}), TypeError, "data"),
        (lambda run: hl.train({"data": {"file": object()}}), TypeError, "data.file"),
        (lambda run: hl.train({"data": {"file": "missing.csv"}}), ValueError, "missing.csv"),
        (lambda run: hl.train({"data": {"file": "gone.npz", "vocab_size": 9, "seq_len": 4, "n_classes": 2}, "model": {"d_model": 8}, "training": {"epochs": 1}}), ValueError, "gone.npz"),
        (lambda run: hl.train("quick", training={"epoch": 3}), ValueError, "training.epoch"),
        (lambda run: hl.train("quick", training={"epochs": 10**30}), PROMISED, "training.epochs"),
        (lambda run: hl.train("quick", training={"learning_rate": float("nan")}), ValueError, "training.learning_rate"),
        (lambda run: hl.train("quick", model=[16]), PROMISED, "model"),
        (lambda run: hl.train("quick", resume=True), ValueError, "run"),
        (lambda run: hl.Run.open("/nope"), ValueError, "/nope"),
        (lambda run: run.at(10**30), ValueError, "step"),
        (lambda run: run.at(10**9), ValueError, "step"),
        (lambda run: run.at(0.5), TypeError, "step"),
        (lambda run: run.model([[1, 2]]), ValueError, "seq_len"),
        (lambda run: run.model([[]]), ValueError, "sample 0"),
        (lambda run: run.model(np.ones((2, 6))), TypeError, "whole numbers.*float64"),
        (lambda run: run.model(np.full((1, 6), -1)), ValueError, "-1"),
        (lambda run: run.model(np.full((1, 6), 2**40)), ValueError, "1099511627776"),
        (lambda run: run.model(np.full((1, 6), 999)), ValueError, "vocab_size"),
        (lambda run: run.model(np.ones((1, 1, 6), dtype=int)), ValueError, "axes"),
        (lambda run: run.model("text"), ValueError, "token ids"),
        (lambda run: run.model(run.samples).without(), TypeError, "head"),
        (lambda run: run.model(run.samples).without(head=(9, 0)), ValueError, "layer 9"),
        (lambda run: run.model(run.samples).without(head=0), TypeError, "head"),
        (lambda run: run.model(run.samples).without(key=70), ValueError, "position"),
        (lambda run: run.model(run.samples).without(key=-1), ValueError, "key=-1"),
        (lambda run: run.model(run.samples).without(key=[1, 2]), PROMISED, "pair"),
        (lambda run: run.model(run.samples).patched("output", 0, [0] * 3), ValueError, "8"),
        (lambda run: run.model(run.samples).patched("embeddings", 0, [0] * 8, layer=99), ValueError, "layer=99.*layer 0"),
        (lambda run: run.model(run.samples).with_weights(0, 0, 0, [np.nan] * 7), ValueError, "finite"),
        (lambda run: run.model(run.samples).nothing, AttributeError, "nothing"),
        (lambda run: run.model.attribute(run.samples, logit=7), ValueError, "logit"),
        (lambda run: run.model.qk(1, 0), ValueError, "layer"),
        (lambda run: run.model.ov(0, 0.5), TypeError, "head"),
        (lambda run: run.model(run.samples).logit_attribution(), ValueError, r"model\.norm.*attribute"),
        (lambda run: hl.fit("quick", model={"norm": "none", "classifier_hidden": 5})(PAIR).logit_attribution(), ValueError, "classifier_hidden.*attribute"),
        (lambda run: run.model.save("weights.npz"), PROMISED, "safetensors"),
        (lambda run: hl.trace(run.samples, run.model(run.samples)), TypeError, "output"),
        (lambda run: hl.trace(run.model(PAIR), run.model(PAIR)), ValueError, "pair 0"),
        (lambda run: hl.trace(run.model(PAIR), run.model(PAIR[:1])), ValueError, "samples"),
        (lambda run: hl.trace(run.model(PAIR), run.model(PAIR[::-1]), logit=9), ValueError, "logit"),
        (lambda run: hl.trace(run.model(run.samples[:0]), run.model(run.samples[:0])), ValueError, "sample"),
        (lambda run: hl.trace(run.model(PAIR), hl.fit("notebook", seed=8, training={"epochs": 1})(PAIR[::-1])), ValueError, "model"),
        (lambda run: hl.sweep("quick", seeds=range(0, 9, 2)), ValueError, "seeds"),
        (lambda run: hl.sweep("quick", seeds=2, threads=0), ValueError, "threads"),
        (lambda run: hl.sweep("quick", seeds=2, grid=[1]), PROMISED, "grid"),
        (lambda run: hl.sweep("quick", seeds=2, grid={"training.nope": [1]}), ValueError, "training.nope"),
        (lambda run: hl.sweep("quick", seeds=2, grid={"training.epochs": []}), PROMISED, "training.epochs"),
        (lambda run: hl.sweep("quick", seeds=2, grid={"training.learning_rate": 1e-3}), TypeError, "training.learning_rate"),
        (lambda run: hl.sweep("quick", seeds=2, grid={"training.learning_rate": [float("inf")]}), PROMISED, "training.learning_rate"),
        (lambda run: hl.datasets.from_arrays([], []), PROMISED, "tokens are empty"),
        (lambda run: hl.datasets.from_arrays([[1.5]], [1]), TypeError, "tokens"),
        (lambda run: hl.datasets.from_arrays([[1]], [1, 2]), ValueError, "labels"),
        (lambda run: hl.datasets.from_arrays([[1]], [{}]), TypeError, "label"),
        (lambda run: hl.datasets.from_arrays([[1]], ["a"], held_out_tokens=[[1]], held_out_labels=[0]), TypeError, "held_out_labels"),
        (lambda run: hl.datasets.from_arrays([[1]], [1], path="samples"), ValueError, "npz"),
        (lambda run: hl.datasets.from_texts([None], ["a"]), PROMISED, "text 0"),
        (lambda run: hl.datasets.from_texts(["a", 3], [0, 1]), TypeError, "text 1"),
        (lambda run: hl.datasets.from_texts(["a"], [1], path="samples.npz"), PROMISED, "csv"),
        (lambda run: hl.sweep("quick", seeds=True), TypeError, "seeds=True"),
        (lambda run: hl.sweep("quick", seeds=2**64), ValueError, "seeds"),
        (lambda run: hl.sweep("quick", seeds=2, threads="2"), TypeError, "threads"),
        (lambda run: run.model.certify_sample([1]), TypeError, "count"),
        (lambda run: run.model.certify(-1), ValueError, "examples=-1"),
        (lambda run: run.model.generate(count="3"), TypeError, "count='3'"),
        (lambda run: run.model(PAIR).patched("embedding", 0, [0] * 8), ValueError, "place='embedding'.*`residual`"),
        (lambda run: hl.Model.from_weights(run.config, run.model.weights, check=PAIR * 2), TypeError, "check: a pair"),
        (lambda run: hl.Model.from_weights(run.config, run.model.weights, check=(PAIR, ["a", "b"])), ValueError, "logits of check"),
        (lambda run: hl.Model.from_weights(run.config, dict([*run.model.weights.items()][1:])), ValueError, "do not match"),
        (lambda run: hl.Model.from_weights(run.config, {**run.model.weights, "token_embedding": np.nan}), ValueError, "token_embedding.*finite"),
        (lambda run: hl.datasets.from_rule(len, vocab_size="4", seq_len=2, samples=9), TypeError, "vocab_size='4'"),
        (lambda run: hl.datasets.from_rule(len, vocab_size=3, seq_len=2, samples=50, held_out=3), ValueError, "differ"),
        (lambda run: hl.datasets.from_rule(len, vocab_size=3, seq_len=2, samples=0), ValueError, "samples is 0"),
        (lambda run: hl.sweep({"model": {"n_heads": 3}}, seeds=2), ValueError, "^config:1:"),
        (lambda run: run.model(PAIR).patched("embeddings", 0, [1e38] * 8).predicted, ValueError, "sample 0 is not finite"),
        (lambda run: hl.trace(run.model(PAIR).patched("embeddings", 0, [1e38] * 8), run.model(PAIR[::-1])), ValueError, "sample 0 is not finite"),
        (lambda run: run.model(MASKED), ValueError, "tokens: some values are masked"),
        (lambda run: hl.datasets.from_arrays(MASKED, [0, 1]), ValueError, "tokens: some values are masked"),
        (lambda run: hl.datasets.from_arrays(PAIR, MASKED[:, 5]), ValueError, "labels: some values are masked"),
        (lambda run: hl.datasets.from_arrays(np.full((1, 2), 2**64 - 1, dtype=np.uint64), [0]), ValueError, "token 18446744073709551615"),
        (lambda run: hl.AttentionClassifier().fit(MASKED, [0, 1]), ValueError, "X: some values are masked"),
        (lambda run: hl.AttentionClassifier().fit(PAIR, MASKED[:, 5]), ValueError, "label of sample 0 is missing"),
        (lambda run: hl.Model.from_weights("quick", {name: values.T for name, values in run.model.weights.items()}), ValueError, r"\[in, out\].*square"),
        (lambda run: hl.Model.from_weights(run.config, SQUARES_TURNED(run.model), check=(PAIR, run.model(PAIR).logits)), ValueError, "check.*transposed"),
        (lambda run: hl.show(np.eye(2), ["a", "b"], mask=np.eye(2) == 0), ValueError, "query 0 gives key 0 the weight 1"),
        (lambda run: hl.show(np.eye(2), ["a", "b"], mask=np.eye(3) == 0), ValueError, "mask must be True or False"),
        (lambda run: hl.show([[1.0]], None), PROMISED, "tokens"),
        (lambda run: hl.show([[1.0]], ["a"], title=3), PROMISED, "title"),
        (lambda run: hl.AttentionClassifier().fit(np.array([["a", 0.5]] * 4, dtype=object), [0, 1] * 2), ValueError, "fractions"),
        (lambda run: hl.AttentionClassifier().fit([[1, 2]] * 4, [0] * 4), ValueError, "class"),
        (lambda run: hl.AttentionClassifier(d_model=0).fit([[1, 2]] * 4, [0, 1] * 2), ValueError, "d_model"),
        (lambda run: hl.AttentionClassifier().fit(TEXTS, ["good", None]), ValueError, "label of text 1"),
        (lambda run: hl.AttentionClassifier().fit([["a", "q"], [np.nan, "q"]], ["x", "y"]), ValueError, "row 1, column 0"),
        (lambda run: hl.datasets.from_arrays([[1, 2], [2, 1]], ["a", np.nan]), ValueError, "label of sample 1"),
        (lambda run: hl.datasets.from_arrays(PAIR, [0, 1], held_out_tokens=PAIR, held_out_labels=pd.Series([1, None], dtype="Int64")), ValueError, "label of held-out sample 1"),
        (lambda run: hl.AttentionClassifier(epochs=1).fit(TEXTS * 9, ["good", "bad"] * 9).predict([[1, 2, 3]]), ValueError, "texts"),
        (lambda run: hl.AttentionClassifier().fit(pd.DataFrame({"a": DATES, "b": [1, 2]}), [0, 1]), PROMISED, "Timestamp"),
        (lambda run: hl.AttentionClassifier().fit(pd.DataFrame({"a": DATES}), [0, 1]), PROMISED, "dates"),
        (lambda run: hl.AttentionClassifier().fit(pd.DataFrame([[1, 2]] * 2, columns=["a", "a"]), [0, 1]), ValueError, "two columns with the name 'a'"),
    ],
)
def test_bad_input_is_a_sentence_with_the_argument(run, call, error, word):
    with pytest.raises(error, match=word) as raised:
        call(run)
    assert 10 < len(str(raised.value)) < 600


def test_models_are_shared_by_threads(model):
    tokens = np.ones((50, 6), dtype=int)
    expected = model(tokens).logits
    found = []
    threads = [threading.Thread(target=lambda: found.append(model(tokens).logits)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all((logits == expected).all() for logits in found)


@pytest.mark.parametrize("labels", [["1", 1, "2", "2"], ["1", 1.0, "2", "2"], np.array(["1", 1, "2", "2"], dtype=object)])
def test_a_text_and_a_number_that_become_one_class_are_told(labels, tmp_path):
    with pytest.warns(UserWarning, match="one class"):
        hl.datasets.from_texts(["a", "b", "c", "d"], labels, path=tmp_path / "texts.csv")


def test_texts_alone_and_numbers_alone_are_not_told(tmp_path, recwarn):
    for labels in (["1", "1", "2", "2"], [1, 1.0, 2, True]):
        hl.datasets.from_texts(["a", "b", "c", "d"], labels, path=tmp_path / "texts.csv")
    assert not recwarn.list
