"""Pages of registers: one title and one introduction, and lists of links that differ."""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, full, situation, words
from tests.promises.situations_details import DESCRIPTION, page

_TEXT = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
_FIRST = "Anna Bruno Clara David Elena Felix Greta Hugo Irene Jonas Katja Lukas".split()
_LAST = "Abel Berger Conrad Dietz Eberle Fuchs Graf Hahn Imhof Jahn Keller".split()
#: How an entry is made, with what is around all of them.
_FORMS = {
    "names": ("<ul>{}</ul>", "<li><a href=/m/{0}>{1}</a></li>"),
    "names_of_a_class": ("<ul>{}</ul>", "<li class=member><a href=/m/{0}>{1}</a></li>"),
    "headings": ("<div>{}</div>", "<div class=m><h2><a href=/m/{0}>{1}</a></h2></div>"),
    "rows": ("<table>{}</table>", "<tr><td><a href=/m/{0}>{1}</a></td><td>{0}</td></tr>"),
    "cards": (
        "<div>{}</div>",
        "<div class=c><a href=/m/{0}><img src=/{0}.jpg></a><a href=/m/{0}>{1}</a><p>€ 12</p></div>",
    ),
    "links_alone": ("<div>{}</div>", "<a href=/m/{0}>{1}</a>"),
}


def _names(number: int) -> list[str]:
    return [f"{_FIRST[(5 * number + k) % 12]} {_LAST[(7 * number + 3 * k) % 11]}" for k in range(8)]


def _put(site: Site, address: str, form: str, names: list[str], content: str) -> None:
    around, entry = _FORMS[form]
    entries = "".join(entry.format(number, name) for number, name in enumerate(names))
    pager = "".join(f"<a class=page href=/members/{k}>{k}</a>" for k in range(4))
    body = f"<main><h1>Members</h1>{_TEXT}{around.format(entries)}<div>{pager}</div></main>"
    site.put(address, page("Members", body), content)


def _add_registers() -> None:
    for form in _FORMS:

        def build(site: Site, form: str = form) -> Any:
            for number in range(4):
                _put(site, f"/members/{number}", form, _names(number), str(number))
            site.index()
            return PromiseSpider

        build.__name__ = f"pages_of_a_register_of_{form}"
        situation(contents=4)(build)


_add_registers()


@situation(contents=4, finds=4)
def pages_of_a_register_are_found_again_in_another_order(site: Site) -> Any:
    for number in range(4):
        names = _names(number)
        _put(site, f"/members/{number}", "names", names, str(number))
        _put(site, f"/members/{number}/by-place", "names", names[::-1], str(number))
    site.index()
    return PromiseSpider


@situation(contents=45, NEARDUP_URL_RULES="on")
def records_of_a_list_whose_pages_all_say_the_same_with_url_rules(site: Site) -> Any:
    """Each page of the list has the link to one record, "Details", and that to the next page."""
    for number in range(45):
        onward = f"<a class=next href=/list?page={number + 1}>next</a>" if number < 44 else ""
        row = f"<p>Record <a class=next href=/record?id={number}>Details</a></p>{onward}"
        site.put(f"/list?page={number}", page("Results", f"<main>{_TEXT}{row}</main>"))
        site.put(f"/record?id={number}", full(words(80, number), f"Record {number}"), str(number))
    site.index("/list?page=0")
    return PromiseSpider
