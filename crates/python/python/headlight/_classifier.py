"""A classifier with the conventions of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._data import datasets
from ._model import Model
from ._run import Run, train

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import NotFittedError
except ImportError:  # scikit-learn is optional.

    class BaseEstimator:  # type: ignore[no-redef]
        """In place of scikit-learn's."""

    class ClassifierMixin:  # type: ignore[no-redef]
        """In place of scikit-learn's."""

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The classifier was not fitted."""


class AttentionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small transformer that classifies from `[CLS]`.

    `X` holds token ids from 1, `[sample, token]`, or texts. `y` holds numbers or names of classes.

    Args:
        d_model, n_heads, n_layers, d_ff: The size of the model.
        epochs, learning_rate, batch_size: Of the training.
        token_dropout: The share of tokens that each step leaves out.
        seed: Of the initial weights and the order of samples.

    Attributes:
        classes_: The classes, sorted.
        run_: The training as a `Run`; its page shows the attention.
        model_: The trained `Model`.
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
            ValueError: There are fewer than two classes, or a sample is invalid.
            TypeError: Tokens are not whole numbers.
        """
        X, texts = _samples(X)
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != len(X):
            raise ValueError(f"y has the shape {labels.shape}; X has {len(X)} samples")
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds {len(self.classes_)} class; a classifier needs at least two")
        if texts:
            file = datasets.from_texts([str(text) for text in X], [f"class {number}" for number in numbers])
        else:
            file = datasets.from_arrays(X, numbers)
            self.n_features_in_ = X.shape[1]
        sections: dict[str, Any] = {
            "data": {"file": file, "held_out": 0},
            "model": {
                "d_model": self.d_model,
                "n_heads": self.n_heads,
                "n_layers": self.n_layers,
                "d_ff": self.d_ff,
            },
            "training": {
                "epochs": self.epochs,
                "learning_rate": self.learning_rate,
                "batch_size": self.batch_size,
                "token_dropout": self.token_dropout,
            },
        }
        self.run_: Run = train(sections, seed=int(self.seed), progress=False)
        self.model_: Model = self.run_.model
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float32]:
        """The logits: log-odds of the second class `[sample]`, or of each class `[sample, class]`."""
        logits: NDArray[np.float32] = self._computed(X).logits
        return logits

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class. `[sample, class]`"""
        probabilities = self._computed(X).probabilities.astype(np.float64)
        if probabilities.ndim == 1:
            return np.stack([1 - probabilities, probabilities], axis=1)
        shares: NDArray[np.float64] = probabilities / probabilities.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The likeliest class. `[sample]`"""
        predicted: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted

    def _computed(self, X: ArrayLike) -> Any:
        if not hasattr(self, "model_"):
            raise NotFittedError("this AttentionClassifier is not fitted yet; call fit first")
        return self.model_(_samples(X)[0])


def _samples(X: ArrayLike) -> tuple[NDArray[Any], bool]:
    """Samples as an array, and whether they are texts."""
    array = np.asarray(X)
    if array.dtype.kind in "UO" and array.ndim == 1 and all(isinstance(text, str) for text in array):
        return array, True
    if array.ndim != 2:
        raise ValueError(f"X has the axes [sample, token], or holds texts; this has the shape {array.shape}")
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise ValueError("X holds NaN or infinity; tokens are whole numbers")
        if (array != np.floor(array)).any():
            raise ValueError("X holds fractions; tokens are whole numbers")
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"X has the type {array.dtype}; tokens are whole numbers, or give texts")
    return array, False
