"""Samples as a model sees them: token ids with `[CLS]` and padding."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import js

from ._arrays import listed

# Tokens of a vocabulary; those of words follow.
SPECIAL = ["[CLS]", "[PAD]", "[UNK]"]
UNKNOWN = SPECIAL.index("[UNK]")

# What a word is, as in `crates/data/src/words/split.rs`, for the browser's own matcher, which knows the classes of all letters.
WORD = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_\u200C\u200D]*(?:['’][\p{L}\p{M}\p{N}_]+)*|[\p{P}\p{S}]\p{M}*"


@dataclass(frozen=True)
class Shape:
    """What samples must be.

    Attributes:
        seq_len: Tokens of a sample, without `[CLS]`.
        vocab_size: Different tokens.
        cls: Where `[CLS]` stands; None for nowhere.
        padding: The token after the end of shorter samples, if they are padded.
        words: The words of a vocabulary, if samples are texts.
        lowercase: Whether texts are put in lower case.
        is_of_characters: Whether the words of the vocabulary are characters.
    """

    seq_len: int
    vocab_size: int
    cls: int | None
    padding: int | None
    words: tuple[str, ...] | None
    lowercase: bool
    is_of_characters: bool

    @classmethod
    def of(cls, config: dict[str, Any], inputs: dict[str, Any]) -> Shape:
        """That of a resolved config."""
        data, words = config["data"], config["data"].get("words")
        return cls(
            seq_len=data["seq_len"],
            vocab_size=data["vocab_size"],
            cls=inputs["cls"],
            padding=config["model"]["attention"].get("padding_token"),
            words=None if words is None else tuple(words["vocabulary"]),
            lowercase=words is not None and words.get("lowercase", True),
            is_of_characters=words is not None and words.get("level") == "character",
        )

    def text(self, token: int) -> str:
        """A token as the page shows it."""
        if token == 0 and self.cls is not None:
            return SPECIAL[0]
        if self.words is not None:
            return [*SPECIAL, *self.words][token]
        return SPECIAL[1] if token == self.padding else str(token)

    def tokens(self, samples: Any) -> list[list[int]]:
        """Samples with `[CLS]` and padding. `[sample][position]`

        Raises:
            TypeError: They are neither texts nor whole numbers.
            ValueError: One does not suit the model; the message has its number.
        """
        texts = _texts(samples)
        rows = _rows(samples) if texts is None else [self._encoded(text, number) for number, text in enumerate(texts)]
        has_cls = texts is None and bool(rows) and self._has_cls(rows[0])
        return [self._arranged(row, has_cls, number) for number, row in enumerate(rows)]

    def _encoded(self, text: str, number: int) -> list[int]:
        if self.words is None:
            raise ValueError("the model was trained on token ids, not on texts; give it token ids")
        known = {word: token for token, word in enumerate(self.words, len(SPECIAL))}
        text = "".join(letter.lower() for letter in text) if self.lowercase else text
        words = list(text) if self.is_of_characters else list(js.String.new(text).match(js.RegExp.new(WORD, "gu")) or [])
        if len(words) > self.seq_len:
            left = " ".join(words[self.seq_len :])
            warnings.warn(f"text {number} is cut: the model takes {self.seq_len} words, and does not see {left!r:.100}", stacklevel=5)
        tokens = [known.get(word, UNKNOWN) for word in words[: self.seq_len]]
        if UNKNOWN in tokens:
            unknown = words[tokens.index(UNKNOWN)]
            warnings.warn(f"text {number}: {tokens.count(UNKNOWN)} of {len(tokens)} words is not in the vocabulary; the first is {unknown!r:.100}", stacklevel=5)
        return tokens or [UNKNOWN]

    def _has_cls(self, row: list[int]) -> bool:
        place = 0 if self.cls == 0 else -1
        return self.cls is not None and bool(row) and row[place] == 0

    def _arranged(self, row: list[int], has_cls: bool, number: int) -> list[int]:
        """As `SampleShape::arrange` in `crates/data`."""
        if self._has_cls(row) != has_cls:
            here, there = ("not ", "") if has_cls else ("", "not ")
            raise ValueError(f"sample {number}: [CLS] = 0 is {here}in its place, and in the first sample it is {there}there")
        own = (row[1:] if self.cls == 0 else row[:-1]) if has_cls else row
        if self.cls is not None and 0 in own:
            raise ValueError(f"sample {number}: token 0 is [CLS]; number the other tokens from 1, and leave out padding")
        outside = next((token for token in own if not 0 <= token < self.vocab_size), None)
        if outside is not None:
            raise ValueError(f"sample {number}: token {outside} is outside the vocabulary; the last one is {self.vocab_size - 1}")
        missing = self.seq_len - len(own)
        if missing and (self.padding is None or missing < 0 or not own):
            few = f"1 to {self.seq_len}" if self.padding is not None else str(self.seq_len)
            raise ValueError(f"sample {number}: the sample has {len(own)} tokens, but data.seq_len is {self.seq_len}; give {few}")
        padded = own + [self.padding or 0] * missing
        if self.cls is None:
            return padded
        return [0, *padded] if self.cls == 0 else [*padded, 0]


def _texts(samples: Any) -> list[str] | None:
    """The texts, or None if there are none."""
    if isinstance(samples, str):
        return [samples]
    rows = listed(samples) if not hasattr(samples, "columns") else None
    if not isinstance(rows, (list, tuple)) or not rows or not isinstance(rows[0], str):
        return None
    for number, row in enumerate(rows):
        if not isinstance(row, str):
            raise TypeError(f"text {number} is {row!r:.100}, not a text")
    return list(rows)


def _rows(samples: Any) -> list[list[int]]:
    """The token ids of each sample: of one, or of several."""
    rows = listed(samples)
    if not isinstance(rows, Sequence):
        raise TypeError(f"samples must be texts, or token ids [sample, token], not {samples!r:.100}")
    rows = [listed(row) for row in rows]
    if rows and not any(isinstance(row, Sequence) for row in rows):
        rows = [rows]
    for row in rows:
        if not isinstance(row, Sequence):
            raise ValueError("tokens must have the axes [sample, token]")
        for token in row:
            if isinstance(token, bool) or not isinstance(token, Integral):
                raise TypeError(f"tokens must be whole numbers [sample, token], not {token!r:.100}")
    return [[int(token) for token in row] for row in rows]
