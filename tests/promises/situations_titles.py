"""Pages of one description whose titles name a value: a dose, a day, a size, a version."""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.promises.harness import PromiseSpider, Site, paragraph, situation, words

_NAMES = ("Alder", "Birch", "Cedar", "Damson", "Elder", "Fir")


def _page(title: str, heading: str, text: str) -> str:
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title></head><body>"
        "<header><a href=/>Home</a> <a href=/cart>Cart</a></header>"
        f"<main><article><h1>{heading}</h1>{text}</article></main>"
        "<footer>All rights reserved. Imprint and privacy.</footer></body></html>"
    )


def _described(name: str) -> str:
    return f"<p>{paragraph(words(110, name))}</p>"


def _grid(site: Site, title: str, heading: str, *values: str) -> Any:
    """Every name with every value; all pages of a name share their description.

    Their contents are numbers: an item is kept for a text of its own.
    """
    for n, (value, name) in enumerate(product(values, _NAMES)):
        named = {"name": name, "value": value}
        page = _page(title.format(**named), heading.format(**named), _described(name))
        site.put(f"/{n}", page, str(n))
    site.index()
    return PromiseSpider


@situation(contents=24)
def medicines_whose_titles_end_with_a_dose(site: Site) -> Any:
    doses = "100 mg", "200 mg", "400 mg", "800 mg"
    return _grid(site, "{name} - {value} | Pharmacy", "{name}", *doses)


@situation(contents=24)
def medicines_whose_doses_look_like_versions(site: Site) -> Any:
    doses = "0.5 mg", "2.5 mg", "7.5 mg", "12.5 mg"
    return _grid(site, "{name} - {value} | Pharmacy", "{name}", *doses)


@situation(contents=24)
def performances_whose_titles_name_the_day(site: Site) -> Any:
    days = "5 May 2024", "6 May 2024", "5 June 2024", "15 June 2024"
    return _grid(site, "{name} ({value}) | City Theatre", "{name}", *days)


@situation(contents=24)
def performances_whose_titles_name_the_day_in_numbers(site: Site) -> Any:
    days = "2024-05-05", "2024-05-06", "2024-06-05", "2024-06-06"
    return _grid(site, "{name} - {value}", "{name}", *days)


@situation(contents=24)
def connections_whose_titles_name_the_time(site: Site) -> Any:
    return _grid(site, "Rail | {name} | {value}", "{name}", "12:00", "14:30", "20:00", "20:30")


@situation(contents=24)
def hotels_whose_titles_name_the_room(site: Site) -> Any:
    rooms = "Single room", "Double room", "Family room", "Suite"
    return _grid(site, "{name} - {value} | Hotels", "{name}", *rooms)


@situation(contents=24)
def books_whose_titles_name_the_chapter(site: Site) -> Any:
    return _grid(site, "{name} - {value} | 书城", "{name}", "第1章", "第2章", "第3章", "第10章")


@situation(contents=24)
def jobs_whose_headings_name_a_town_that_recurs(site: Site) -> Any:
    towns = "Lisbon", "Vienna", "Oslo", "Prague"
    return _grid(site, "{name} - {value} | Jobs", "{name} in {value}", *towns)


@situation(contents=24)
def wares_whose_headings_name_a_size_that_recurs(site: Site) -> Any:
    return _grid(site, "{name} - {value}", "{name} - {value}", "S", "M", "L", "XL")


@situation(contents=24)
def spare_parts_whose_headings_name_a_model_like_a_version(site: Site) -> Any:
    models = "Golf 1.4", "Golf 1.6", "Golf 2.0", "Golf 2.5"
    return _grid(site, "{name} - {value} | Parts", "{name} - {value}", *models)


#: Titles of all pages of a site, and headings that they have in them.
_TITLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "towns": (
        "Plumber in Leeds, Bath, York and Hull | Acme",
        ("Leeds", "Bath", "York", "Hull", "Plumber in Leeds", "Acme"),
    ),
    "doors_of_a_calendar": ("Advent calendar 2024", ("2", "4", "20", "24", "Advent")),
    "parts_of_a_word": ("Hotel Sonnenblume", ("Sonne", "Blume", "Hotel Sonnenblume")),
    "sizes": ("Shirts in sizes S M L XL", ("S", "M", "L", "XL")),
    "services": ("Heating | Drains | Boilers", ("Heating", "Drains", "Boilers")),
}


def _add_titles() -> None:
    for name, (title, headings) in _TITLES.items():

        def build(site: Site, title: str = title, headings: tuple[str, ...] = headings) -> Any:
            for n, heading in enumerate(headings):
                above = f"<header><h1>{heading}</h1></header><article>"
                page = _page(title, heading, _described("common"))
                page = page.replace(f"<article><h1>{heading}</h1>", above)
                site.put(f"/{n}", page, str(n))
            site.index()
            return PromiseSpider

        build.__name__ = f"pages_of_one_title_that_has_their_headings_{name}"
        situation(contents=len(headings))(build)


_add_titles()


@situation(contents=6, finds=6)
def pages_are_found_again_without_the_headings_in_their_titles(site: Site) -> Any:
    """Print views of pages whose headings are a part of their titles."""
    for n, name in enumerate(_NAMES):
        title, text = f"The story of {name} - All stories", _described(name) * 2
        site.put(f"/story/{n}", _page(title, name, text), str(n))
        view = _page(title, "", text).replace("<h1></h1>", "")
        site.put(f"/print/{n}", view, str(n))
    site.index()
    return PromiseSpider


def _variants(site: Site, *pages: tuple[str, str]) -> Any:
    """Pages of one description, with titles that their headings repeat, among others of the site.

    :param pages: title and what stands below the heading of each.
    """
    for n in range(12):
        title = words(2, ("other", n)).title()
        site.put(f"/other/{n}", _page(f"{title} | Shop", title, _described(title)), f"other {n}")
    for n, (title, stated) in enumerate(pages):
        text = stated + _described("common")
        site.put(f"/{n}", _page(f"{title} | Shop", title, text), str(100 + n))
    site.index()
    return PromiseSpider


@situation(contents=17)
def wares_whose_titles_and_headings_have_a_colour_behind_a_dash(site: Site) -> Any:
    colours = "", " - Blue", " - Red", " (Green)", " | Sand"
    return _variants(site, *((f"Fjord Tent{colour}", "") for colour in colours))


@situation(contents=14)
def a_larger_ware_with_another_value_behind_a_label(site: Site) -> Any:
    small, large = "<p>Sleeps: two people</p>", "<p>Sleeps: four people</p>"
    return _variants(site, ("Fjord Tent", small), ("Large: Fjord Tent", large))


@situation(contents=12 + 12, finds=20)
def stories_are_found_in_other_sections_and_views(site: Site) -> Any:
    sections = "News", "Sport", "Travel"
    for n in range(12):
        name, text = words(4, n).title(), "".join(_described(f"{n}.{part}") for part in range(3))
        for path, title, heading in (
            ("story", f"{name} | Morning Post", name),
            ("section", f"{name} - {sections[n % 3]} | Morning Post", name),
            ("print", f"Print: {name} | Morning Post", name),
            ("online", f"{name} | Morning Post Online", name),
        ):
            site.put(f"/{path}/{n}", _page(title, heading, text), f"story {n}")
    for n in range(12):
        title = words(3, ("other", n)).title()
        page = _page(f"{title} | Morning Post", title, _described(title))
        site.put(f"/other/{n}", page, f"other {n}")
    site.index()
    return PromiseSpider
