"""Which words decided: the numbers of `headlight predict --explain`, as arrays."""

import json
import subprocess

import headlight as hl
import numpy as np
import pytest

TEXT = "the * food was awful , and the Zebra was great"


@pytest.fixture(scope="module")
def run():
    return hl.train("negation", data={"samples": 800, "held_out": 60}, training={"epochs": 2})


@pytest.fixture(scope="module")
def found(run):
    with pytest.warns(UserWarning):
        return run.explain(TEXT)


def test_the_command_line_has_the_same_numbers(run, found, program):
    command = [program, "predict", str(run.path), "--text", TEXT, "--explain"]
    printed = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
    theirs = json.loads(printed)["explanation"]
    for name in ("predicted", "probability", "layer", "head", "logit", "cut"):
        assert getattr(found, name) == theirs[name]
    for ours, name in [("weights", "weight"), ("attention", "attention"), ("change", "change")]:
        assert getattr(found, ours).tolist() == [word[name] for word in theirs["words"]]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert shown.rstrip().endswith(repr(found))


def test_words_are_what_the_model_computes(run, found):
    assert found.words == TEXT.split()
    assert [word for word, unknown in zip(found.words, found.unknown, strict=True) if unknown] == ["Zebra"]
    assert found.predicted in ("good", "bad")
    with pytest.warns(UserWarning):
        out = run.model(TEXT)
    chosen = (lambda p: p) if found.predicted == "good" else (lambda p: 1 - p)
    assert found.probability == pytest.approx(chosen(float(out.probabilities[0])), abs=1e-6)
    for index, position in enumerate(found.positions):
        without = chosen(float(out.without(key=int(position)).probabilities[0]))
        assert found.probability_without[index] == pytest.approx(without, abs=1e-6)
    keys = len(found.words) + 1
    assert found.weights == pytest.approx(out.weights[0, found.layer, found.head, 0, found.positions])
    assert found.attention == pytest.approx(keys * found.weights)
    total = found.integrated_gradients.sum() + found.integrated_gradients_of_cls + found.baseline_logit
    assert total == pytest.approx(found.logit, abs=1e-3)


def test_it_shows_itself(found):
    assert "Zebra (unknown)" in repr(found)
    assert max(map(len, repr(found).splitlines())) <= 80
    page = found._repr_html_()
    assert page.count("<tr>") == len(found.words) + 1
    assert "<style" not in page


def test_one_sample_of_tokens_or_texts():
    run = hl.train("notebook")
    found = run.explain([16, 5, 42, 43, 32, 2])
    assert found.predicted == 1
    assert found.words[np.argmin(found.change)] == "42"
    assert run.model.explain(run.samples[:1]).probability > 0
    with pytest.raises(ValueError, match="one sample"):
        run.explain(run.samples[:2])
    with pytest.raises(ValueError, match="text"):
        run.explain("a text")
