"""The pinned values in the tests of crates/data follow from the definition of ChaCha."""

import pytest
from chacha import below, shuffled, words
from common import ROOT


def rows(source) -> list[int]:
    """Three samples of four tokens, with [CLS]."""
    return sum(([0] + [1 + below(10, source) for _ in range(4)] for _ in range(3)), [])


def pairs() -> list[int]:
    return sum(([index // 3, index % 3] for index in shuffled(9, words(7, "split"))), [])


def noise() -> list[int]:
    return [sample for sample in range(40) if next(words(3, "label_noise", first_word=sample << 10)) < 1 << 30]


def numbers() -> list[int]:
    source = words(7, "inputs")
    return [below(n, source) for n in (59, 59, 59, 11, 2, 1, 59)]


@pytest.mark.parametrize(
    ("test", "name", "kind", "values"),
    [
        ("generate.rs", "PINNED_ROWS", "u32", rows(words(7, "data"))),
        ("generate.rs", "PINNED_ORDER", "u32", shuffled(8, words(0, "shuffle", first_word=1 << 40))),
        ("generate.rs", "PINNED_PAIRS", "u32", pairs()),
        ("fresh.rs", "PINNED_FRESH", "u32", rows(words(7, "fresh", first_word=5 << 40))),
        ("generate.rs", "PINNED_NUMBERS", "u32", numbers()),
        ("noise.rs", "PINNED_NOISE", "usize", noise()),
    ],
)
def test_pinned_values_follow_from_the_definition(test, name, kind, values):
    line = f"const {name}: [{kind}; {len(values)}] = {values};"
    assert line in (ROOT / "crates/data/tests" / test).read_text()
