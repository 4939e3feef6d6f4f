"""A scikit-learn classifier. This file needs scikit-learn."""

from __future__ import annotations

import math
import secrets
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, column_or_1d, validate_data

from ._arrays import array
from ._data import datasets
from ._folders import Folder
from ._model import Model, Output
from ._names import FIRST, PADDING, UNKNOWN, class_names, token_names
from ._run import Run, train
from ._texts import check_labels, is_missing, texts, warn_if_mixed

FRACTIONS = "X holds fractions; categories must be whole numbers or names"

# The most classes, and the most categories of a column without a warning.
MOST_CLASSES = 256
MANY = 100


class AttentionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small transformer that classifies from `[CLS]`.

    `X` holds categories, whole numbers or names, `[sample, position]`, or texts; `y` holds any classes. Both keep their names
    in reports and on the page. Each category of the training samples gets a token, in order; those that are not in the
    training samples share the token `[UNK]`, with a warning. All columns share one set of categories: to tell equal values of
    two columns apart, give each the name of its column, such as `doors=4`.

    Args:
        d_model, n_heads, n_layers, d_ff: The size of the model.
        epochs, learning_rate, batch_size: As in the config's section `training`.
        token_dropout: The share of tokens that each step leaves out.
        seed: The seed of the initial weights and of the order of samples. None draws one for each fit: `run_.config["seed"]`.

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
        seed: int | None = 0,
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
            values, labels = check_X_y(_unmixed(X), y, dtype=None, ensure_all_finite=False, estimator=self)
            validate_data(self, X, skip_check_array=True)
            values = _categories(values)
            _warn_of_many(values, getattr(X, "columns", range(values.shape[1])))
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds {len(self.classes_)} class; a classifier needs at least two")
        if len(self.classes_) > MOST_CLASSES:
            raise ValueError(f"y has {len(self.classes_)} classes, and a model at most {MOST_CLASSES}; a class is not a measured value")
        names = class_names(self.classes_)
        data: dict[str, Any] = {"held_out": 0, "classes": names}
        model: dict[str, Any] = {name: getattr(self, name) for name in ("d_model", "n_heads", "n_layers", "d_ff")}
        folder = Folder()
        if sentences is not None:
            self.categories_ = None
            data["file"] = datasets.from_texts(sentences, [names[number] for number in numbers], path=folder.path / "texts.csv")
        else:
            self.categories_ = np.unique(values)
            _check_no_texts(values, self.categories_)
            data["file"] = datasets.from_arrays(self._numbered(values), np.array(names)[numbers], path=folder.path / "samples.npz")
            data["words"] = {"vocabulary": token_names(self.categories_), "lowercase": False}
            data["vocab_size"] = FIRST + len(self.categories_)
            model["attention"] = {"padding_token": PADDING}
        training = {name: getattr(self, name) for name in ("epochs", "learning_rate", "batch_size", "token_dropout")}
        config = {"data": data, "model": model, "training": training}
        seed = secrets.randbelow(2**31) if self.seed is None else self.seed
        self.run_: Run = train(config, seed=seed, progress=False)
        # The page of the run reads the samples.
        self.run_._kept.append(folder)
        self.model_: Model = self.run_.model
        return self

    def tokens(self, X: ArrayLike) -> NDArray[Any]:
        """Samples as the tokens of `model_`. `[sample, position]`"""
        check_is_fitted(self, "model_")
        sentences = texts(X)
        if self.categories_ is None:
            if sentences is None:
                raise ValueError(
                    'X holds no texts, and the classifier was trained on texts; give a list or a column of texts, such as df["text"]'
                )
            return self.model_.tokens(sentences)
        values = check_array(_unmixed(X), dtype=None, ensure_all_finite=False, input_name="X", estimator=self)
        validate_data(self, X, reset=False, skip_check_array=True)
        tokens = self._numbered(_categories(values))
        unknown = (tokens == UNKNOWN).sum()
        if unknown:
            warnings.warn(
                f"{unknown} of {tokens.size} values in X were not in the training samples; the model has never seen the token that they "
                "share, so what it predicts for them is arbitrary",
                stacklevel=2,
            )
        return tokens

    def _numbered(self, values: NDArray[Any]) -> NDArray[Any]:
        """The token of each category."""
        categories: Any = self.categories_
        if categories.dtype.kind == "U":
            values = values.astype(str)
        elif values.dtype.kind == "U":
            raise ValueError("X holds names, but the classifier was trained on whole numbers")
        found = np.searchsorted(categories, values)
        known = np.append(categories, categories[:1])[found] == values
        tokens: NDArray[Any] = np.where(known & (found < len(categories)), found + FIRST, UNKNOWN)
        return tokens

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """The logits: log-odds of the second class `[sample]`, or of each class `[sample, class]`."""
        logits: NDArray[np.float64] = self._output(X).logits.astype(np.float64)
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
        found = self._output(X).predicted
        predicted: NDArray[Any] = self.classes_[found]
        return predicted

    def _output(self, X: ArrayLike) -> Output:
        tokens = self.tokens(X)  # First: it raises NotFittedError where there is no model.
        return self.model_(tokens)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        # Ten epochs on the few samples of a check train too little.
        tags.classifier_tags.poor_score = True
        return tags


