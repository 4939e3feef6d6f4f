"""Attention from anywhere: what is taken, and what is refused. scripts/python/check_pages.py looks at the page."""

import headlight as hl
import numpy as np
import pytest
from headlight._show import _mask

WORDS = ["a", "b", "c"]


def weights(*shape):
    return np.random.default_rng(0).dirichlet(np.ones(3), size=shape)


@pytest.mark.parametrize(
    ("given", "samples", "expected"),
    [
        (weights(3), 1, (1, 1, 1, 3, 3)),
        (weights(4, 3), 1, (1, 1, 4, 3, 3)),
        (weights(2, 4, 3), 1, (1, 2, 4, 3, 3)),
        (weights(1, 2, 4, 3), 1, (1, 2, 4, 3, 3)),
        ([weights(4, 3), weights(4, 3)], 1, (1, 2, 4, 3, 3)),
        ([weights(1, 4, 3), weights(1, 4, 3)], 1, (1, 2, 4, 3, 3)),
        (weights(5, 3), 5, (5, 1, 1, 3, 3)),
        (weights(5, 4, 3), 5, (5, 1, 4, 3, 3)),
        (weights(5, 2, 4, 3), 5, (5, 2, 4, 3, 3)),
        ([weights(5, 4, 3), weights(5, 4, 3)], 5, (5, 2, 4, 3, 3)),
        (weights(3).tolist(), 1, (1, 1, 1, 3, 3)),
    ],
)
def test_axes(given, samples, expected):
    tokens = WORDS if samples == 1 else [WORDS] * samples
    shown = hl.show(given, tokens)
    sizes = "{} samples, {} layers x {} heads, {} positions".format(*expected[:4])
    assert sizes in repr(shown)
    assert shown.html().startswith("<!")
    assert shown._repr_html_().startswith("<iframe")


def test_a_page_is_saved(run, tmp_path):
    shown, sweep = hl.show(weights(3), np.arange(3), title="<&>"), hl.sweep("quick", seeds=2)
    traced = hl.trace(run.model(run.samples[:1]), run.model(run.samples[1:2]))
    for page, save in [(shown, shown.save), (sweep, sweep.save_html), (traced, traced.save_html)]:
        save(tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html()
    assert "<title>&lt;&amp;&gt;</title>" in shown.html()
    # A sweep in a cell is a picture, whose style is nobody else's.
    assert "<svg" in sweep.html() and "<style" in sweep.svg
    shown = sweep._repr_html_()
    assert shown.startswith("<img") and "<style" not in shown and "<svg" not in shown


@pytest.mark.parametrize(
    ("given", "tokens", "more", "error"),
    [
        (weights(3), WORDS[:2], {}, ValueError),
        (weights(3)[:, :2], WORDS, {}, ValueError),
        (weights(3), "a b c", {}, TypeError),
        (weights(3), [WORDS, WORDS], {}, ValueError),
        (weights(2, 3), [WORDS, WORDS[:2]], {}, ValueError),
        (weights(3) * 2, WORDS, {}, ValueError),
        (weights(3) - 1, WORDS, {}, ValueError),
        (weights(3) * np.nan, WORDS, {}, ValueError),
        (np.array([["x"] * 3] * 3), WORDS, {}, TypeError),
        (np.empty((0, 0)), [], {}, ValueError),
        ([weights(4, 3), weights(5, 3)], WORDS, {}, ValueError),
        (weights(3), WORDS, {"scores": weights(2, 3)}, ValueError),
        (weights(3), WORDS, {"scores": weights(3) * np.nan}, ValueError),
        (np.broadcast_to(np.float32(0), (3, 3000, 3000)), list(range(3000)), {}, ValueError),
        (None, WORDS, {}, (TypeError, ValueError)),
    ],
)
def test_what_does_not_fit_is_refused(given, tokens, more, error):
    with pytest.raises(error) as raised:
        hl.show(given, tokens, **more)
    assert 10 < len(str(raised.value)) < 600


def test_weights_that_do_not_sum_to_one_are_no_fact():
    fact = "weights sum to 1 within"
    halves = np.tril(np.full((3, 3), 0.5))
    with pytest.warns(UserWarning, match="2 of 3 queries.*0.5"):
        page = hl.show(halves, WORDS).html()
    assert fact not in page
    # In half precision, with a query that may look at no key.
    assert fact in hl.show((weights(3) * [[1], [1], [0]]).astype(np.float16), WORDS).html()


ZEROS = np.array([[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]])
CAUSAL, NEAR = np.tril([[1.0] * 3, [0.5] * 3, [1 / 3] * 3]), np.tril(np.ones((3, 3)), 1) > 0


@pytest.mark.parametrize(
    ("given", "scores", "mask", "masked"),
    [
        # Weights of 0 are masked where a causal mask or padding explains them, the scores or the mask say so; not where they are merely small.
        (ZEROS, None, None, []),
        (CAUSAL, None, None, [(0, 1), (0, 2), (1, 2)]),
        (ZEROS[:, [1, 0, 2]] * [[1], [1], [0]], None, None, [(0, 2), (1, 2), (2, 0), (2, 1), (2, 2)]),
        (ZEROS, None, ZEROS > 0, [(0, 2), (1, 0), (1, 2), (2, 0)]),
        *((ZEROS, np.where(NEAR, -20.0, lowest), None, [(0, 2)]) for lowest in (-np.inf, np.finfo(np.float32).min)),
    ],
)
def test_a_weight_of_zero_is_not_a_mask(given, scores, mask, masked):
    found = _mask(given[None, None, None], None if scores is None else scores[None, None, None], mask)
    assert [tuple(place) for place in np.argwhere(~found[0])] == masked
    assert "1 layers" in repr(hl.show(given, WORDS, scores=scores, mask=mask))
