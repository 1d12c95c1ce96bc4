"""Recognises the front pages of a host by their paths."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

#: Two-letter codes of languages (ISO 639-1).
_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da "
    "de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy "
    "hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg "
    "li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or "
    "os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta "
    "te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_LANGUAGES = _CODES.replace(" ", "|")
_SCRIPTS = "arab|cyrl|hans|hant|latn"
#: A language, and perhaps its script and region: en, zh-cn, zh-Hant-TW, es-419. Some sites name the
#: region first: us-en.
_LOCALE = (
    rf"(?:{_LANGUAGES})(?:[-_](?:{_SCRIPTS}))?(?:[-_](?:[a-z]{{2}}|\d{{3}}))?"
    rf"|[a-z]{{2}}[-_](?:{_LANGUAGES})"
)
_NAME = r"(?:index|default|home|main|start|welcome)(?:\.\w+)?"
#: The root, one for each language, and usual names.
_FRONT = re.compile(rf"/?(?:(?:{_LOCALE})/?)?(?:{_NAME}/?)?", re.I)


def is_front_page(url: str) -> bool:
    """Return whether a URL's path is that of a front page."""
    return _FRONT.fullmatch(urlsplit(url).path) is not None
