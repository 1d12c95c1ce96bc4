"""The HTML file of the report, which contains its data, script and style and loads nothing.

All values from crawled pages are in the data, as JSON in which no text can end the element that
contains it; the script inserts them as text. In addition, a policy allows only the one script and
the one style, identified by their digests (Content Security Policy Level 3, W3C).
"""

from __future__ import annotations

import base64
import json
import re
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

#: ``<`` could end the element, ``&`` could start a reference if the page is parsed as XML, and
#: surrogates cannot be encoded in UTF-8.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def render_report(data: dict[str, Any]) -> str:
    """Return the HTML of the data that ``Columns.packed()`` returned, without surrogates."""
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
    """Return JSON that is safe anywhere in HTML."""
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
