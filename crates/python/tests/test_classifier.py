"""scikit-learn's own checks, and its tools."""

import json

import headlight as hl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

# Samples with fractions, which are no categories.
FRACTIONS = {"check_decision_proba_consistency": "its samples hold fractions"}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([hl.AttentionClassifier(epochs=2)], expected_failed_checks=lambda _: FRACTIONS)
def test_conventions(estimator, check):
    check(estimator)


def test_tools():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 4))
    y = np.where(X[:, 2] == 5, "yes", "no")
    classifier = hl.AttentionClassifier(epochs=15, learning_rate=1e-2)
    assert cross_val_score(classifier, X, y, cv=3).mean() > 0.95
    search = GridSearchCV(classifier, {"n_heads": [1, 2]}, cv=2).fit(X, y)
    assert search.best_estimator_.run_.metrics["f1"].iloc[-1] > 0.9
    # A category that no sample had.
    assert search.predict([[9, 9, 5, 9]]) == ["yes"]


def test_categories_may_be_names():
    rng = np.random.default_rng(0)
    X = rng.choice(["red", "green", "blue"], (200, 3))
    y = X[:, 0] == "red"
    classifier = hl.AttentionClassifier(epochs=15, learning_rate=1e-2).fit(X, y)
    assert classifier.score(X, y) > 0.95
    # A name that no sample had.
    assert classifier.predict(np.array([["red", "violet", "violet"]], dtype=object)) == [True]


@pytest.mark.parametrize(
    ("kind", "classes", "names"),
    [
        ("names", ["light red", "no", "yes"], ["light red", "no", "yes"]),
        ("numbers", [2, 9, 10], ["2", "9", "10"]),
        ("fractions", ["0.5", "1.5", "a"], ["'0.5'", "'1.5'", "a"]),
        ("mixed", ["1", "02", "b"], ["'02'", "'1'", "b"]),
        ("odd", ["", "a\nb", "x" * 300], ["''", "'a\\nb'", repr("x" * 300)[:90] + "..."]),
        ("truth", [False, True], ["False", "True"]),
    ],
)
@pytest.mark.parametrize("texts", [True, False])
def test_the_page_has_the_users_names(kind, classes, names, texts):
    rng = np.random.default_rng(0)
    X = rng.choice(["light red", "green", "blue"], (120, 2))
    y = np.array([classes[number] for number in np.unique(X[:, 0], return_inverse=True)[1] % len(classes)])
    samples = [" ".join(row) for row in X] if texts else X
    classifier = hl.AttentionClassifier(epochs=20, learning_rate=1e-2).fit(samples, y)
    # Order and predictions are the user's.
    assert list(classifier.classes_) == sorted(classes)
    assert classifier.score(samples, y) > 0.95
    assert classifier.run_.config["data"]["classes"] == names
    assert classifier.run_.config["data"]["words"]["vocabulary"][:3] != []
    if not texts:
        page = classifier.run_.html()
        assert all(json.dumps(word) in page for word in ("light_red", "green", "blue"))
        assert "light_red" in classifier.run_.report


def test_a_data_frame_may_hold_names_and_numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["red", "green"], 200), "doors": rng.integers(2, 6, 200), "used": rng.random(200) > 0.5})
    y = frame["doors"] == 4
    classifier = hl.AttentionClassifier(epochs=25, learning_rate=1e-2).fit(frame, y)
    assert classifier.score(frame, y) > 0.95
    assert classifier.run_.config["data"]["words"]["vocabulary"] == ["2", "3", "4", "5", "False", "True", "green", "red"]
    # A frame of the same values in polars.
    other = pl.DataFrame({name: frame[name].tolist() for name in frame})
    np.testing.assert_array_equal(classifier.predict(other), classifier.predict(frame))
    assert classifier.predict(pd.DataFrame({"colour": ["violet"], "doors": [4], "used": [True]})) == [True]
    gap = frame.astype(object)
    gap.iloc[3, 1] = None
    with pytest.raises(ValueError, match="row 3, column 1"):
        classifier.predict(gap)


def test_what_is_missing_is_named_also_in_lists():
    texts = ["a good film", "a bad film"] * 10
    for labels in (["good", np.nan] * 10, np.array(["good", None] * 10, dtype=object), ["good", None] * 10):
        with pytest.raises(ValueError, match="label of text 1"):
            hl.AttentionClassifier().fit(texts, labels)
    with pytest.raises(ValueError, match="row 1, column 0"):
        hl.AttentionClassifier().fit([["a", "q"], [np.nan, "q"]] * 10, ["x", "y"] * 10)
    with pytest.raises(ValueError, match="label of sample 1"):
        hl.datasets.from_arrays([[1, 2], [2, 1]], ["a", np.nan])


def test_a_classifier_of_texts_refuses_other_samples():
    classifier = hl.AttentionClassifier(epochs=1).fit(["a good film", "a bad film"] * 10, ["good", "bad"] * 10)
    for samples in ([[1, 2, 3]], np.array([["a good film"]])):
        with pytest.raises(ValueError, match="texts"):
            classifier.predict(samples)


def test_a_table_of_texts_is_refused():
    frame = pd.DataFrame({"text": [f"{word} film number {number}" for number in range(20) for word in ("good", "bad")]})
    y = ["pos", "neg"] * 20
    with pytest.raises(ValueError, match="df"):
        hl.AttentionClassifier(epochs=1).fit(frame, y)
    assert hl.AttentionClassifier(epochs=1).fit(frame["text"], y).categories_ is None
