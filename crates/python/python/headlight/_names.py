"""The user's names of classes and tokens, as reports and pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

# Tokens of a vocabulary: 0 is [CLS].
PADDING = 1
UNKNOWN = 2
FIRST = 3

# The longest name of a class, in bytes.
LONGEST = 100


def class_names(classes: Iterable[Any]) -> list[str]:
    """A name for each class, all different: the class as text, or quoted where a dataset file would take that for something else."""
    names = [_plain(own) for own in classes]
    numbers = [is_whole(name) for name in names]
    # Whole numbers among names are names too.
    mixed = any(numbers) and not all(numbers)
    kept = [_is_name(name) and not (mixed and number) for name, number in zip(names, numbers)]
    return _different([name if keep else _cut(repr(name)) for name, keep in zip(names, kept)])


def token_names(categories: Iterable[Any]) -> list[str]:
    """A word for each category, all different: the category as text, with `_` in place of spaces."""
    words = [re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", "_", _plain(own)) for own in categories]
    return _different([word or "''" for word in words])


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def is_whole(name: str) -> bool:
    return re.fullmatch(r"0|-?[1-9][0-9]{0,14}", name) is not None


def _is_name(name: str) -> bool:
    """Whether a dataset file takes it as it is."""
    if not name or name != name.strip() or not name.isprintable() or len(name.encode()) > LONGEST:
        return False
    try:
        float(name)
    except ValueError:
        return True
    return is_whole(name)


def _cut(name: str) -> str:
    return name if len(name.encode()) <= LONGEST else name.encode()[: LONGEST - 10].decode(errors="ignore") + "..."


def _different(names: list[str]) -> list[str]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        number = 1
        own = name
        while own in seen:
            number += 1
            own = f"{name}~{number}"
        seen.add(own)
        names[index] = own
    return names
