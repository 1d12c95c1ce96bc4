"""Ads, events and the like of one title and one description that differ in a line without a label.

The line stands beside the text, in an element whose class says what it is, or not even that.
"""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, TOWNS, ads, page

_ADDRESSES = (
    *("12 High Street, Leeds", "14 High Street, Leeds", "Park View 3, Bath"),
    *("Mill Lane 7, Oslo", "Harbour Road 5, Ghent", "2 Queen Square, Turku"),
)


@situation(contents=6)
def flats_whose_address_stands_below_the_text(site: Site) -> Any:
    layout = "<main><article><h1>TITLE</h1>TEXT<p class=address>VALUE</p></article></main>"
    return ads(site, layout, _ADDRESSES)


@situation(contents=6)
def flats_whose_address_stands_in_a_column(site: Site) -> Any:
    layout = (
        "<div class=row><div class=col-8><h1>TITLE</h1>TEXT</div>"
        "<div class=col-4><p>VALUE</p><p>To let from now on</p></div></div>"
    )
    return ads(site, layout, _ADDRESSES)


@situation(contents=6)
def flats_whose_address_has_lines_of_its_own(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><section><h2>Where it is</h2>"
        "<address><span>VALUE</span><br><span>ground floor</span></address></section></main>"
    )
    return ads(site, layout, _ADDRESSES)


_WITHIN_TEXT = {
    "an_item_of_a_list": "<ul><li>VALUE</li><li>Our town</li></ul>",
    "a_badge": "<p><span class=badge>VALUE</span></p>",
    "the_text_below_a_heading": "<h2>Hours</h2><p>VALUE</p>",
    "an_item_with_a_bold_label": "<ul><li><b>Hours</b> VALUE</li><li><b>Pay</b> good</li></ul>",
    "a_second_definition": "<dl><dt>Hours and pay</dt><dd>good pay</dd><dd>VALUE</dd></dl>",
}


def _register_jobs(name: str, form: str) -> None:
    def build(site: Site) -> Any:
        layout = f"<main><article><h1>TITLE</h1>{form}TEXT</article></main>"
        return ads(site, layout, ("Full time", "Part time"), "Gardener")

    build.__name__ = f"jobs_whose_hours_are_{name}"
    situation(contents=2)(build)


for _name, _form in _WITHIN_TEXT.items():
    _register_jobs(_name, _form)


@situation(contents=4)
def events_whose_places_are_entries_of_a_menu_element(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT<menu><li>Admission free<li>VALUE</menu></article></main>"
    )
    return ads(site, layout, TOWNS[:4], "Evening")


@situation(contents=4)
def products_whose_details_are_rows_of_two_elements(site: Site) -> Any:
    layout = (
        "<main><div><h1>TITLE</h1>TEXT</div><div class=details>"
        "<div class=row><div class=name>Material</div><div class=value>Steel</div></div>"
        "<div class=row><div class=name>Width</div><div class=value>VALUE</div></div>"
        "</div></main>"
    )
    return ads(site, layout, ("30", "40", "50", "60"), "Shelf")


@situation(contents=4)
def products_whose_details_are_items_of_two_words(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><ul><li><span>Colour</span> "
        "<b>VALUE</b></li><li><span>Size</span> <b>42</b></li></ul></main>"
    )
    return ads(site, layout, ("red", "green", "blue", "black"), "Shirt")


@situation(contents=4)
def products_whose_details_are_a_grid(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><div class=grid>"
        "<div>Weight</div><div>VALUE</div><div>Made in</div><div>Ghent</div></div></main>"
    )
    return ads(site, layout, ("2 kg", "3 kg", "5 kg", "8 kg"), "Dumb-bell")


@situation(contents=4)
def flats_of_other_numbers_of_rooms(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article>"
        "<ul class=features><li>VALUE</li><li>2 floors</li></ul></main>"
    )
    return ads(site, layout, ("2 rooms", "3 rooms", "4 rooms", "5 rooms"))


