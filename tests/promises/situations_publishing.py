"""Pages of one title as generators of manuals, content management systems and shops write them.

They differ in a line, a row or a heading whose markup is an anchor, a label or a box of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import TOWNS, ads, page
from tests.support.texts import article

_DAYS = ("2026-03-12", "2026-03-19", "2026-04-02")
_MENU = "".join(f"<div><span>Item {n}</span><span>{n}</span></div>" for n in range(220))
#: Layouts by what is said of the pages, the values, and the title.
_LAYOUTS: dict[str, tuple[str, Iterable[str], str]] = {
    "in_a_line_below_a_heading_with_an_anchor": (
        "<main><h1>TITLE</h1><div class=text>TEXT</div><div class=refsect1><a name=id2></a>"
        "<h2>Where</h2><p>VALUE</p></div></main>",
        TOWNS,
        "Guide",
    ),
    "in_a_line_behind_an_anchor": (
        "<div class=WordSection1><h1><a name=_Toc1>TITLE</a></h1><div class=text>TEXT</div>"
        "<p class=MsoNormal><a name=_Hlk1></a>VALUE</p></div>",
        TOWNS,
        "Notice",
    ),
    "in_a_line_behind_a_permalink": (
        "<main><h1>TITLE</h1><div class=text>TEXT</div><p class=place><a href='#place'>¶</a> VALUE"
        "</p></main>",
        TOWNS,
        "Guide",
    ),
    "in_a_value_behind_a_label_element": (
        "<main><h1>TITLE</h1>TEXT<div class=field><label>Town</label> VALUE</div></main>",
        TOWNS,
        "Driver",
    ),
    "in_a_box_behind_the_main_element": (
        "<main><h1>TITLE</h1>TEXT</main><section class=key-facts><dl><dt>Town</dt><dd>VALUE</dd>"
        "</dl></section>",
        TOWNS,
        "Driver",
    ),
    "in_a_date_in_figures_below_the_text": (
        "<main><h1>TITLE</h1><article>TEXT</article><p class=when>VALUE</p></main>",
        _DAYS,
        "Concert",
    ),
    "in_a_date_with_blanks": (
        "<main><h1>TITLE</h1><p class=when>VALUE</p><div class=text>TEXT</div></main>",
        ("2026. 3. 12.", "2026. 3. 19.", "2026. 4. 2."),
        "Concert",
    ),
    "in_when_they_are_available": (
        "<main><h1>TITLE</h1><div class=availability>Available from VALUE</div>TEXT</main>",
        ("1 March 2026", "1 April 2026", "15 April 2026"),
        "Flat",
    ),
    "in_a_row_of_two_elements_behind_a_long_menu": (
        f"<div><div>{_MENU}</div><div><h1>TITLE</h1><div class=text>TEXT</div><div class=spec>"
        "<div><div>Doors</div><div>VALUE</div></div><div><div>Kind</div><div>wood</div></div>"
        "</div></div></div>",
        "123",
        "Shed",
    ),
    "in_the_only_row_of_a_column": (
        "<main><article><h1>TITLE</h1>TEXT</article><aside class=right-sidebar><div class=block>"
        "<div class=title>Milestone</div><div class=value>VALUE</div></div></aside></main>",
        ("1.0", "2.0", "3.0"),
        "Issue",
    ),
    "in_the_heading_below_that_of_the_site": (
        "<div id=banner><h1><a href='/'>TITLE</a></h1></div><div id=content><h2>VALUE</h2>TEXT"
        "</div>",
        ("Iterator::any", "Iterator::all"),
        "Handbook",
    ),
    "in_a_number_before_a_request_to_read": (
        "<main><h1>TITLE</h1><p>VALUE</p><p>Please read these terms with care.</p>TEXT</main>",
        ("Room 7", "Room 8", "Room 9"),
        "Rooms",
    ),
}


def _add_all() -> None:
    for name, (layout, values, title) in _LAYOUTS.items():

        def build(
            site: Site,
            layout: str = layout,
            values: tuple[str, ...] = tuple(values),
            title: str = title,
        ) -> Any:
            return ads(site, layout, values, title)

        build.__name__ = f"pages_that_differ_{name}"
        situation(contents=len(tuple(values)))(build)


_add_all()


def _copies(site: Site, layout: str, lines: tuple[str, str]) -> Any:
    """Six pages and a copy of each, which shows another line."""
    for view, line in enumerate(lines):
        for n, town in enumerate(TOWNS):
            text = f"<p>{' '.join(article(200, seed=n))}</p><p>Near {town}.</p>"
            body = layout.replace("TITLE", f"Lamps of {town}").replace("TEXT", text)
            html = page(f"Lamps of {town}", body.replace("LINE", line))
            site.put(f"/{view}/{n}", html, content=town)
    site.index()
    return PromiseSpider


@situation(contents=6, finds=6)
def topics_of_a_board_that_shows_the_time(site: Site) -> Any:
    layout = (
        "<div id=page-body><p>LINE</p><h2 class=topic-title>TITLE</h2><div class=post>TEXT</div>"
        "</div>"
    )
    now = "It is currently Sun Nov 29, 2026 10:12 pm", "It is currently Mon Nov 30, 2026 8:07 am"
    return _copies(site, layout, now)


@situation(contents=6, finds=6)
def wares_that_other_visitors_look_at(site: Site) -> Any:
    layout = (
        "<main><div class=summary><h1>TITLE</h1><p class=price>€12.00</p><div class=note>LINE</div>"
        "<button>Add</button></div><div class=tabs>TEXT</div></main>"
    )
    return _copies(site, layout, ("12 people are viewing this", "17 people are viewing this"))
