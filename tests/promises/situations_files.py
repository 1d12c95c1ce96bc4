"""Pages of one title and one text that differ in a picture, a document, a player or a contact.

Something else differs beside them, as a box with other offers does.
"""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, paragraph, situation, words
from tests.promises.situations_details import ads, page

_BESIDE = "<aside><h3>Similar</h3><p>SENTENCE</p></aside>"
#: What stands above the text and says nothing but what it holds.
_ABOVE = {
    "pictures_of_a_script_by_address": "<img src='/_next/image?url=%2Fmedia%2FVALUE.jpg&w=640'>",
    "pictures_of_a_script_by_number": "<img src='/image.php?id=VALUE&w=640'>",
    "pictures_of_a_server_of_images": "<img src=/iiif/VALUE/full/max/0/default.jpg>",
    "pictures_in_folders": "<img src=/photos/VALUE/1.jpg><img src=/photos/VALUE/2.jpg>",
    "pictures_of_which_one_names_them": "<img src=/photos/VALUE/front.jpg>",
    "pictures_in_a_slider": (
        "<div class='carousel slide' id=c><div class=carousel-inner>"
        "<div class='carousel-item active'><img src=/photos/VALUE-1.jpg></div>"
        "<div class=carousel-item><a href=/photos/VALUE-2-large.jpg><img src=/photos/VALUE-2.jpg>"
        "</a></div></div><a class=carousel-control-next href=#c>Next</a></div>"
    ),
    "films": "<iframe src='https://www.youtube.com/embed/VALUE-abcdef'></iframe>",
    "songs": (
        "<iframe src='https://w.soundcloud.com/player/?url=https%3A//api.soundcloud.com/tracks/"
        "VALUE&color=%23ff5500'></iframe>"
    ),
    "videos": "<video controls><source src=/media/VALUE.mp4 type=video/mp4></video>",
    "recordings": "<audio controls src=/episodes/VALUE.mp3></audio>",
}
#: The same below the text, and around the element that has it and the heading.
_BELOW = {
    "minutes": "<p><a href=/docs/VALUE.pdf>Minutes (PDF)</a></p>",
    "minutes_of_one_name": "<p><a href=/meetings/VALUE/minutes.pdf>Minutes (PDF)</a></p>",
    "minutes_of_a_script": "<ul><li><a href='/download.php?id=VALUE'>Minutes</a></ul>",
    "numbers_to_call": "<p><a href=tel:+49301VALUE>Call us</a></p>",
    "addresses_of_mail": "<p><a href=mailto:VALUE@a.example>Write to us</a></p>",
}
_NUMBERS = ("4711", "4712", "5813", "6914")


def _add_layouts() -> None:
    layouts = {
        name: f"<main><article><h1>TITLE</h1>{part}TEXT</article></main>{_BESIDE}"
        for name, part in _ABOVE.items()
    }
    for name, part in _BELOW.items():
        below = f"<main><article><h1>TITLE</h1>TEXT{part}</article></main>{_BESIDE}"
        section = f"<section><h2>Contact and documents</h2>{part}</section>"
        around = f"<main><article><h1>TITLE</h1>TEXT</article>{section}</main>{_BESIDE}"
        layouts |= {f"{name}_below_the_text": below, f"{name}_in_a_section": around}
    for name, layout in layouts.items():

        def build(site: Site, layout: str = layout) -> Any:
            return ads(site, layout, _NUMBERS, "Untitled")

        build.__name__ = f"pages_that_differ_in_{name}"
        situation(contents=len(_NUMBERS))(build)


_add_layouts()


@situation(contents=3, finds=6)
def pages_are_found_again_whatever_shows_their_files(site: Site) -> Any:
    """Copies with other sizes and formats, and with other files of other pages beside them."""
    layouts = (
        "<img src=/photos/{0}/large/1.jpg><img src=/media/kettle-{0}.jpg>"
        "<iframe src='https://www.youtube.com/embed/{0}-abcdef?autoplay=1&si=Abc'></iframe>{1}"
        "<a href='/docs/{0}/minutes.pdf?v=1'>Minutes</a> <a href='tel:+49 301 {0}'>Call us</a>",
        "<img src=https://cdn.example/photos/{0}/300x200/1-thumb.webp>"
        "<img src='/_next/image?url=%2Fmedia%2Fkettle-{0}.jpg&w=640&q=75'>"
        "<iframe data-src='https://www.youtube-nocookie.com/embed/{0}-abcdef'></iframe>{1}"
        "<a href='https://cdn.example/docs/{0}/minutes.pdf?v=2'>Minutes</a> "
        "<a href=tel:+49301{0}>Call us</a>",
        "{1}",
    )
    for number in _NUMBERS[:3]:
        text = f"<p>{paragraph(words(seed=number))}</p>"
        for view, layout in enumerate(layouts):
            others = "".join(
                f"<div class=card><a href=/ad/{n}><img src=/photos/{n}/1.jpg>Another</a>"
                f"<a href=/docs/{n}.pdf>Minutes</a></div>"
                for n in range(view + 1, view + 4)
            )
            body = (
                f"<main><article><h1>Untitled {number}</h1>{layout.format(number, text)}</article>"
                f"<section>{others}</section></main><aside>Viewed {view + 51} times."
                f"<a href=/docs/{view}.pdf>News</a><a href=mailto:{view}@a.example>Help</a></aside>"
            )
            path = f"/view/{view}/{number}"
            site.put(path, page(f"Untitled {number}", body), content=number)
    site.index()
    return PromiseSpider
