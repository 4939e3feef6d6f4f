"""scikit-learn's own checks, and its tools."""

import headlight as hl
import numpy as np
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
