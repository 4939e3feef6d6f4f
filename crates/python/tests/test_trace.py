"""Patches, traces and attributions."""

import os
import signal
import threading
import time

import headlight as hl
import numpy as np
import pytest


@pytest.fixture(scope="module")
def model():
    return hl.fit("negation", data={"samples": 2000}, training={"epochs": 2})


@pytest.fixture(scope="module")
def pair(model):
    """Samples that differ in one position, the quality of what is asked about."""
    clean = ["the * movie was good , but the food was bad", "the * room seemed awful while the story was not poor"]
    corrupted = [clean[0].replace("good", "awful"), clean[1].replace("awful", "good")]
    return model(clean), model(corrupted)


def test_a_vector_for_each_sample(model, pair):
    clean, corrupted = pair
    patched = corrupted.patched("output", 0, clean.output[:, 1, 0], layer=1)
    np.testing.assert_allclose(patched.logits, clean.logits, atol=1e-6)
    for sample in range(2):
        alone = corrupted.patched("output", 3, clean.output[sample, 0, 3])
        both = corrupted.patched("output", 3, clean.output[:, 0, 3])
        assert alone.logits[sample] == both.logits[sample]
    with pytest.raises(ValueError, match="3 vectors"):
        corrupted.patched("output", 3, clean.output[[0, 1, 1], 0, 3])


def test_a_head_is_patched_alone(pair):
    clean, corrupted = pair
    heads = clean.context.shape[2]
    whole = corrupted.patched("context", 4, np.concatenate([clean.context[:, 0, head, 4] for head in range(heads)], axis=1))
    each = corrupted
    for head in range(heads):
        each = each.patched("context", 4, clean.context[:, 0, head, 4], head=head)
    np.testing.assert_array_equal(each.logits, whole.logits)
    with pytest.raises(ValueError, match="context"):
        corrupted.patched("output", 4, clean.context[:, 0, 0, 4], head=0)


def test_a_trace_is_what_patches_give(model, pair):
    clean, corrupted = pair
    traced = hl.trace(clean, corrupted)
    layers, positions = clean.output.shape[1:3]
    assert np.asarray(traced).shape == traced.effect.shape == (layers, positions)
    assert traced.logits.shape == (2, layers, positions)
    for position in range(positions):
        first = corrupted.patched("embeddings", position, clean.embeddings[:, position])
        np.testing.assert_array_equal(traced.logits[:, 0, position], first.logits)
        second = corrupted.patched("output", position, clean.output[:, 0, position])
        np.testing.assert_array_equal(traced.logits[:, 1, position], second.logits)
    # A pair counts as much as its logits differ; the two differ in opposite directions.
    difference = (clean.logits - corrupted.logits).astype(float)
    assert np.sign(difference).sum() == 0
    share = (traced.logits - corrupted.logits[:, None, None]) / difference[:, None, None]
    np.testing.assert_allclose(traced.effect, np.average(share, axis=0, weights=abs(difference)), rtol=1e-4, atol=1e-6)
    # One position differs: its embedding is all of it, and others are nothing.
    np.testing.assert_allclose(traced.effect[0], np.eye(positions)[5], atol=1e-4)
    of_heads = hl.trace(clean, corrupted, heads=True)
    assert of_heads.effect.shape == (layers, clean.context.shape[2], positions)
    patched = corrupted.patched("context", 0, clean.context[:, 1, 1, 0], layer=1, head=1)
    np.testing.assert_array_equal(of_heads.logits[:, 1, 1, 0], patched.logits)
    with pytest.raises(ValueError, match="read-only"):
        traced.effect[:] = 5
    # A trace is of what the corrupted output is, its own changes among it.
    changed = hl.trace(clean, corrupted.without(head=(0, 0)))
    np.testing.assert_array_equal(
        changed.logits[:, 0, 5], corrupted.without(head=(0, 0)).patched("embeddings", 5, clean.embeddings[:, 5]).logits
    )


def test_a_trace_shows_itself(pair):
    traced = hl.trace(*pair)
    assert "\n" not in repr(traced) and "block x position" in repr(traced)
    one = hl.trace(*(own._changed([]) for own in pair))
    assert "<table" in one._repr_html_()
    assert "corrupted logit (0) and the clean one (1)" in one.html()


def test_words_of_an_output(model):
    assert model("the * movie was good").words[0][:7] == ["[CLS]", "the", "*", "movie", "was", "good", "[PAD]"]
    numbers = hl.fit("quick")
    assert numbers([[1, 2, 3, 4, 5, 6]]).words == [["[CLS]", "1", "2", "3", "4", "5", "6"]]


def test_attributions_add_up_with_rectifiers_and_two_blocks(model, pair):
    """As exactly as float32 has the logits; at most a tenth of the points that equal distances took."""
    clean, _ = pair
    values = model.attribute(clean.tokens)
    zeros = clean
    for position in range(clean.tokens.shape[1]):
        zeros = zeros.patched("embeddings", position, np.zeros(clean.embeddings.shape[2]))
    np.testing.assert_allclose(values.sum(1), clean.logits - zeros.logits, atol=2e-3)
    # Samples are computed by threads: the same bytes alone.
    np.testing.assert_array_equal(model.attribute(clean.tokens[1:]), values[1:])


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_an_attribution(model, pair):
    # A shell may start its background jobs with this signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tokens = np.repeat(pair[0].tokens, 20_000, axis=0)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.attribute(tokens)
    assert time.monotonic() - start < 10
