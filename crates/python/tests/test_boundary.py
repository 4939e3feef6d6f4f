"""Whatever comes in: a result, or an exception with a sentence; never the end of the interpreter."""

import gc
import threading

import headlight as hl
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

ANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
# What the documentation promises. Memory and recursion are Python's own.
PROMISED = (ValueError, TypeError)

ARRAYS = hnp.arrays(
    dtype=st.one_of(
        hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes(), hnp.boolean_dtypes(), hnp.complex_number_dtypes(), hnp.unicode_string_dtypes()
    ),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=8),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.binary(max_size=9))
THINGS = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=7), st.dictionaries(st.text(max_size=9), inner, max_size=4)), max_leaves=20)


@pytest.fixture(scope="module")
def model():
    return hl.train("quick").model


@pytest.fixture(scope="module")
def out(model):
    return model(np.ones((2, 6), dtype=int))


def tried(call):
    try:
        call()
    except PROMISED as error:
        assert str(error)


@ANY
@given(samples=st.one_of(ARRAYS, THINGS))
def test_samples(model, samples):
    tried(lambda: model(samples).logits)


@ANY
@given(tokens=hnp.arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(5, 8)), elements=st.integers(-2, 60)))
def test_samples_of_nearly_the_right_form(model, tokens):
    tried(lambda: model(tokens).query)


@ANY
@given(layer=THINGS, head=THINGS, key=THINGS)
def test_interventions(out, layer, head, key):
    tried(lambda: out.without(head=(layer, head)))
    tried(lambda: out.without(key=key))
    tried(lambda: out.without(block=layer))


@ANY
@given(place=THINGS, position=st.one_of(st.integers(-3, 9), THINGS), vector=st.one_of(ARRAYS, THINGS))
def test_vectors(out, place, position, vector):
    tried(lambda: out.patched(place, position, vector))
    tried(lambda: out.patched("output", position, vector))
    tried(lambda: out.with_weights(0, 0, position, vector))


@ANY
@given(sections=st.dictionaries(st.sampled_from(["data", "model", "training", "dump", "seed", "nothing"]), THINGS, max_size=3))
def test_changes_of_a_config(sections):
    changed = {**sections, "training": {"epochs": 1}}
    tried(lambda: hl.train("quick", **changed) if "seed" not in changed else hl.train("quick", seed=changed.pop("seed"), **changed))


@ANY
@given(config=st.dictionaries(st.text(max_size=9), THINGS, max_size=4))
def test_configs(config):
    tried(lambda: hl.train(config))


@ANY
@given(seeds=st.one_of(THINGS, st.builds(range, st.integers(-2, 2), st.integers(-2, 2))), grid=st.one_of(st.none(), st.dictionaries(st.text(max_size=20), st.lists(THINGS, max_size=2), max_size=2)))
def test_sweeps(seeds, grid):
    few = seeds if not isinstance(seeds, int) or seeds < 3 else 3
    tried(lambda: hl.sweep("quick", seeds=few, grid=grid, training={"epochs": 1}))


@pytest.mark.filterwarnings("ignore:the weights:UserWarning")
@ANY
@given(weights=st.one_of(ARRAYS, THINGS), tokens=st.one_of(ARRAYS, THINGS), scores=st.one_of(st.none(), ARRAYS))
def test_attention_of_other_models(weights, tokens, scores):
    tried(lambda: hl.show(weights, tokens, scores=scores))


@pytest.mark.filterwarnings("ignore:the weights:UserWarning")
@ANY
@given(weights=hnp.arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(0, 4)), elements=st.floats(0, 1)), count=st.integers(0, 4))
def test_attention_of_nearly_the_right_form(weights, count):
    tried(lambda: hl.show(weights, list(range(count))))


@ANY
@given(tokens=st.one_of(ARRAYS, THINGS), labels=st.one_of(ARRAYS, THINGS))
def test_datasets(tokens, labels):
    tried(lambda: hl.datasets.from_arrays(tokens, labels))
    tried(lambda: hl.datasets.from_texts(tokens, labels))


