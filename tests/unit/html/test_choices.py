"""The options of a choice tell pages of one text apart; their number and order do not."""

from __future__ import annotations

import pytest

from scrapy_neardup import NearDupDetector
from tests.support.texts import FERRY

SELECT = "<select name={}><option>Choose</option><option>{}</option></select>"
#: Longer than any line that says something beside a text.
MANY = "".join(f"<option>{n} May 2026</option>" for n in range(2, 14))
LONG = f"<select name=edition>{MANY}<option>{{}}</option></select>"
#: As in Shopify's themes.
GROUP = (
    "<fieldset class=product-form__input><legend>Colour</legend><input type=radio name=x>"
    "<label>{}</label><input type=radio name=x><label>Blue</label></fieldset>"
)
RELATED = (
    "<div class=related><div class=card><a href=/2>Coat</a><p class=sizes><button>{0}</button>"
    "<button>Other</button></p></div></div>"
)


def test_the_body_may_name_a_choice():
    detector = NearDupDetector()
    text = f"<h1>Shirt</h1><p>{FERRY}</p><p>{FERRY[::-1]}</p>"
    kinds = [
        detector.check(
            url=f"https://a.example/{size}",
            html=f"<title>Shirt</title><body class=variants><main>{text}<label>{size}</label>",
        ).kind
        for size in "ML"
    ]
    assert kinds == ["new", "new"]


@pytest.mark.parametrize(
    ("markup", "values", "is_one"),
    [
        (SELECT.replace("{}", "attribute_pa_size", 1), "SM", False),
        (SELECT.replace("{}", "options[Color]", 1), ("Red", "Blue"), False),
        (SELECT.replace("{}", "taille", 1), ("38", "40"), False),
        ("<ul class=swatches><li><button>{}</button><li><button>X</button></ul>", "SM", False),
        ("<p id=Farbe><label>{}</label><label>X</label></p>", ("Rot", "Blau"), False),
        (LONG, ("20 May 2026", "21 May 2026"), False),
        (LONG, ("Evening course", "Morning course"), False),
        (LONG, ("Linen, " * 20 + "washed", "Linen, " * 20 + "raw"), False),
        (LONG, ("Friday (3 left)", "Friday (9 left)"), True),
        (LONG, ("Welcome, Anna", "Welcome, Paul"), True),
        ("<p class=size><button>{}</button></p>", "ML", False),
        (GROUP, ("Red", "Green"), False),
        (GROUP.replace("Colour", "Payment"), ("Card", "Cash"), True),
        ("<size-picker><label>{}</label></size-picker>", "ML", False),
        ("<p><label>{}</label><input type=radio name='options[Size]'></p>", "ML", False),
        # one copy without a choice; how many; a language; in what order; of another page
        ("<p id={0}><button>{0}</button><button>X</button></p>", ("size", "form"), True),
        (SELECT.replace("{}", "quantity", 1), ("2", "3"), True),
        (SELECT.replace("{}", "language", 1), ("English", "Deutsch"), True),
        (SELECT.replace("{}", "orderby", 1), ("Newest", "Oldest"), True),
        (SELECT.replace("{}", "resize", 1), ("Small", "Large"), True),
        (RELATED, "SM", True),
    ],
)
def test_choices(markup, values, is_one):
    detector = NearDupDetector()
    pages = (
        f"<html><title>Shirt</title><body><main><h1>Shirt</h1><p>{FERRY}</p>"
        f"{markup.format(value)}<p>{n} views</p></main>"
        for n, value in zip((51, 77), values, strict=True)
    )
    first, second = (
        detector.check(url=f"https://a.example/{n}", html=page) for n, page in enumerate(pages)
    )
    assert first.kind == "new"
    assert (second.kind == "duplicate") is is_one