@situation(contents=4)
def parts_whose_number_stands_below_the_text(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><div><span class=sku>VALUE</span></div></main>"
    )
    return ads(site, layout, ("AB-1234", "AB-1299", "KL-5678", "XR-2002"), "Spare part")


@situation(contents=4)
def flats_whose_details_are_broken_into_lines(site: Site) -> Any:
    layout = (
        "<div class=row><div class=col-8><h1>TITLE</h1>TEXT</div>"
        "<div class=col-4><p>Floor: 2<br>Rooms: VALUE<br>Heating: gas<br>Lift: no</p></div></div>"
    )
    return ads(site, layout, "2345")


@situation(contents=6)
def houses_whose_towns_are_broken_into_lines(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><div><p>Office of the owners<br>Garden Road 5"
        "<br>VALUE<br><a href=/map>map</a></p></div></main>"
    )
    return ads(site, layout, TOWNS, "House")


@situation(contents=4)
def timetables_of_numbers_alone_in_a_section(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><section><h2>Times</h2><table>"
        "<tr><th>Harbour</th><th>Island</th></tr><tr><td>7:42</td><td>8:17</td></tr>"
        "<tr><td>VALUE</td><td>12:58</td></tr></table></section></main>"
    )
    return ads(site, layout, ("11:42", "12:03", "12:21", "12:37"), "Ferry")


@situation(contents=4)
def timetables_of_several_columns_in_a_section(site: Site) -> Any:
    layout = (
        "<main><article><h1>TITLE</h1>TEXT</article><section><h2>Times</h2><table>"
        "<tr><th>Day</th><th>Harbour</th><th>Island</th></tr><tr><td>Monday</td><td>7:42</td>"
        "<td>8:17</td></tr><tr><td>Tuesday</td><td>VALUE</td><td>12:58</td></tr></table></section>"
        "</main>"
    )
    return ads(site, layout, ("11:42", "12:03", "12:21", "12:37"), "Ferry")


@situation(contents=4)
def evenings_whose_day_stands_below_the_text(site: Site) -> Any:
    layout = "<main><article><h1>TITLE</h1>TEXT</article><div class=when>VALUE</div></main>"
    days = ("5 March 2026", "12 March 2026", "19 March 2026", "9 April 2026")
    return ads(site, layout, days, "Evening of songs")


