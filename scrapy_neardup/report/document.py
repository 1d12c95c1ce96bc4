"""The page itself: one file with its data, its script and its style, that loads nothing.

All that comes from crawled pages is in the data, as JSON in which no text can end the element that
it stands in; the script puts it into the page as text. Behind that stands a policy that lets
nothing run and nothing load but the one script and the one style, known by their digests (Content
Security Policy Level 3, W3C).
"""

from __future__ import annotations

import base64
import json
import re
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

#: ``<`` could end the element, ``&`` could be read as a reference where the page is taken for XML,
#: and half a character has no form in UTF-8.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def written(data: dict[str, Any]) -> str:
    """The page as a text that UTF-8 can write, with line feeds alone for line ends.

    :param data: what :meth:`~scrapy_neardup.report.columns.Columns.packed` gives.
    """
    script, style = _asset("report.js"), _asset("report.css")
    return _TEMPLATES.get_template("report.html").render(
        script=script,
        style=style,
        script_digest=_digest(script),
        style_digest=_digest(style),
        words=safe_json(json.loads(_asset("words.json"))),
        data=safe_json(data),
    )


def safe_json(value: Any) -> str:
    """JSON that no text in it can break out of, wherever in HTML it stands."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


_TEMPLATES = Environment(
    loader=PackageLoader("scrapy_neardup.report", "assets"),
    autoescape=True,
    undefined=StrictUndefined,
    keep_trailing_newline=True,
)
