"""Flats of one title whose texts have characters that extractors leave out or compose."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, TOWNS, page

#: As sites hyphenate words, and write Persian, Hebrew and emoji.
_CHARACTERS = {
    "soft_hyphens": "&shy;",
    "spaces_without_width": "\u200b",
    "joiners_without_width": "&zwnj;",
    "word_joiners": "\u2060",
    "marks_of_direction": "&rlm;",
    "control_characters": "\x8d",
    "escaped_references": "&amp;#39;",
    "references_in_addresses": " /x?b=1&amp;region=2 ",
}


def _flats(site: Site, text: str, below: str) -> Any:
    for town in TOWNS:
        heading = "Flat to let" if below else f"Flat in {town}"
        line = below.replace("TOWN", town)
        body = f"<main><h1>{heading}</h1><article>{text}</article>{line}</main>"
        site.put(f"/{town}", page("Flat to let", body), content=town)
    site.index()
    return PromiseSpider


def _add_all() -> None:
    paragraphs = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    texts = {name: paragraphs.replace("b", f"b{each}") for name, each in _CHARACTERS.items()}
    texts["decomposed_letters"] = normalize("NFD", paragraphs.replace("a", "\xe4"))
    forms = {"headings": "", "towns_below_the_text": "<div><p>Town: TOWN</p></div>"}
    for name, text in texts.items():
        for differ, below in forms.items():

            def build(site: Site, text: str = text, below: str = below) -> Any:
                return _flats(site, text, below)

            build.__name__ = f"flats_of_other_{differ}_with_{name}"
            situation(contents=len(TOWNS))(build)


_add_all()
