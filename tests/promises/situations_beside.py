"""Pages of one text that differ in a column beside it, or in what they state for machines alone."""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, TOWNS, ads, page

#: Columns beside the text, and the values in them.
_COLUMNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "in_an_aside_beside_main": (
        "<main><h1>TITLE</h1>TEXT<p>SENTENCE</p></main><aside class=buy-box>"
        "<div class=price>£9,990</div><p>Mileage: <span>VALUE</span></p></aside>",
        ("81,200", "64,000", "12,500", "99,100"),
    ),
    "of_a_price_beside_main": (
        "<main><h1>TITLE</h1>TEXT<p>SENTENCE</p></main><aside class=summary>"
        "<div class=price>VALUE</div><button>Buy now</button></aside>",
        ("£9,990", "£10,990", "£8,500", "£7,250"),
    ),
    "in_the_table_of_a_sidebar": (
        "<div class=main><h1>TITLE</h1>TEXT<p>SENTENCE</p></div><div class=listing-sidebar>"
        "<table><tr><td>Year<td>2016<tr><td>Colour<td>VALUE</table></div>",
        ("red", "green", "blue", "black"),
    ),
    "in_boxes_of_a_sidebar": (
        "<div class=row><div class=col-8><h1>TITLE</h1>TEXT<p>SENTENCE</p></div>"
        "<div class='col-4 job-sidebar'><div class=box><i></i> <span>VALUE</span></div>"
        "<div class=box>Full time</div><div class=box><a href=/ad/1>Another</a></div></div></div>",
        TOWNS[:4],
    ),
    "in_a_widget_below_a_heading": (
        "<div class=columns><h1>TITLE</h1>TEXT<p>SENTENCE</p></div><div class='five sidebar'>"
        "<div class=widget><h4>Overview</h4><ul><li><strong>Where:</strong><span>VALUE</span></li>"
        "<li><strong>Salary:</strong><span>£31,000</span></li></ul>"
        "<a class=btn href=/apply>Apply</a></div></div>",
        TOWNS[:4],
    ),
    "in_a_sidebar_of_an_article": (
        "<main><article><div><h1>TITLE</h1>TEXT<p>SENTENCE</p></div><aside>"
        "<div class=course-sidebar><div>Beginner</div><div class=by>A course by <b>VALUE</b></div>"
        "</div></aside></article></main>",
        ("Jane Smith", "John Lee", "Ann Archer"),
    ),
}
#: What pages state for machines: a type and a property, and its values.
_STATED: dict[str, tuple[str, tuple[str, ...]]] = {
    "salary": (
        '"baseSalary": {"@type": "MonetaryAmount", "value": {"value": VALUE, "unitText": "YEAR"}}',
        ("31000", "32500", "29000"),
    ),
    "type": ('"employmentType": "VALUE"', ("FULL_TIME", "PART_TIME", "CONTRACTOR")),
    "employer": (
        '"hiringOrganization": {"@type": "Organization", "name": "VALUE"}',
        ("Care Group", "St Anna Hospital", "City of Leeds"),
    ),
    "deadline": ('"validThrough": "VALUE"', ("2024-06-01", "2024-07-01", "2024-06-08")),
    "mileage": (
        '"mileageFromOdometer": {"value": VALUE, "unitCode": "KMT"}',
        ("81200", "64000", "12500"),
    ),
    "fuel": ('"fuelType": "VALUE"', ("Diesel", "Petrol", "Electric")),
    "rooms": ('"numberOfRooms": VALUE', ("2", "3", "4")),
    "format": ('"bookFormat": "VALUE"', ("Paperback", "Hardcover", "EBook")),
    "version": ('"softwareVersion": "VALUE"', ("2.1.0", "2.1.1", "3.0")),
    "telephone": ('"telephone": "VALUE"', ("0113 496011", "0113 496012", "0113 496013")),
    "status": (
        '"eventStatus": "https://schema.org/VALUE"',
        ("EventScheduled", "EventCancelled", "EventPostponed"),
    ),
    "venue": ('"location": {"@type": "Place", "name": "VALUE"}', ("Town Hall", "Church", "Forum")),
    "ingredients": ('"recipeIngredient": ["VALUE", "2 eggs"]', ("200 g flour", "250 g flour")),
}


def _add(name: str, layout: str, values: tuple[str, ...]) -> None:
    def build(site: Site) -> Any:
        return ads(site, layout, values, "Offer")

    build.__name__ = name
    situation(contents=len(values))(build)


for _name, (_layout, _values) in _COLUMNS.items():
    _add(f"offers_whose_value_stands_{_name}", _layout, _values)
for _name, (_property, _values) in _STATED.items():
    _add(
        f"offers_that_state_another_{_name}_for_machines",
        "<main><article><h1>TITLE</h1>TEXT<p>SENTENCE</p></article></main>"
        f'<script type="application/ld+json">{{"name": "Offer", {_property}}}</script>',
        _values,
    )


@situation(contents=4, finds=4)
def ads_are_found_again_whatever_the_column_beside_them_shows(site: Site) -> Any:
    """Copies with other posts, dates of posts, counters, polls and greetings in the column."""
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    for n, town in enumerate(TOWNS[:4]):
        for copy, day in enumerate(("3 May 2024", "5 June 2024")):
            posts = "".join(
                f"<li><a href=/ad/{k}>Flat in {TOWNS[k]}</a> <span>£{90 + k}0</span></li>"
                for k in range(6)
                if k % 3 == (n + copy) % 3
            )
            body = (
                f"<main><article><h1>Flat to let</h1>{text}</article></main><aside class=sidebar>"
                f"<div class=box><p>Where: {town}</p><p>{51 + n + 7 * copy} views</p></div>"
                f"<div class=greeting><p>Visitor {n}{copy}</p></div>"
                f"<div class=poll>No: {copy}</div>"
                f"<section><h4>Latest</h4><ul>{posts}</ul></section>"
                f"<h4>News</h4><p>{day}</p><p><a href=/news/{copy}>Rents are up</a></p></aside>"
            )
            site.put(f"/ad/{n}/{copy}", page("Flat to let", body), content=str(n))
    site.index()
    return PromiseSpider
