"""scikit-learn's own checks, and its tools."""

import json

import headlight as hl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
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
    with pytest.warns(UserWarning, match="3 of 4 values in X were not in the training samples"):
        assert search.predict([[9, 9, 5, 9]]) == ["yes"]


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
    with pytest.warns(UserWarning, match="1 of 3"):
        assert classifier.predict(pd.DataFrame({"colour": ["violet"], "doors": [4], "used": [True]})) == [True]
    gap = frame.astype(object)
    gap.iloc[3, 1] = None
    with pytest.raises(ValueError, match="row 3, column 1"):
        classifier.predict(gap)


def test_a_table_of_texts_is_refused():
    frame = pd.DataFrame({"text": [f"{word} film number {number}" for number in range(20) for word in ("good", "bad")]})
    y = ["pos", "neg"] * 20
    with pytest.raises(ValueError, match="df"):
        hl.AttentionClassifier(epochs=1).fit(frame, y)
    assert hl.AttentionClassifier(epochs=1).fit(frame["text"], y).categories_ is None


WHOLE = [1, 2, 4]


@pytest.mark.parametrize(
    ("columns", "categories"),
    [
        ({"a": WHOLE, "b": [1.0, 2.0, 4.0]}, [1, 2, 4]),
        ({"a": WHOLE, "b": pd.array(WHOLE, dtype="Int64")}, [1, 2, 4]),
        ({"a": WHOLE, "b": [True, False, True]}, ["1", "2", "4", "False", "True"]),
        ({"a": pd.Categorical(["x", "y", "x"]), "b": [True, False, True]}, ["False", "True", "x", "y"]),
        ({"a": pd.Categorical(WHOLE), "b": [7, 8, 9]}, [1, 2, 4, 7, 8, 9]),
        ({"a": [True, False, True], "b": [False, True, True]}, ["False", "True"]),
        ({"a": np.float16(WHOLE), "b": np.float16(WHOLE)}, [1, 2, 4]),
        # As fractions, the two would be the same.
        ({"a": [2**53, 2**53 + 1, 2**53], "b": [1.0, 2.0, 1.0]}, [1, 2, 2**53, 2**53 + 1]),
    ],
)
def test_a_frame_of_several_kinds_keeps_its_values(columns, categories):
    frame = pd.concat([pd.DataFrame(columns)] * 4, ignore_index=True)
    lists = [list(row) for row in zip(*(frame[name].tolist() for name in frame))]
    frames = [frame, pl.DataFrame({name: frame[name].tolist() for name in frame})]
    fitted = [hl.AttentionClassifier(epochs=1).fit(own, ["u", "v", "w"] * 4) for own in frames]
    for classifier in fitted:
        assert classifier.categories_.tolist() == categories
        assert list(classifier.feature_names_in_) == ["a", "b"]
        for own in frames:
            tokens = classifier.tokens(own)
            assert tokens.min() >= 3
            np.testing.assert_array_equal(tokens, fitted[0].tokens(frame))
            np.testing.assert_array_equal(classifier.predict(own), classifier.classes_[classifier.model_(tokens).predicted])
    assert hl.AttentionClassifier(epochs=1).fit(lists, ["u", "v", "w"] * 4).categories_.tolist() == categories


def test_numbers_that_are_too_large_are_refused():
    for large in (np.array([[1, 2**63 + 5]] * 4, dtype=np.uint64), [[1, 1e19]] * 4, [[1, 10**25]] * 4, pd.DataFrame({"a": [True] * 4, "b": [1] * 4, "c": [3e30] * 4}).iloc[:, 1:]):
        with pytest.raises(ValueError, match="row 0, column 1.*names"):
            hl.AttentionClassifier().fit(large, [0, 1] * 2)
    names = hl.AttentionClassifier(epochs=1).fit([["a", 10**25], ["a", 10**25 + 1]] * 2, [0, 1] * 2)
    assert len(names.categories_) == 3


@pytest.mark.parametrize("names", [lambda number: number, "id {}".format])
def test_ids_are_warned_of(names):
    frame = pd.DataFrame({"kind": [1, 2] * 60, "id": [names(number) for number in range(120)]})
    with pytest.warns(UserWarning, match="column 'id' has 120;") as warned:
        hl.AttentionClassifier(epochs=1).fit(frame, [0, 1] * 60)
    assert len(warned) == 1 and "kind" not in str(warned[0].message)


def test_no_seed_is_another_one_each_time():
    X, y = [[1, 2], [2, 1]] * 4, [0, 1] * 4
    seeds = [clone(hl.AttentionClassifier(epochs=1, seed=None)).fit(X, y).run_.config["seed"] for _ in range(2)]
    assert seeds[0] != seeds[1]
