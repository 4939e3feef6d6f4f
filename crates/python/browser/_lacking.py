"""What only the native module has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

REMEDY = "a Python outside the browser has it: pip install headlight-attention"


class NotInTheBrowser(NotImplementedError):
    """The browser's module lacks it; the message says what has it."""

    __module__ = "headlight"


def lacking(what: str, instead: str = REMEDY) -> NotInTheBrowser:
    """The error for what this module lacks."""
    return NotInTheBrowser(f"headlight in the browser has no {what}; {instead}")


def absent(what: str) -> Callable[..., Any]:
    """A function that raises this error, in place of one that is lacking."""

    def raises(*_arguments: Any, **_named: Any) -> Any:
        raise lacking(f"`{what}`")

    raises.__doc__ = f"Not in the browser: {REMEDY}."
    return raises
