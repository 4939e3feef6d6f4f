"""Pages and pictures in a cell of a notebook."""

from __future__ import annotations

import os
from base64 import b64encode
from html import escape
from pathlib import Path

HEIGHT = 760


class Page:
    """What a notebook displays, as an HTML file."""

    def html(self) -> str:
        """What a notebook displays, as one HTML file that needs no network."""
        raise NotImplementedError

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Writes what a notebook displays as an HTML file."""
        Path(path).write_text(self.html(), encoding="utf-8")


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


def document(title: str, body: str) -> str:
    """An HTML file of its own."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>'
        f'<body style="font-family: sans-serif">{body}</body></html>\n'
    )
