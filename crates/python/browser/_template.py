"""The page of an experiment: the one that `headlight lab` writes, with another config."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from ._engine import packed
from ._training import Trained

# As `crates/inspector/src/page/text91.rs`: digits of base 91 from the first on, of which two have others in their place.
_BASE = 91
_DIGITS = "".join({"&": "!", "<": "#"}.get(letter, letter) for letter in map(chr, range(ord("$"), ord("$") + _BASE)))
_WIDE = _BASE * _BASE - (1 << 13)


def page_of(found: Trained) -> str:
    """The page of a training's config, as one HTML file. It trains when it is opened."""
    plan = found.plan
    title = f"Headlight lab: {plan.config.name}, seed {plan.resolved['seed']}"
    facts = json.loads(_template()["facts"])
    lab: dict[str, Any] = {"name": plan.config.name, "config": plan.resolved}
    if plan.config.shown is not None:
        # Of texts, the page also takes the config from which a reader's own texts begin.
        texts = {"config": plan.resolved} if "table" in plan.config.shown else {}
        lab["data"] = {**plan.config.shown, **texts}
    facts.update(question=found.question, lab=lab)
    # Only `<` could end a script element.
    text = json.dumps(facts).replace("<", "\\u003c")
    values = {"facts": text, "title": escape(title), "question": escape(found.question or title), "lab": _engine(plan.config.module)}
    return re.sub("\0(\\w+)\0", lambda mark: values[mark[1]], _template()["page"])


@cache
def _template() -> Any:
    """The page with the names of its parts between zeros, and the facts that are the same in all pages."""
    return json.loads(files(__package__).joinpath("page.json").read_text(encoding="utf-8"))


@cache
def _engine(module: str) -> str:
    """The element of the page that holds the engine."""
    content = packed(module)
    return f'<script type="text/plain" id="lab" data-bytes="{len(content)}">{_encoded(content)}</script>'


def _encoded(content: bytes) -> str:
    pairs = [low + high for high in _DIGITS for low in _DIGITS]
    text, queue, held = [], 0, 0
    for byte in content:
        queue |= byte << held
        held += 8
        if held > 13:
            taken = 14 if queue & 0x1FFF < _WIDE else 13
            text.append(pairs[queue & ((1 << taken) - 1)])
            queue >>= taken
            held -= taken
    if held:
        text.append(pairs[queue])
    return "".join(text)