_OF_TEXT = ("washing under the roof", "a yard with old trees", "a plan of the house")
_NUMBERS = ("201634", "201635", "81200", "45,000")
#: Layouts of details below the text, and the values in which their pages differ.
_BELOW: dict[str, tuple[str, tuple[str, ...]]] = {
    "beside_a_link": ("<p>VALUE</p><a href=/map>Show on the map</a>", _ADDRESSES),
    "behind_an_icon": ("<div><img src=/pin.png> VALUE</div>", _ADDRESSES),
    "behind_a_label": (
        "<dl><dt>Address</dt><dd>VALUE LS1 4AB, United Kingdom</dd></dl>",
        _ADDRESSES,
    ),
    "in_a_subheading": ("<div class=location><h4>VALUE</h4></div>", _ADDRESSES),
    "under_names_of_builders": (
        "<div class='views-field job-meta'><span class=overflow-hidden>VALUE</span></div>",
        _ADDRESSES,
    ),
    "with_others_in_a_line": ("<p>3 beds · VALUE</p>", _ADDRESSES),
    "in_a_row_of_a_table": (
        "<table><tr><th>Town</th><th>Rooms</th></tr><tr><td>VALUE</td><td>3</td></tr></table>",
        TOWNS,
    ),
    "as_the_name_of_a_class": ("<span class='status status-VALUE'>VALUE</span>", TOWNS),
    "above_what_is_counted": ("<div><div>VALUE</div><div>rooms</div></div>", ("2", "3", "4", "5")),
    "of_a_clock": ("<p>Doors open VALUE</p>", ("18:00", "19:30", "20:00", "21:15")),
    "under_a_class_with_a_word_of_a_value": (
        "<p class=street>VALUE</p>",
        ("Castle Street", "Mill Road", "Harbour Walk", "High Street"),
    ),
    "in_the_place_of_a_price": (
        "<p class=price>VALUE</p>",
        ("Free", "$20", "On request", "$35"),
    ),
    "as_a_number_to_call": (
        "<p class=tel><a href='tel:VALUE'>VALUE</a></p>",
        ("0113 496 0000", "0113 496 0011", "0113 496 0200", "0117 496 0300"),
    ),
    "in_a_link_to_a_map": (
        "<p><a href='https://maps.google.com/?q=VALUE'>VALUE</a></p>",
        _ADDRESSES,
    ),
    "in_a_link_of_a_class": ("<p class=venue><a href='/venues/VALUE'>VALUE</a></p>", TOWNS),
    "under_the_profile_of_somebody": ("<div class=user-profile><p>VALUE</p></div>", TOWNS),
    "beside_a_word_of_counters": ("<p>VALUE bedrooms, sea views</p>", ("2", "3", "4", "5")),
    "in_a_heading_of_prices": (
        "<div><h3><span>VALUE</span></h3></div>",
        ("£250,000", "£275,000", "£310,000", "£325,000"),
    ),
    "in_words_of_the_text_below": ("<div class=branch>VALUE</div>", _OF_TEXT),
    "in_a_class_of_numbers": ("<div class=info><div class=sku>VALUE</div></div>", _NUMBERS),
    "in_a_price_without_currency": ("<div><div class=price>VALUE</div></div>", _NUMBERS),
    "behind_an_icon_of_a_road": (
        "<div><i class='fa fa-road'></i><div class=val>VALUE</div></div>",
        _NUMBERS,
    ),
    "in_a_share": ("<div><b>VALUE</b></div>", ("4 %", "12 %", "12.5 %")),
    "in_stars": ("<div class=hotel-stars>VALUE</div>", ("★", "★★", "★★★", "★★★★")),
    "in_dots": ("<p>VALUE</p>", ("●○○○", "●●○○", "●●●○")),
    "in_a_tick": ("<div><span>VALUE</span></div>", ("✓", "✗")),
    "in_pictograms": ("<ul><li>VALUE</li></ul>", ("🌶", "🌶 🌶", "🥛", "🇮🇹", "½")),
}
#: The same in the article, between two paragraphs, in elements that extractors drop.
_WITHIN: dict[str, tuple[str, tuple[str, ...]]] = {
    "in_the_time_of_a_sentence": (
        "<p>We show the rooms to all who want to see them on <time>VALUE</time>, and there is no "
        "need to call us before.</p>",
        ("Friday 6 March", "Friday 13 March", "Friday 3 April", "Sunday 10 May"),
    ),
    "in_a_caption": (
        "<figure><img src=/yard.jpg><figcaption>The yard of the house, as it is seen from the "
        "kitchen of the flat in VALUE in the morning of a day in spring.</figcaption></figure>",
        TOWNS,
    ),
    "in_a_box": (
        "<aside><p>The flat is in VALUE, where shops, schools and a park are close by, and from "
        "where trains leave for the other towns on this coast.</p></aside>",
        TOWNS,
    ),
    "in_a_form": (
        "<form><p>Yes, I would like to see the flat in VALUE, and I know that I have to bring the "
        "papers that are named in the list below.</p></form>",
        TOWNS,
    ),
    "in_a_word_of_the_text": ("<div class=flat-meta><p>VALUE</p></div>", ("Bath", "Leeds", "Oslo")),
    "in_a_picture": (
        "<p><img src='/pictures/VALUE.jpg'></p><p>SENTENCE</p>",
        ("yard", "stairs", "balcony", "garden"),
    ),
    "in_a_level_of_prices": ("<p>VALUE</p>", ("€", "€€", "$$", "£ £")),
    "in_a_footer": ("<footer><p>VALUE</p></footer>", _ADDRESSES),
}
_DAYS = ("5 March 2026", "12 March 2026", "19 March 2026")
#: Whole pages.
_PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "in_a_heading_in_a_box_of_the_path": (
        "<div class=breadcrumb-area><h1>VALUE</h1><a href=/>Home</a></div><main>TEXT</main>",
        TOWNS,
    ),
    "in_the_date_of_a_card": (
        "<h1>TITLE</h1><div class=card><div class=card-header><div>VALUE</div></div>TEXT</div>",
        _DAYS,
    ),
    "in_the_date_of_a_builder": (
        "<div class=elementor-widget><h1>TITLE</h1></div><div class=elementor-widget><ul><li>"
        "<span class=elementor-icon-list-text>VALUE</span></li></ul></div>"
        "<div class=elementor-widget>TEXT</div>",
        _DAYS,
    ),
}