@ANY
@given(texts=st.one_of(THINGS, st.lists(st.text(max_size=20))), labels=st.one_of(THINGS, st.lists(st.text(max_size=3))))
def test_texts(texts, labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    try:
        hl.datasets.from_texts(texts, labels, path=path)
    except PROMISED:
        assert not path.exists()


@ANY
@given(logit=THINGS)
def test_logits(model, logit):
    tried(lambda: model.attribute(np.ones((1, 6), dtype=int), logit))


@ANY
@given(weights=st.one_of(THINGS, st.dictionaries(THINGS.filter(lambda key: isinstance(key, (str, int))), ARRAYS, max_size=3)))
def test_weights(weights):
    tried(lambda: hl.Model.from_weights("quick", weights))


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: hl.train("quick", seed=2**63), "seed"),
        (lambda: hl.train("quick", training=dict(epochs=10**30)), "training.epochs"),
        (lambda: hl.train("quick", training=dict(learning_rate=float("nan"))), "training.learning_rate"),
        (lambda: hl.train("quick", model=[16]), "model"),
        (lambda: hl.train("quick", model=None), "model"),
        (lambda: hl.sweep("quick", seeds=0), "seeds"),
        (lambda: hl.sweep("quick", seeds=2, grid=[1]), "grid"),
        (lambda: hl.sweep("quick", seeds=2, grid={"training.epochs": []}), "training.epochs"),
        (lambda: hl.sweep("quick", seeds=2, grid={"training.learning_rate": [float("inf")]}), "training.learning_rate"),
        (lambda: hl.datasets.from_texts([None], ["a"]), "text 0"),
        (lambda: hl.show([[1.0]], None), "tokens"),
        (lambda: hl.show([[1.0]], ["a"], title=3), "title"),
        (lambda: hl.datasets.from_arrays([], []), "tokens are empty"),
        (lambda: hl.datasets.from_texts(["a"], [1], path="samples.npz"), "csv"),
        (lambda: hl.fit("quick").save("weights.npz"), "safetensors"),
        (lambda: hl.fit("quick")([[]]), "sample 0"),
        (lambda: hl.fit("quick")([[1, 2, 3, 4, 5, 6]]).without(key=[1, 2]), "pair"),
    ],
)
def test_the_message_names_the_argument(call, word):
    with pytest.raises(PROMISED, match=word):
        call()


def test_an_array_that_changes_meanwhile(model):
    """A thread writes to the samples while the model reads them."""
    tokens = np.ones((500, 7), dtype=np.uint32)
    tokens[:, 0] = 0
    stop = threading.Event()

    def write():
        while not stop.is_set():
            tokens[:, 1:] = 10**6
            tokens[:, 1:] = 5

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(200):
            tried(lambda: model(tokens))
    finally:
        stop.set()
        thread.join()


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


def test_memory_stays_flat(model):
    """Resident memory after 10,000 calls, beside that after 500."""
    pages = pytest.importorskip("resource")

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * pages.getpagesize()

    tokens = np.ones((20, 6), dtype=int)
    for _ in range(500):
        model(tokens).context
    gc.collect()
    before = resident()
    for _ in range(10_000):
        model(tokens).context
    gc.collect()
    assert resident() - before < 4 << 20


@pytest.mark.parametrize("labels", [["1", 1, "2", "2"], ["1", 1.0, "2", "2"], np.array(["1", 1, "2", "2"], dtype=object)])
def test_a_text_and_a_number_that_become_one_class_are_told(labels, tmp_path):
    with pytest.warns(UserWarning, match="one class"):
        hl.datasets.from_texts(["a", "b", "c", "d"], labels, path=tmp_path / "texts.csv")


def test_texts_alone_and_numbers_alone_are_not_told(tmp_path, recwarn):
    for labels in (["1", "1", "2", "2"], [1, 1.0, 2, True]):
        hl.datasets.from_texts(["a", "b", "c", "d"], labels, path=tmp_path / "texts.csv")
    assert not recwarn.list
