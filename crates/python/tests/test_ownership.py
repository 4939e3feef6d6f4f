"""Nothing that a user changes in place changes another result."""

import headlight as hl
import numpy as np
import pytest


def results(clean):
    """What an output gives anew."""
    vector = [0.5] * 8
    outputs = [
        clean.without(key=1),
        clean.without(head=(0, 0)),
        clean.without(key=(0, 2)).without(block=0),
        clean.with_weights(0, 0, 0, [0, 0, 0, 1, 0, 0, 0]),
        clean.patched("embeddings", 3, vector),
        clean.patched("output", 0, vector),
    ]
    return [array.copy() for output in outputs for array in (output.logits, output.context, output.predicted, output.tokens)]


def same(ours, theirs):
    return all((a == b).all() for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("dtype", [np.uint32, np.int64, np.uint8])
def test_everything_is_edited_in_place(run, dtype):
    samples = run.samples.astype(dtype)
    patch = np.full(8, 0.5, dtype=np.float32)
    clean = run.model(samples)
    expected, predicted = results(clean), clean.predicted.copy()
    untouched = run.model(samples.copy())
    changed = clean.patched("output", 0, patch)
    logits = changed.logits.copy()

    # The samples, tokens that the model made of them, a patch, and every array of the output and of the model.
    samples[...] = samples[::-1].copy()
    samples[:, 1:] = 7
    patch[...] = 0
    run.model.tokens(samples)[...] = 0
    run.samples[...] = 0
    for array in run.model.weights.values():
        array[...] = 0
    for name in ("scores", "weights", "logits", "probabilities", "predicted"):
        getattr(clean, name)[...] = 0
    # Only now computed: still of the samples as they were.
    for name in ("query", "key", "value", "context", "embeddings", "residual", "output"):
        np.testing.assert_array_equal(getattr(clean, name), getattr(untouched, name))
        getattr(clean, name)[...] = 0
    for name, array in untouched.cache.items():
        if "hook" in name:
            np.testing.assert_array_equal(clean.cache[name], array)

    assert same(results(clean), expected)
    assert (clean.predicted == predicted).all()
    assert (changed.without(key=1).logits == untouched.patched("output", 0, [0.5] * 8).without(key=1).logits).all()
    assert (changed.logits == logits).all()


def test_tokens_are_read_only_copies(run):
    samples = run.samples
    tokens = run.model.tokens(samples)
    assert not np.shares_memory(tokens, samples) and tokens.flags.writeable
    out = run.model(samples)
    assert not np.shares_memory(out.tokens, samples)
    with pytest.raises(ValueError, match="read-only"):
        out.tokens[0, 1] = 5
    with pytest.raises(ValueError):
        out.tokens.flags.writeable = True
    with pytest.raises(AttributeError):
        out.tokens = samples


@pytest.mark.parametrize("heads", [False, True])
def test_a_trace_is_of_the_samples(run, heads):
    clean, corrupted = run.model([[1, 2, 42, 4, 5, 6]]), run.model([[1, 2, 3, 4, 5, 6]])
    expected = hl.trace(clean, corrupted, heads=heads)
    for output in (clean, corrupted):
        for name in dir(output):
            if not name.startswith("_") and isinstance(getattr(output, name, None), np.ndarray) and name != "tokens":
                getattr(output, name)[...] = 0
    again = hl.trace(clean, corrupted, heads=heads)
    assert (again.effect == expected.effect).all() and (again.logits == expected.logits).all() and again.clean == expected.clean