def _add_layouts() -> None:
    first, second = (f"<p>{part}</p>" for part in DESCRIPTION)
    below = "<main><article><h1>TITLE</h1>TEXT</article><section>{}</section></main>"
    within = f"<main><article><h1>TITLE</h1>{first}{{}}{second}</article></main>"
    layouts = [(name, below.format(part), values) for name, (part, values) in _BELOW.items()]
    layouts += [(name, within.format(part), values) for name, (part, values) in _WITHIN.items()]
    layouts += [(name, layout, values) for name, (layout, values) in _PAGES.items()]
    for name, layout, values in layouts:

        def build(site: Site, layout: str = layout, values: tuple[str, ...] = values) -> Any:
            return ads(site, layout, values, "Offer")

        build.__name__ = f"offers_whose_value_stands_{name}"
        situation(contents=len(values))(build)


_add_layouts()


#: Places of a number, on pages with and without a heading.
_OF_PARTS = {
    "in_no_element": "<h1>TITLE</h1>Order no. <b>VALUE</b><br>TEXT",
    "between_two_lines": "<h1>TITLE</h1>TEXT<hr>VALUE<hr>",
    "in_a_word_beside_paragraphs": "<h1>TITLE</h1><div>Order no. <b>VALUE</b>TEXT</div>",
    "between_two_lines_without_a_heading": "<center>TEXT<hr>Order no. VALUE<hr></center>",
    "above_a_text_without_a_heading": "<div><div><span>No. VALUE (new)</span></div></div>TEXT",
    "below_a_text_without_a_heading": "TEXT<div><div>Order no. VALUE</div></div>",
    "in_a_section_without_a_heading": "<section>TEXT<section>No. VALUE</section></section>",
    "in_a_list_without_a_heading": "<ul><li>No. VALUE</li><li>Boxed</li></ul>TEXT",
    "in_a_cell_without_a_heading": "<table><tr><td>No. <big>VALUE</big></td></tr></table>TEXT",
}


def _add_parts() -> None:
    for name, layout in _OF_PARTS.items():

        def build(site: Site, layout: str = layout) -> Any:
            return ads(site, layout, ("KX-221", "KX-238", "PL-907", "QT-114"), "Spare part")

        build.__name__ = f"spare_parts_whose_number_stands_{name}"
        situation(contents=4)(build)


_add_parts()


@situation(contents=6, finds=6)
def ads_are_found_again_whatever_visitors_see_beside_them(site: Site) -> Any:
    """Copies with counters, greetings, offers of others and sentences of the day beside them."""
    others = (
        "<p>51 views</p><p>Words are free, use them well.</p><p>Online: Ann</p>",
        "<p>52 views</p><p>A river never asks for its way.</p><p>Online: Ben</p>",
    )
    for n, address in enumerate(_ADDRESSES):
        text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
        for copy, other in enumerate(others):
            offers = "".join(
                f"<li><a href=/ad/{k}>Flat {TOWNS[k]}</a> <span>{TOWNS[k]}</span></li>"
                for k in range(6)
                if k % 3 == (n + copy) % 3
            )
            body = (
                f"<main><article><h1>Flat to let</h1>{text}<p class=address>{address}</p></article>"
                f"<div>{other}<p class=user-name>Visitor {n}{copy}</p><p>{n + copy} bids</p></div>"
                f"<section><h2>More</h2><ul>{offers}</ul></section></main>"
            )
            site.put(f"/ad/{n}/{copy}", page("Flat to let", body), content=str(n))
    site.index()
    return PromiseSpider
