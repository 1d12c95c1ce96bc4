"""Pictures of the content tell pages of one text apart, and not by their sizes or formats."""

from __future__ import annotations

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.html.facts.pictures import picture_name
from tests.support.texts import FERRY, MUSEUM


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/img/lamp.jpg", "lamp"),
        ("https://cdn.example/w_300/lamp-300x200.jpg.webp?v=1#x", "lamp"),
        ("lamp@2x.png", "lamp"),
        ("/uploads/Lamp-scaled.jpeg", "Lamp"),
        ("/uploads/lamp-1024x.avif", "lamp"),
        ("/lamp-2.jpg", "lamp-2"),
        ("/ads/17/1.jpg", "ads/17/1"),
        ("/photos/4711/1.jpg", "4711/1"),
        ("https://cdn.example/photos/4711/640/1-thumb.webp", "4711/1"),
        ("/photos/4711/large/front.jpg", "4711/front"),
        ("/photos/4711/thumb.jpg", "4711"),
        ("/photos/1.jpg", ""),
        ("/themes/new/x.gif", ""),
        ("/_next/image?url=%2Fmedia%2Flamp.jpg&w=640", "lamp"),
        ("/thumb.php?src=/media/lamp-300x200.jpg&w=300", "lamp"),
        ("/image.php?id=4711&w=300&t=1700000000", "id=4711"),
        ("/image.ashx?id=1", "id=1"),
        ("/iiif/abc/full/600,/0/default.jpg", "abc"),
        ("//i.ytimg.com/vi/abcdefghijk/hqdefault.jpg", "abcdefghijk"),
        ("/thumb/a/Lamp.jpg/220px-Lamp.jpg", "Lamp"),
        ("/o/img%2Flamp.jpg?alt=media&token=abc", "lamp"),
        ("data:image/gif;base64,R0lGOD", ""),
        ("/static/placeholder.gif", ""),
        ("/i/avatar-17.png", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_picture(address, name):
    assert picture_name(address) == name


def test_names_of_many_sizes_are_read_in_no_time():
    for part in ("_thumb", "12x3456x"):
        assert picture_name(f"/a{part * 200}!")


def why(one: str, other: str) -> str | None:
    """Reason why a page is one with another, whose counters differ; ``None`` if it is not."""
    judge = NearDupDetector()
    body = "<html><head><title>Lamp</title>{}</head><body><main><article><h1>Lamp</h1>{}<p>{}</p>"
    head, within = ("<meta property=og:image content='{}'>", "") if "/" not in one else ("", "{}")
    pages = (
        body.format(head.format(part), within.format(part), f"{FERRY}</p><p>{MUSEUM}")
        + f"</article><p>{n} views</p></main></body></html>"
        for n, part in ((51, one), (77, other))
    )
    first, second = (
        judge.check(url=f"https://a.example/{n}", html=page) for n, page in enumerate(pages)
    )
    assert first.kind == "new"
    return second.reason if second.kind == "duplicate" else None


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("<img src=/a/lamp.jpg>", "<img src=/a/stool.jpg>", False),
        ("<img src=/x.gif data-src=/a/lamp.jpg>", "<img src=/x.gif data-src=/a/bed.jpg>", False),
        ("<img src=/a/lamp.jpg>", "<img src=/b/lamp-300x200.jpg.webp>", True),
        ("<img src=/a/lamp.jpg>", "<i data-a=/b>", True),
        ("<img src=/a/rose.jpg width=48>", "<img src=/a/lily.jpg width=48>", True),
        ("<img class=user-avatar src=/a/ann.jpg>", "<img class=user-avatar src=/a/ben.jpg>", True),
        ("<p class=carousel><img src=/a/lamp.jpg>", "<p class=carousel><img src=/bed.jpg>", False),
        (
            "<p class=carousel><a href=/1><img src=/a/lamp.jpg></a>",
            "<p class=carousel><a href=/2><img src=/a/stool.jpg></a>",
            True,
        ),
        ("lamp.jpg", "stool.jpg", False),
        ("lamp.jpg", "lamp-1200x630.png", True),
    ],
)
def test_pages_of_one_title_and_text(one, other, is_one):
    assert (why(one, other) is not None) is is_one
