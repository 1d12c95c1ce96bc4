"""Marks as chosen, sold out or struck tell pages apart that show the same."""

from __future__ import annotations

import pytest

from scrapy_neardup import NearDupDetector
from tests.support.texts import FERRY

#: A row of two sizes, of which either the first or the second has the first or the second form.
SIZES = {
    "class of an entry": ("<li class='size active'>S</li>", "<li class=size>S</li>"),
    "class of a form": (
        "<span class='size size--is-selected'>S</span>",
        "<span class=size>S</span>",
    ),
    "class of BEM": ("<span class=size__selected>S</span>", "<span class=size>S</span>"),
    "sold out": ("<li class='size Sold-Out'>S</li>", "<li class=size>S</li>"),
    "button": ("<button aria-pressed=true>S</button>", "<button aria-pressed=false>S</button>"),
    "option that is read out": (
        "<div role=radio aria-checked=true>S</div>",
        "<div role=radio>S</div>",
    ),
    "within a form of variants": (
        "<p class=variations_form><b class=active>S</b></p>",
        "<p class=variations_form><b>S</b></p>",
    ),
    "within a table": ("<p class=stable><b class=active>S</b></p>", "<p class=stable><b>S</b></p>"),
    "struck": ("<s>S</s>", "<b>S</b>"),
    "ticked": (
        "<li><i class='fa fa-check'></i>S</li>",
        "<li><i class='fas fa-times-circle'></i>S</li>",
    ),
    "ticked in a cell": (
        "<table><td>S<td><span class='icon icon-tick'></span></table>",
        "<table><td>S<td><span class='icon icon-cross'></span></table>",
    ),
    "deleted": ("<del>S</del>", "<b>S</b>"),
}
#: The same of what is none of the page's content.
CONTROLS = {
    "entry of a menu": ("<li class=active><a href=/s>S</a></li>", "<li><a href=/s>S</a></li>"),
    "entry that is a link": ("<a class=active href=/s>S</a>", "<a href=/s>S</a>"),
    "menu": ("<nav><b class=active>S</b></nav>", "<nav><b>S</b></nav>"),
    "language": ("<p class=languages><b class=active>S</b></p>", "<p class=languages><b>S</b></p>"),
    "tab": ("<p class=tab-bar><b class=active>S</b></p>", "<p class=tab-bar><b>S</b></p>"),
    "icon with a text": ("<p><i class=tick>S</i></p>", "<p><i class=cross>S</i></p>"),
    "icon of a control": (
        "<p class=modal><i class=fa-check></i>S</p>",
        "<p class=modal><i class=fa-close></i>S</p>",
    ),
    "other icon": ("<p><i class=fa-plus></i>S</p>", "<p><i class=fa-minus></i>S</p>"),
    "no text": ("<li class=active></li>", "<li></li>"),
    "long text": (f"<div class=active>{FERRY[:90]}</div>", f"<div>{FERRY[:90]}</div>"),
}


def reason(marked: str, plain: str) -> str:
    """Return the reason of the verdict on two pages that differ in the part that they mark."""
    other = [each.replace("S<", "M<") for each in (marked, plain)]
    rows = f"{marked}{other[1]}", f"{plain}{other[0]}"
    detector = NearDupDetector()
    one, another = (
        detector.signature(
            url=f"https://a.example/{n}",
            html=f"<html><title>Shirt</title><body><h1>Shirt</h1><p>{FERRY}</p><ul>{row}</ul>",
        )
        for n, row in enumerate(rows)
    )
    return detector.rule.compare(one, another, detector.store.boilerplates).reason


@pytest.mark.parametrize("form", SIZES.values(), ids=list(SIZES))
def test_what_is_marked_tells_pages_apart(form):
    assert reason(*form) == "parts_differ"


@pytest.mark.parametrize("form", CONTROLS.values(), ids=list(CONTROLS))
def test_but_not_if_it_is_of_a_menu_or_a_control(form):
    assert reason(*form) == "same_text"
