from __future__ import annotations

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.signatures.facts import parts_in_heading
from scrapy_neardup.stores import MemoryStore
from tests.support.texts import article

TEXT = (
    "It is made of light and tear-resistant fabric, and one person sets it up in a few "
    "minutes. Nets at both entrances let fresh air in on warm nights, and the seams are "
    "sealed so that heavy rain stays outside. In small pockets beside the door there is room "
    "for keys, torches and books. The poles come in a bag of their own, and the instructions "
    "are printed on the inside of the lid. Wipe the fabric with lukewarm water, and let it "
    "dry in the shade. All parts can be ordered."
)


def detector() -> NearDupDetector:
    return NearDupDetector(store=MemoryStore(b"a secret for tests"))


def page(title: str, heading: str, beside: str = "", text: str = TEXT) -> str:
    return (
        f"<html><head><title>{title}</title></head><body><header><a href=/>Home</a></header>"
        f"<main><h1>{heading}</h1>{beside}<p>{text}</p></main></body></html>"
    )


def reason(one: str, other: str, *, beside: tuple[str, str] = ("", "")) -> str | None:
    """Return why two pages of one text, whose headings are their titles, are kept, if they are.

    Twelve others of the site were seen.
    """
    judge = detector()
    for n in range(12):
        title = " ".join(article(2, n))
        text = " ".join(article(120, n))
        judge.check(url=f"http://a.example/o{n}", html=page(f"{title} | Shop", title, "", text))
    titles = zip((one, other), beside, strict=True)
    a, b = (
        judge.signature(
            url=f"http://a.example/{n}", html=page(f"{title} | Shop", title or "Shop", stated)
        )
        for n, (title, stated) in enumerate(titles)
    )
    boilerplates = judge.store.boilerplates
    outcomes = {judge.rule.compare(*pair, boilerplates).reason for pair in ((a, b), (b, a))}
    assert len(outcomes) == 1
    return None if outcomes & {"same_text", "similar_text"} else outcomes.pop()


@pytest.mark.parametrize(
    ("title", "heading", "repeated"),
    [
        ("Tent - Blue | Shop", "Tent", [0]),
        ("Tent - Blue | Shop", "Tent – Blue", [0, 1]),
        ("Tent - Blue | Shop", "Tents in blue", [1]),
        ("Tent - L | Shop", "Tent XL", [0]),
        (" | Tent | Shop", "The tent", [0]),
        ("帐篷 - 蓝色 | 商店", "蓝色帐篷", [0, 1]),
        ("Tent | Shop", "Ferry", []),
        (" | ".join("abcdefghijklmnopqr"), "a b", []),
    ],
)
def test_parts_of_the_title_that_the_heading_repeats(title, heading, repeated):
    signature = detector().signature(url="http://a.example/", html=page(title, heading))
    assert parts_in_heading(signature) == tuple(signature.title[part] for part in repeated)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Tent", "Tent - Blue", "title_differs"),
        ("Tent - Red", "Tent (Blue)", "title_differs"),
        ("Tent", "Print: Tent", None),
        ("Tent", "Tent (updated)", None),
        ("帐篷", "帐篷（更新）", None),
        ("Tent", "", None),
    ],
)
def test_a_part_that_the_heading_repeats_names_the_page(one, other, expected):
    assert reason(one, other) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("<p>£1290.00</p>", "<p>£990.00</p>", "values_differ"),
        ("<p>Sleeps: two people</p>", "<p>Sleeps: four people</p>", "parts_differ"),
        ("<p>Viewed 12 times</p>", "<p>Viewed 19 times</p>", None),
        ("<p>Sleeps: two people</p>", "", None),
    ],
)
def test_under_a_title_that_contains_the_other_a_replaced_value_counts(one, other, expected):
    assert reason("Canon EOS R5", "Used: Canon EOS R5", beside=(one, other)) == expected


def test_a_page_of_a_manual_is_one_in_all_its_versions():
    judge = detector()
    pages = [
        page(f"Ferries - Guide {version} documentation", "Ferries") for version in ("1.2", "2.0.1")
    ]
    for n in range(12):
        title = " ".join(article(2, n))
        html = page(f"{title} - Guide 1.2 documentation", title, "", " ".join(article(120, n)))
        judge.check(url=f"http://a.example/{n}", html=html)
    kinds = [
        judge.check(url=f"http://a.example/f{n}", html=html).kind for n, html in enumerate(pages)
    ]
    assert kinds == ["new", "duplicate"]


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("C#", "C"), ("Sum", "Sum ∑")])
def test_a_part_that_has_a_sign_more_names_another_page(one, other):
    judge = detector()
    kinds = [
        judge.check(url=f"http://a.example/{n}", html=page(f"Tasks - {part} | Shop", "Tasks")).kind
        for n, part in enumerate((one, other))
    ]
    assert kinds == ["new", "new"]
