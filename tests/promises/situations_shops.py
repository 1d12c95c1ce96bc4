"""Wares, manuals and topics of forums as common systems publish them.

Wares of one title differ in a choice, a price or an icon; copies of a topic in what is around it.
"""

from __future__ import annotations

import json
from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, TERMS, TOWNS, ads, page
from tests.support.texts import article

_LAYOUT = "<main><h1>TITLE</h1><div>TEXT</div>{}<p>SENTENCE</p></main>"
_COLOURS = ("Red", "Green", "Black", "White")


@situation(contents=4)
def wares_whose_colours_are_radio_buttons_under_a_legend(site: Site) -> Any:
    choice = (
        "<fieldset class='js product-form__input'><legend>Colour</legend>"
        "<input type=radio name=a checked><label>VALUE</label>"
        "<input type=radio name=a><label>Blue</label></fieldset>"
    )
    return ads(site, _LAYOUT.format(choice), _COLOURS, "Kettle")


@situation(contents=4)
def wares_that_are_offered_in_one_size(site: Site) -> Any:
    return ads(site, _LAYOUT.format("<div class=sizes><button>VALUE</button></div>"), "SMLX", "Cap")


@situation(contents=2)
def plans_whose_features_are_ticked_by_icons(site: Site) -> Any:
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    for n, icon in enumerate(("check", "times")):
        features = f"<ul><li><i class='fa fa-{icon}'></i> Export<li>Import</ul>"
        body = f"<main><h1>Plan</h1><div>{text}</div>{features}</main>"
        site.put(f"/plan/{n}", page("Plan", body), content=str(n))
    site.index()
    return PromiseSpider


@situation(contents=4)
def wares_of_an_interface_with_prices_in_euros(site: Site) -> Any:
    for n, price in enumerate((12.5, 13.5, 14.5, 99.0)):
        ware = {"name": "Kettle", "text": " ".join((*DESCRIPTION, TERMS)), "price": price}
        text = json.dumps({**ware, "currency": "EUR"})
        site.put(f"/ware/{n}", text, content=str(n), content_type="text/plain; charset=utf-8")
    site.index()
    return PromiseSpider


@situation(contents=6)
def flats_whose_town_stands_in_a_box_before_the_main_element(site: Site) -> Any:
    box = "<div class=summary><p>Rent: 500 a month</p><p>Town: VALUE</p></div>"
    return ads(site, box + _LAYOUT.format(""), TOWNS)


@situation(contents=3)
def services_that_listen_on_other_ports(site: Site) -> Any:
    first, second = (f"<p>{part}</p>" for part in DESCRIPTION)
    line = "<p>The service listens on port VALUE by default.</p>"
    layout = f"<main><article><h1>TITLE</h1>{first}{line}{second}</article></main>"
    return ads(site, layout, ("80", "443", "8080"), "Service")


@situation(contents=3)
def medicines_of_other_doses(site: Site) -> Any:
    first, second = (f"<p>{part}</p>" for part in DESCRIPTION)
    line = "<p>Adults take VALUE with a glass of water.</p>"
    layout = f"<main><article><h1>TITLE</h1>{first}{line}{second}</article></main>"
    doses = ("one tablet daily", "two tablets daily", "half a tablet daily")
    return ads(site, layout, doses, "Leaflet")


@situation(contents=6)
def flats_of_pages_without_tags_of_head_and_body(site: Site) -> Any:
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    for n, town in enumerate(TOWNS):
        body = f"<main><h1>Flat in {town}</h1><article>{text}</article></main><footer>End</footer>"
        html = f"<!doctype html><html lang=en><meta charset=utf-8><title>Flat</title>{body}"
        site.put(f"/flat/{n}", html, content=town)
    site.index()
    return PromiseSpider


def _topics(site: Site, layout: str) -> Any:
    """Topics of a forum, each with a copy that shows other guests and other topics."""
    for view in range(2):
        for n, town in enumerate(TOWNS):
            others = (TOWNS[(n + view + step) % len(TOWNS)] for step in (1, 2, 3))
            links = "".join(f"<tr><td><a href='/t/{each}'>Out in {each}</a>" for each in others)
            body = layout.replace("TITLE", f"Rooms in {town}").replace("LINKS", links)
            text = " ".join(article(200, seed=n))
            body = body.replace("TEXT", f"<p>{text}</p><p>Near {town}.</p>")
            body = body.replace("NUMBER", str(3 + 14 * view + n))
            site.put(f"/{view}/{n}", page(f"Rooms in {town}", body), content=town)
    site.index()
    return PromiseSpider


@situation(contents=6, finds=6)
def topics_of_phpbb_with_other_guests(site: Site) -> Any:
    guests = "Users browsing this forum: No registered users and NUMBER guests"
    return _topics(
        site,
        "<div role=main><h2 class=topic-title>TITLE</h2><div class=postbody>TEXT</div>"
        f"<div class='stat-block online-list'><p>{guests}</p></div></div>",
    )


@situation(contents=6, finds=6)
def topics_of_discourse_with_other_related_topics(site: Site) -> Any:
    return _topics(
        site,
        "<div role=main><h1>TITLE</h1><div class=post>TEXT</div>"
        "<div id=related-topics class=more-topics__list><h3>Related topics</h3>"
        "<table class=topic-list>LINKS</table></div></div>",
    )
