"""Pages and pictures in a cell of a notebook."""

from __future__ import annotations

from base64 import b64encode
from html import escape

HEIGHT = 760


def iframe(page: str, title: str) -> str:
    """A page within a notebook's page. Its scripts run in an origin of their own."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
    )


def picture(svg: str, title: str) -> str:
    """An SVG within a notebook's page, as an image: neither's style reaches the other."""
    data = b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(title)}" style="max-width: 100%">'
