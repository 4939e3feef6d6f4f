"""The page in a cell of a notebook."""

from __future__ import annotations

from html import escape

HEIGHT = 760


def iframe(page: str, title: str) -> str:
    """A page within a notebook's page. Its scripts run in an origin of their own."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
    )
