"""Ads, events and the like of one title and one description that differ in a detail.

The detail is a value in the text beside which one page has a sentence more, or it stands beside the
text: in a table, a line or a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation

DESCRIPTION = (
    "The rooms are bright and quiet, and the windows look out on a yard with old trees. Shops "
    "and a school can be reached on foot within a few minutes, and a bus leaves twice an "
    "hour. The kitchen is part of the offer, and the bathroom was tiled two years ago. "
    "Heating is by gas, and the water is heated by it as well. There is room for bicycles in "
    "the cellar and for the washing under the roof. We would like to rent to people who stay "
    "for a longer time and keep the stairs clean.",
    "Please write to us before you come, and tell us a little about yourself and your plans. "
    "We show the rooms in the evening and on Saturdays, and we answer every letter that we "
    "receive. The deposit has to be paid before the keys are handed over. All that is said "
    "here was written with care, but the contract alone is binding. We ask agents not to "
    "call, because we have chosen to do without them this time. Pictures will be sent to you "
    "on request, and so will a plan of the house.",
)
#: Makes the text long enough for pages of a site that resemble by less than 0.92.
TERMS = (
    "These terms apply to every order that reaches us by letter, by telephone or through this "
    "page. An order becomes binding when it was confirmed by our office in writing. Goods travel "
    "at the risk of the sender until they arrive, and damage must be shown to the driver at once. "
    "Whoever changes his mind may send everything back unused within a fortnight, and money is "
    "returned by the same way on which it came. Claims expire after one summer unless a court was "
    "asked before. Should a single clause be void, all others remain in force, and the law of "
    "our country governs whatever is not mentioned above. Parcels weighing over thirty pounds are "
    "carried upstairs for a small charge, except on islands and mountains without roads."
)
TOWNS = ("Leeds", "Bath", "Oslo", "Ghent", "Turku", "Tampere")
_SIZES = ("S", "M", "L", "XL")
_SENTENCES = ("", "There is a small garden.", "Viewed 51 times.", "Ask for Henrietta.")


def page(title: str, body: str) -> str:
    return (
        f"<!DOCTYPE html><html lang=en><head><title>{title}</title></head><body>"
        f"<header><a href=/>Market</a> <a href=/help>Help</a></header>{body}"
        "<footer>All rights reserved. Imprint, privacy and terms of use.</footer></body></html>"
    )


def ads(site: Site, layout: str, values: Iterable[str], title: str = "Flat to let") -> Any:
    """Ads of a layout with ``TITLE``, ``TEXT`` and ``VALUE``, and on some pages a ``SENTENCE``.

    Their contents are numbers: an item is kept for a text of its own.
    """
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    layout = layout.replace("TITLE", title).replace("TEXT", text)
    for n, (value, sentence) in enumerate(zip(values, cycle(_SENTENCES))):
        body = layout.replace("VALUE", value).replace("SENTENCE", sentence)
        site.put(f"/ad/{n}", page(title, body), content=str(n))
    site.index()
    return PromiseSpider


def _within(sentence: str, *, adds: bool = False) -> str:
    """A layout with a sentence between the two paragraphs of the description."""
    first, second = (f"<p>{part}</p>" for part in DESCRIPTION)
    more = "<p>SENTENCE</p>" if adds else ""
    return f"<main><article><h1>TITLE</h1>{first}<p>{sentence}</p>{second}{more}</article></main>"


@situation(contents=6)
def flats_in_other_towns_with_a_sentence_more_or_less(site: Site) -> Any:
    return ads(site, _within("You find us in VALUE near the station.", adds=True), TOWNS)


@situation(contents=6)
def lots_of_a_sale_with_a_sentence_more_or_less(site: Site) -> Any:
    numbers = ("5", "6", "7", "8", "12", "15")
    return ads(site, _within("This is lot VALUE of the sale.", adds=True), numbers, "Chair")


@situation(contents=6)
def parts_of_other_numbers_with_a_sentence_more_or_less(site: Site) -> Any:
    numbers = ("AB-1234", "AB-1299", "KL-5678", "KL-7788", "XR-1001", "XR-2002")
    return ads(site, _within("The number of the part is VALUE here.", adds=True), numbers, "Part")


@situation(contents=4)
def houses_of_other_years(site: Site) -> Any:
    years = ("1978", "1985", "1995", "2003")
    return ads(site, _within("It was built in VALUE by the owner of today."), years, "House")


@situation(contents=4)
def rules_that_take_effect_on_other_days(site: Site) -> Any:
    days = ("1 May 2024", "1 July 2024", "1 June 2025", "1 March 2026")
    return ads(site, _within("The rule is effective from VALUE on."), days, "Rule of the house")


@situation(contents=4)
def courses_whose_last_day_differs(site: Site) -> Any:
    days = ("3 May 2024", "10 May 2024", "7 June 2024", "14 June 2024")
    return ads(site, _within("The last lesson takes place on VALUE in our hall."), days, "Course")


@situation(contents=4)
def matches_whose_scores_have_two_digits(site: Site) -> Any:
    scores = ("31:28", "29:27", "33:31", "27:25")
    return ads(site, _within("Our team won by VALUE in the end."), scores, "Match report")


@situation(contents=6)
def flats_whose_table_is_in_a_section_of_its_own(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><section><h2>Details</h2><table>"
        "<tr><th>Town</th><td>VALUE</td></tr><tr><th>Rooms</th><td>3</td></tr></table></section>"
        "</main>"
    )
    return ads(site, layout, TOWNS)


@situation(contents=6)
def flats_whose_table_stands_above_the_article(site: Site) -> Any:
    layout = (
        "<main><div><table><tr><th>Town</th><td>VALUE</td></tr></table></div>"
        "<article><h1>TITLE</h1>TEXT</article></main>"
    )
    return ads(site, layout, TOWNS)


@situation(contents=6)
def flats_whose_terms_are_in_a_column_of_their_own(site: Site) -> Any:
    layout = (
        "<div class=row><div class=col-8><h1>TITLE</h1>TEXT</div>"
        "<div class=col-4><dl><dt>Town</dt><dd>VALUE</dd></dl></div></div>"
    )
    return ads(site, layout, TOWNS)


@situation(contents=6)
def flats_whose_labelled_lines_stand_below_the_text(site: Site) -> Any:
    layout = (
        "<div class=offer><h1>TITLE</h1><div id=description>TEXT</div>"
        "<div id=details><ul><li>Town: VALUE</li><li>Rooms: 3</li></ul></div></div>"
    )
    return ads(site, layout, TOWNS)


@situation(contents=6)
def flats_whose_rent_stands_below_the_article(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article>"
        "<div class=rent><b>VALUE</b> a month</div></main>"
    )
    return ads(site, layout, (f"${n},250" for n in range(1, 7)))


@situation(contents=6)
def flats_whose_rent_is_in_a_column_before_the_heading(site: Site) -> Any:
    layout = (
        "<div class=row><div class=col-4><img src=/flat.jpg><div>VALUE</div></div>"
        "<div class=col-8><h1>TITLE</h1>TEXT</div></div>"
    )
    return ads(site, layout, (f"${n},250" for n in range(1, 7)))


@situation(contents=3)
def ads_whose_status_is_a_word_of_counters(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT<table><tr><th>Status</th><td>VALUE</td></tr>"
        "<tr><th>Rooms</th><td>3</td></tr></table></article></main>"
    )
    return ads(site, layout, ("available", "reserved", "sold"))


@situation(contents=4)
def flats_for_other_numbers_of_guests(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT"
        "<ul><li>Sleeps: VALUE</li><li>Pets: no</li></ul></article></main>"
    )
    return ads(site, layout, ("2 guests", "4 guests", "6 guests", "8 guests"), "Holiday flat")


@situation(contents=4)
def trains_whose_departure_is_a_labelled_line(site: Site) -> Any:
    layout = (
        "<main><section><h1>TITLE</h1><p>Departure: VALUE</p></section>"
        "<section><h2>On board</h2>TEXT</section></main>"
    )
    return ads(site, layout, ("7:42", "8:17", "9:03", "11:28"), "Night train")


@situation(contents=4)
def recordings_of_other_lengths(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT<table><tr><th>Duration</th><td>VALUE</td></tr>"
        "<tr><th>Format</th><td>stereo</td></tr></table></article></main>"
    )
    return ads(site, layout, ("3:42", "4:17", "5:08", "12:31"), "Evening song")


@situation(contents=4)
def shirts_of_other_sizes_of_which_two_were_reviewed(site: Site) -> Any:
    """One review more, of a customer who did not name the size."""
    review = (
        "I bought it for my mother, who wears it every day. It came well packed, the seams hold, "
        "and the colour stayed as it was even after many hours in the sun. My neighbour has one "
        "too, and we compared both over a cup of tea."
    )
    layout = (
        "<main><article><h1>TITLE</h1>TEXT SENTENCE</article><section><dl><dt>Size</dt>"
        "<dd>VALUE</dd></dl></section></main>"
    )
    text = "".join(f"<p>{part}</p>" for part in (*DESCRIPTION, TERMS))
    for n, size in enumerate(_SIZES):
        body = layout.replace("TITLE", "Shirt").replace("TEXT", text).replace("VALUE", size)
        body = body.replace("SENTENCE", f"<p>{review}</p>" * (n % 2))
        site.put(f"/ad/{n}", page("Shirt", body), content=str(n))
    site.index()
    return PromiseSpider


@situation(contents=6, finds=6)
def ads_are_found_again_whatever_is_around_them(site: Site) -> Any:
    """Copies with other related offers, and one that states no details."""
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    for n, town in enumerate(TOWNS):
        head = f"<h1>Flat {town}</h1>{text}<p>It is in {town} near the station.</p>"
        table = (
            f"<table><tr><th>Town</th><td>{town}</td></tr><tr><th>Rooms</th><td>3</td></tr></table>"
        )
        for view, related in (("full", n + 1), ("again", n + 2), ("print", 0)):
            offers = (
                f'<div class="related-offers"><p>Town: {TOWNS[related % 6]}</p><p>€ {related},900'
                "</p></div>"
            )
            more = f"<section>{table}<b>€ {n},250</b></section>{offers}" if related else ""
            body = f"<main><article>{head}</article>{more}</main>"
            site.put(f"/{view}/{n}", page(f"Flat {town}", body), content=town)
    site.index()
    return PromiseSpider


#: How a page marks its own size.
_MARKS = {
    "a_class": ("<li class='size active'>{}</li>", "<li class=size>{}</li>"),
    "an_attribute": ("<li role=radio aria-checked=true>{}</li>", "<li role=radio>{}</li>"),
    "a_stroke": ("<li><s>{}</s></li>", "<li>{}</li>"),
}


def _add_marks() -> None:
    for name, forms in _MARKS.items():

        def build(site: Site, forms: tuple[str, str] = forms) -> Any:
            text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
            for own in _SIZES:
                sizes = "".join(forms[size != own].format(size) for size in _SIZES)
                body = f"<main><h1>Shirt</h1>{text}<ul>{sizes}</ul></main>"
                site.put(f"/shirt/{own}", page("Shirt", body), content=str(_SIZES.index(own)))
            site.index(*(f"/shirt/{own}" for own in _SIZES))
            return PromiseSpider

        build.__name__ = f"variants_whose_sizes_are_told_by_{name}"
        situation(contents=len(_SIZES))(build)


_add_marks()


#: Sizes that wares of one text are sold in.
_CHOICES = {
    "options": (
        "<form><select name=attribute_pa_size><option>Choose one</option><option>VALUE</option>"
        "<option>XXL</option></select><select name=quantity><option>1</option><option>2</option>"
        "</select><button>Buy</button></form>"
    ),
    "buttons": "<div class=size-swatches><button>VALUE</button><button>XXL</button></div>",
    "labels": (
        "<fieldset id=choose-size><label><input type=radio name=s value=1>VALUE</label>"
        "<label><input type=radio name=s value=2>XXL</label></fieldset>"
    ),
    "numbers": "<p id=sizes><button>VALUE</button><button>58</button></p>",
    "one_of_many_words": (
        "<select name=size>"
        + "".join(f"<option>UK {n} / EU {n + 33}</option>" for n in range(3, 14))
        + "<option>VALUE</option></select>"
    ),
    "one_of_a_hundred": (
        "<select name=size>"
        + "".join(f"<option>Number {n}</option>" for n in range(100))
        + "<option>VALUE</option></select>"
    ),
}


def _add_choices() -> None:
    for name, markup in _CHOICES.items():

        def build(site: Site, name: str = name, markup: str = markup) -> Any:
            layout = f"<main><h1>TITLE</h1>TEXT{markup}</main>"
            values = ("38", "40", "42", "44") if name == "numbers" else ("S", "M", "Large", "Wide")
            return ads(site, layout, values, "Shirt")

        build.__name__ = f"shirts_whose_sizes_are_{name}"
        situation(contents=4)(build)


_add_choices()


#: Numbers that are parts of others, and times of the same numbers, by a sentence.
_SENTENCES_OF_NUMBERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "half_sizes": ("This is the shoe in size VALUE as shown.", ("8", "8.5", "9", "9.5")),
    "fractions": ("The bag holds VALUE kg of it.", ("5", "0.5", "15", "1,5")),
    "releases": ("It is about release VALUE of the program.", ("1.2", "1.2.1", "1.3", "2.0")),
    "ranges": ("The flat has VALUE rooms.", ("2", "2-3", "3", "3-4")),
    "noon": ("The class starts at VALUE in the hall.", ("7:30 am", "7:30 pm", "7 a.m.", "7 p.m.")),
    "hours": ("The class starts at VALUE in the hall.", ("9 am", "9:30 am", "10 am", "10:30 am")),
}
#: The same of a table or a list beside the text.
_ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "dates": ("Date", ("5 June 2024", "6 May 2024", "4 July 2024", "7 April 2024")),
    "dates_in_numbers": ("Date", ("05.06.2024", "06.05.2024", "04.07.2024", "07.04.2024")),
    "addresses": (
        "Address",
        ("14 High Street, Leeds", "12 Queen Victoria Street, Leeds", "9 Mill Lane, Leeds"),
    ),
    "hours": ("Opening hours", ("Monday to Friday 9:00-17:00", "Daily 10:00-20:00")),
}


def _add_numbers() -> None:
    for name, (sentence, values) in _SENTENCES_OF_NUMBERS.items():

        def build(site: Site, sentence: str = sentence, values: tuple[str, ...] = values) -> Any:
            return ads(site, _within(sentence), values, "Offer")

        build.__name__ = f"offers_that_differ_in_{name}"
        situation(contents=len(values))(build)
    for name, (label, values) in _ROWS.items():

        def build_rows(site: Site, label: str = label, values: tuple[str, ...] = values) -> Any:
            rows = f"<dl><dt>{label}</dt><dd>VALUE</dd><dt>Rooms</dt><dd>3</dd></dl>"
            layout = f"<main><article><h1>TITLE</h1>TEXT</article>{rows}</main>"
            return ads(site, layout, values, "Offer")

        build_rows.__name__ = f"offers_whose_rows_differ_in_{name}"
        situation(contents=len(values))(build_rows)


_add_numbers()
