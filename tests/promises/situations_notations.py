"""Copies whose text is equal, and of which each holds what differs from one visit to the next.

And pages of one text that differ in what a script shows, or in what is struck.
"""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, TOWNS, ads, page

_STAND_IN = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def _copies(site: Site, *views: str) -> Any:
    """Ads with a picture each, all of which have several views with another part below the text."""
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    for view, part in enumerate(views):
        for n, town in enumerate(TOWNS):
            body = f"<main><article><h1>Flat {town}</h1>{text}<p>Near {town}.</p></article></main>"
            place = f"/ad/{n}" if not view else f"/{view}/ad/{n}"
            below = part.replace("TOWN", town.lower()).replace("NUMBER", str(n))
            site.put(place, page(f"Flat {town}", body + below), content=town)
    site.index()
    return PromiseSpider


@situation(contents=6, finds=6)
def copies_with_other_times_of_the_server(site: Site) -> Any:
    state = '<script>window.__STATE__ = {"town": "TOWN", "serverTime": "%s"};</script>'
    times = ("2026-03-04T10:00:0NUMBER.123Z", "2026-04-05T11:01:1NUMBER.456Z")
    return _copies(site, *(state % time for time in times))


@situation(contents=6, finds=6)
def copies_with_other_numbers_of_an_advertisement(site: Site) -> Any:
    frame = '<iframe src="https://ads.example/f?cb={}NUMBER"></iframe>'
    return _copies(site, frame.format("6991357336"), frame.format("449135733612"))


@situation(contents=6, finds=12)
def copies_with_pictures_in_other_sizes(site: Site) -> Any:
    sources = ("/TOWN.jpg", "/TOWN-300x200.jpg", "/w_640,h_480/TOWN.jpg")
    return _copies(site, *(f'<img src="{source}">' for source in sources))


@situation(contents=6, finds=6)
def copies_with_pictures_that_are_loaded_late(site: Site) -> Any:
    return _copies(site, '<img src="/TOWN.jpg">', f'<img src="{_STAND_IN}" data-src="/TOWN.jpg">')


@situation(contents=6)
def pages_of_code_that_the_address_of_a_script_names(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT"
        '<script src="https://gist.github.com/ann/VALUE.js"></script></article></main>'
    )
    return ads(site, layout.replace("SENTENCE", ""), TOWNS, "Example")


@situation(contents=6)
def pages_of_a_film_that_the_address_of_a_script_names(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT"
        '<script src="//fast.wistia.com/embed/medias/VALUE.jsonp"></script></article></main>'
    )
    return ads(site, layout, TOWNS, "Film")


@situation(contents=2)
def laws_of_which_one_has_a_paragraph_struck(site: Site) -> Any:
    first, second = DESCRIPTION
    for n, last in enumerate((f"<p>{second}</p>", f"<p><s>{second}</s></p>")):
        body = f"<main><article><h1>Statute</h1><p>{first}</p>{last}</article></main>"
        site.put(f"/law/{n}", page("Statute", body), content=str(n))
    site.index()
    return PromiseSpider
