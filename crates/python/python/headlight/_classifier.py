"""A scikit-learn classifier. This file needs scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ._data import datasets
from ._model import Model
from ._names import FIRST, PADDING, UNKNOWN, class_names, token_names
from ._run import Run, train
from ._texts import check_labels, is_missing, texts, warn_if_mixed

FRACTIONS = "X holds fractions; categories must be whole numbers or names"


class AttentionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small transformer that classifies from `[CLS]`.

    `X` holds categories, whole numbers or names, `[sample, position]`, or texts; `y` holds any classes. Both keep their names
    in reports and on the page. Each category of the training samples gets a token, in order; those that are not in the
    training samples share the token `[UNK]`.

    Args:
        d_model, n_heads, n_layers, d_ff: The size of the model.
        epochs, learning_rate, batch_size: As in the config's section `training`.
        token_dropout: The share of tokens that each step leaves out.
        seed: The seed of the initial weights and of the order of samples.

    Attributes:
        classes_: The classes, sorted.
        categories_: The categories, sorted: the first is token 3, after `[CLS]`, `[PAD]` and `[UNK]`. Texts have none.
        run_: The training as a `Run`; its page shows the attention.
        model_: The trained `Model`, which takes `tokens(X)`.
    """

    def __init__(
        self,
        *,
        d_model: int = 16,
        n_heads: int = 2,
        n_layers: int = 1,
        d_ff: int = 32,
        epochs: int = 10,
        learning_rate: float = 3e-3,
        batch_size: int = 16,
        token_dropout: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.d_model = d_model
        self.n_heads = n_heads
        self.n_layers = n_layers
        self.d_ff = d_ff
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.token_dropout = token_dropout
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike) -> AttentionClassifier:
        """Trains on samples.

        Raises:
            ValueError: There are fewer than two classes, a value is missing, or a sample or a parameter is invalid.
        """
        sentences = texts(X)
        if hasattr(y, "__iter__"):
            check_labels(y, "text" if sentences is not None else "sample")
        if sentences is not None:
            labels = column_or_1d(y, warn=True)
        else:
            X, labels = validate_data(self, _unmixed(X), y, dtype=None, ensure_all_finite=False)
            X = _categories(X)
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds {len(self.classes_)} class; a classifier needs at least two")
        names = class_names(self.classes_)
        data: dict[str, Any] = {"held_out": 0, "classes": names}
        model: dict[str, Any] = {name: getattr(self, name) for name in ("d_model", "n_heads", "n_layers", "d_ff")}
        if sentences is not None:
            self.categories_ = None
            data["file"] = datasets.from_texts(sentences, [names[number] for number in numbers])
        else:
            self.categories_ = np.unique(X)
            _check_no_texts(X, self.categories_)
            data["file"] = datasets.from_arrays(self.tokens(X), np.array(names)[numbers])
            data["words"] = {"vocabulary": token_names(self.categories_), "lowercase": False}
            data["vocab_size"] = FIRST + len(self.categories_)
            model["attention"] = {"padding_token": PADDING}
        training = {name: getattr(self, name) for name in ("epochs", "learning_rate", "batch_size", "token_dropout")}
        config = {"data": data, "model": model, "training": training}
        self.run_: Run = train(config, seed=self.seed, progress=False)
        self.model_: Model = self.run_.model
        return self

    def tokens(self, X: ArrayLike) -> NDArray[Any]:
        """Categories as the tokens of `model_`. `[sample, position]`"""
        categories: Any = self.categories_
        values = np.asarray(X)
        if categories.dtype.kind == "U":
            values = values.astype(str)
        elif values.dtype.kind not in "biu":
            raise ValueError("X holds names, but the classifier was trained on whole numbers")
        found = np.searchsorted(categories, values)
        known = np.append(categories, categories[:1])[found] == values
        tokens: NDArray[Any] = np.where(known & (found < len(categories)), found + FIRST, UNKNOWN)
        return tokens

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """The logits: log-odds of the second class `[sample]`, or of each class `[sample, class]`."""
        logits: NDArray[np.float64] = self._computed(X).logits.astype(np.float64)
        return logits

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class. `[sample, class]`"""
        logits = self.decision_function(X)
        if logits.ndim == 1:
            logits = np.stack([np.zeros_like(logits), logits], axis=1)
        parts = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: NDArray[np.float64] = parts / parts.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The likeliest class. `[sample]`"""
        found = self._computed(X).predicted
        predicted: NDArray[Any] = self.classes_[found]
        return predicted

    def _computed(self, X: ArrayLike) -> Any:
        check_is_fitted(self, "model_")
        sentences = texts(X)
        if sentences is not None and self.categories_ is None:
            return self.model_(sentences)
        if self.categories_ is None:
            raise ValueError('X holds no texts, and the classifier was trained on texts; give a list or a column of texts, such as df["text"]')
        X = _categories(validate_data(self, _unmixed(X), dtype=None, ensure_all_finite=False, reset=False))
        return self.model_(self.tokens(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        # Ten epochs on the few samples of a check train too little.
        tags.classifier_tags.poor_score = True
        return tags


def _unmixed(X: ArrayLike) -> ArrayLike:
    """Rows of a list as objects, since NumPy would make names of the numbers and missing values beside names."""
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in X):
        return X
    has_names = any(isinstance(value, str) for row in X for value in row)
    return np.array(X, dtype=object) if has_names and len({len(row) for row in X}) == 1 else X


def _check_present(X: Any, missing: ArrayLike) -> None:
    """Refuses values that are missing, or NaN or infinite."""
    places = np.argwhere(missing)
    if len(places):
        row, column = places[0]
        raise ValueError(
            f"X has {X[row, column]!r} in row {row}, column {column} (both from 0): NaN, inf and missing values are not categories; remove "
            "the row, or give what is missing a category of its own"
        )


def _check_no_texts(X: NDArray[Any], categories: NDArray[Any]) -> None:
    """Refuses a table whose only column holds texts, since each text would be a category, most of them of a single sample."""
    if X.shape[1] == 1 and 2 * len(categories) > len(X) and any(" " in str(name) for name in categories):
        raise ValueError(
            "X has one column, and most of its values stand in one row only, as texts do; give texts as a list or a column, "
            'such as df["text"] and not df[["text"]]'
        )


def _category(value: Any) -> str:
    """A category as a name: 3.0 is 3."""
    if isinstance(value, float):
        if not value.is_integer():
            raise ValueError(FRACTIONS)
        value = int(value)
    return str(value)


def _categories(X: Any) -> NDArray[Any]:
    """Categories as whole numbers, or names as they are; if columns hold either, all as names."""
    if X.dtype.kind == "U":
        return np.asarray(X)
    if X.dtype == object:
        _check_present(X, [[is_missing(value) for value in row] for row in X])
        if any(isinstance(name, str) for name in X.flat):
            warn_if_mixed(X.flat, "category")
            return np.array([[_category(value) for value in row] for row in X])
    if X.dtype.kind not in "biuf":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"X has the type {X.dtype}; it must hold categories (whole numbers or names) or texts: {error}") from None
    if X.dtype.kind == "f":
        _check_present(X, ~np.isfinite(X))
    if X.dtype.kind == "f" and (X != np.floor(X)).any():
        raise ValueError(FRACTIONS)
    whole: NDArray[np.int64] = X.astype(np.int64)
    return whole
