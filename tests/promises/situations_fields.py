"""Items that are judged by a field of HTML, and differ in what it holds besides its text."""

from __future__ import annotations

from typing import Any

from scrapy.http import Response

from tests.promises.harness import Answer, Asked, PromiseSpider, Run, Site, situation, words
from tests.promises.situations_details import DESCRIPTION

#: The same text in two wares, which hold something else.
_PARTS = (
    "<img src=/i/VALUE.jpg>",
    "<img src=/blank.png alt=VALUE>",
    "<a href=/d/VALUE.pdf>Plan</a>",
    "<iframe src=https://films.example/embed/VALUE></iframe>",
    "<a href=mailto:VALUE@acme.example>Write to us</a>",
    "<input name=kind value=VALUE>",
    '<script type=application/json>{"kind": "VALUE"}</script>',
    "<svg viewBox='0 0 9 9'><text>VALUE</text></svg>",
    "<video src=/v/VALUE.mp4></video>",
    "<div style='background: url(/b/VALUE.jpg)'></div>",
    '<meta itemprop=sku content="VALUE">',
)
_VALUES = ("boat", "train")


class Wares(PromiseSpider):
    """Wares with their descriptions as HTML, several a page."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for ware in response.css("div.ware"):
            yield {"content": ware.attrib["data-id"], "html": ware.css("div.text").get()}
        yield from self.links(response)


def _ware(label: str, held: str, sentence: str = "") -> str:
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    return (
        f'<div class=ware data-id="{label}"><h2>{label}</h2>'
        f"<div class=text>{text}<p>{sentence}</p>{held}</div></div>"
    )


def _wares() -> list[tuple[str, str]]:
    """Return the label of each ware, and the element that it holds."""
    return [
        (f"{value} {number}", part.replace("VALUE", value))
        for number, part in enumerate(_PARTS)
        for value in _VALUES
    ]


@situation(contents=len(_PARTS) * len(_VALUES), NEARDUP_ITEM_FIELD="html")
def items_whose_field_differs_in_what_it_holds(site: Site) -> Any:
    wares = "".join(_ware(label, held) for label, held in _wares())
    site.put("/", f"<title>Shop</title>{wares}")
    return Wares


@situation(contents=len(_PARTS) * len(_VALUES), NEARDUP_ITEM_FIELD="html")
def items_whose_field_differs_in_a_sentence_and_in_what_it_holds(site: Site) -> Any:
    sentences = ("There is a small garden.", "It was read 51 times.")
    wares = (_ware(label, held, sentences[n % 2]) for n, (label, held) in enumerate(_wares()))
    site.put("/", f"<title>Shop</title>{''.join(wares)}")
    return Wares


@situation(contents=2, NEARDUP_ITEM_FIELD="html")
def items_of_which_the_field_of_the_second_holds_nothing(site: Site) -> Any:
    wares = _ware("with a picture", "<img src=/boat.jpg>") + _ware("without one", "")
    site.put("/", f"<title>Shop</title>{wares}")
    return Wares


@situation(contents=2 * len(_VALUES), finds=2 * len(_VALUES), NEARDUP_ITEM_FIELD="html")
def items_that_are_listed_twice_with_what_they_hold(site: Site) -> Any:
    """A token that differs from one answer to the next makes no other item."""
    for visit, path in enumerate(("/all", "/sale")):
        passing = (
            f'<input type=hidden name=csrf_token value="{visit}f5f167f44f4964e6c998dee827110a1">'
        )
        wares = "".join(
            _ware(f"{value} {n}", f"{part.replace('VALUE', value)}{passing}")
            for n, part in enumerate(_PARTS[:2])
            for value in _VALUES
        )
        site.put(path, f"<title>Shop</title>{wares}")
    site.index()
    return Wares


@situation(contents=1 + len(_VALUES) * len(_PARTS), finds=1)
def items_whose_field_holds_something_else_on_the_second_day(site: Site) -> Any:
    """The first item of the page is the same on both days."""

    def shop(asked: Asked) -> Answer:
        value = _VALUES[asked.day - 1]
        wares = [
            _ware(f"{value} {n}", part.replace("VALUE", value)) for n, part in enumerate(_PARTS)
        ]
        return Answer(f"<title>Shop</title>{_ware('the same', '<hr>')}{''.join(wares)}")

    site.on("/", shop)
    settings: dict[str, Any] = {
        "NEARDUP_STORE": f"sqlite:///{site.folder}/seen.sqlite",
        "NEARDUP_REVISIT": "drop",
        "NEARDUP_ITEM_FIELD": "html",
    }
    return [Run(Wares, **settings), Run(Wares, **settings)]


class Titles(PromiseSpider):
    """The titles of wares, each of which has a page."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if title := response.css("h1::text").get():
            yield self.ware(title, response.css("p::text").get())
        yield from self.links(response)

    def ware(self, title: str, text: str | None) -> dict[str, str | None]:
        return {"content": title}


class Texts(Titles):
    """Items of the same wares, with a text in a field that they did not have before."""

    def ware(self, title: str, text: str | None) -> dict[str, str | None]:
        return {"content": f"text of {title}", "text": text}


#: Which spiders of one namespace run after each other.
_KINDS = {
    "by_page_and_then_by_a_field": (Titles, Texts),
    "by_a_field_and_then_by_page": (Texts, Titles),
}


def _add_kinds() -> None:
    for name, spiders in _KINDS.items():

        def build(site: Site, spiders: tuple[type[Titles], ...] = spiders) -> Any:
            for n in range(8):
                title = f"Ware {words(2, n)}"
                site.put(
                    f"/ware/{n}", f"<title>{title}</title><h1>{title}</h1><p>{words(120, n)}</p>"
                )
            site.index()
            store = f"sqlite:///{site.folder}/seen.sqlite"
            fields = {Titles: None, Texts: "text"}
            return [
                Run(
                    spider,
                    NEARDUP_STORE=store,
                    NEARDUP_NAMESPACE="shop",
                    NEARDUP_ITEM_FIELD=fields[spider],
                )
                for spider in spiders
            ]

        build.__name__ = f"wares_that_are_judged_{name}"
        situation(contents=16)(build)


_add_kinds()
