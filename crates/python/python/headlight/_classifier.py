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
from ._run import Run, train


class AttentionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small transformer that classifies from `[CLS]`.

    `X` holds categories, whole numbers or names, `[sample, position]`, or texts; `y` holds any classes. Each category of the
    training samples gets a token, from 1 and in order, so that categories 1, 2, 3, ... keep their numbers. Categories that
    are not in the training samples share one last token.

    Args:
        d_model, n_heads, n_layers, d_ff: The size of the model.
        epochs, learning_rate, batch_size: As in the config's section `training`.
        token_dropout: The share of tokens that each step leaves out.
        seed: The seed of the initial weights and of the order of samples.

    Attributes:
        classes_: The classes, sorted.
        categories_: The categories, sorted: the first is token 1. Texts have none.
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
            ValueError: There are fewer than two classes, or a sample or a parameter is invalid.
        """
        texts = _texts(X)
        if texts is not None:
            labels = column_or_1d(y, warn=True)
        else:
            X, labels = validate_data(self, X, y, dtype=None)
            X = _categories(X)
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds {len(self.classes_)} class; a classifier needs at least two")
        data: dict[str, Any] = {"held_out": 0}
        if texts is not None:
            self.categories_ = None
            # All names have the same length, so that their order is that of the classes.
            data["file"] = datasets.from_texts(texts, [f"class {number:04}" for number in numbers])
        else:
            self.categories_ = np.unique(X)
            data["file"] = datasets.from_arrays(self.tokens(X), numbers)
            data["vocab_size"] = len(self.categories_) + 2
        model = {name: getattr(self, name) for name in ("d_model", "n_heads", "n_layers", "d_ff")}
        training = {name: getattr(self, name) for name in ("epochs", "learning_rate", "batch_size", "token_dropout")}
        config = {"data": data, "model": model, "training": training}
        self.run_: Run = train(config, seed=self.seed, progress=False)
        self.model_: Model = self.run_.model
        return self

    def tokens(self, X: ArrayLike) -> NDArray[Any]:
        """Categories as the tokens of `model_`. `[sample, position]`"""
        categories: Any = self.categories_
        found = np.searchsorted(categories, np.asarray(X))
        known = np.append(categories, categories[:1])[found] == X
        tokens: NDArray[Any] = np.where(known & (found < len(categories)), found + 1, len(categories) + 1)
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
        texts = _texts(X)
        if texts is not None and self.categories_ is None:
            return self.model_(texts)
        X = _categories(validate_data(self, X, dtype=None, reset=False))
        return self.model_(self.tokens(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        # Ten epochs on the few samples of a check are no training.
        tags.classifier_tags.poor_score = True
        return tags


def _texts(X: ArrayLike) -> list[str] | None:
    """The samples, if they are texts."""
    if not isinstance(X, (list, tuple)) and not hasattr(X, "tolist"):
        return None
    rows: list[Any] = list(X)  # type: ignore[arg-type]
    return [str(row) for row in rows] if rows and all(isinstance(row, str) for row in rows) else None


def _categories(X: Any) -> NDArray[Any]:
    """Categories as whole numbers, or names as they are."""
    if X.dtype.kind == "U":
        return np.asarray(X)
    if X.dtype == object and X.size and all(isinstance(name, str) for name in X.ravel()):
        return np.asarray(X, dtype=str)
    if X.dtype.kind not in "biuf":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"X has the type {X.dtype}; it must hold categories (whole numbers or names) or texts: {error}") from None
    if X.dtype.kind == "f" and (X != np.floor(X)).any():
        raise ValueError("X holds fractions; categories must be whole numbers or names")
    whole: NDArray[np.int64] = X.astype(np.int64)
    return whole
