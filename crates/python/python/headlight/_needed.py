"""Libraries that Headlight uses only if they are installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, package: str, user: str) -> Any:
    """A module of a package that `user` needs.

    Raises:
        ImportError: The package is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ImportError(f"{user} needs {package}, which is not installed: pip install {package}", name=module) from None