def _unmixed(X: Any) -> Any:
    """Values of different kinds as objects: libraries would make names, or other numbers, of all of them."""
    if isinstance(X, np.ma.MaskedArray):
        X = array(X, "X")
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        names = list(X.columns)
        twice = [name for index, name in enumerate(names) if name in names[:index]]
        if twice:
            raise ValueError(f"X has two columns with the name {twice[0]!r}; rename one of them")
        kinds = set(X.dtypes)
        if not names or len(kinds) == 1 and isinstance(kinds.pop(), np.dtype):
            return X
        return np.stack([np.array(list(X[name]), dtype=object) for name in names], axis=1)
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in X):
        return X
    is_mixed = len({type(value) for row in X for value in row}) > 1
    return np.array(X, dtype=object) if is_mixed and len({len(row) for row in X}) == 1 else X


def _refuse(X: Any, wrong: ArrayLike, why: str) -> None:
    """Refuses values."""
    places = np.argwhere(wrong)
    if len(places):
        row, column = places[0]
        raise ValueError(f"X has {X[row, column]} in row {row}, column {column} (both from 0): {why}")


def _warn_of_many(X: NDArray[Any], names: Any) -> None:
    many = [f"column {name!r} has {count}" for name, count in zip(names, (len(np.unique(own)) for own in X.T)) if count > MANY]
    if many:
        warnings.warn(
            f"X has columns with more than {MANY} different values: {', '.join(many)}; each value is a category of its own, so leave out "
            "ids, and put measured numbers into groups",
            stacklevel=3,
        )


def _check_no_texts(X: NDArray[Any], categories: NDArray[Any]) -> None:
    """Refuses a table whose only column holds texts, since each text would be a category, most of them of a single sample."""
    if X.shape[1] == 1 and 2 * len(categories) > len(X) and any(" " in str(name) for name in categories):
        raise ValueError(
            "X has one column, and most of its values stand in one row only, as texts do; give texts as a list or a column, "
            'such as df["text"] and not df[["text"]]'
        )


def _category(value: Any) -> str | int:
    """A category as a name or a whole number: 3.0 is 3."""
    if isinstance(value, (str, bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        kind = type(value).__name__
        raise type(error)(f"X has a {kind}; a category is a whole number or a name, such as str(value) ({error})") from None
    if not number.is_integer():
        raise ValueError(FRACTIONS)
    return int(number)


def _is_missing(value: Any) -> bool:
    return is_missing(value) or isinstance(value, (float, np.floating)) and math.isinf(value)


def _categories(X: Any) -> NDArray[Any]:
    """Categories as whole numbers; if some are names, or True and False, all as names."""
    missing = "NaN, inf and missing values are not categories; remove the row, or give what is missing a category of its own"
    if X.dtype.kind in "Ub":
        names: NDArray[Any] = X.astype(str)
        return names
    if X.dtype.kind in "mM":
        raise ValueError("X holds dates or times; categories must be whole numbers or names, such as str(value)")
    if X.dtype.kind == "f":
        _refuse(X, ~np.isfinite(X), missing)
        if (X != np.floor(X)).any():
            raise ValueError(FRACTIONS)
        # Half precision has no number as large as the bounds below.
        X = X.astype(np.promote_types(X.dtype, np.float64))
    elif X.dtype.kind not in "iu":
        X = X.astype(object)
        _refuse(X, [[_is_missing(value) for value in row] for row in X], missing)
        X = np.array([[_category(value) for value in row] for row in X], dtype=object)
        if any(isinstance(value, str) for value in X.flat):
            warn_if_mixed(X.flat, "category")
            names = X.astype(str)
            return names
    if X.dtype.kind != "i":
        _refuse(X, (X < -(2**63)) | (X >= 2**63), "whole numbers must be from -2**63 to 2**63 - 1; give names, such as str(value)")
    whole: NDArray[np.int64] = X.astype(np.int64)
    return whole
