"""A site of offers, of which each has a few sentences of its own above long terms, and of news."""

from __future__ import annotations

import re

from .texts import article

SITE = "https://jobs.example"


def sentences(n_words: int, seed: int) -> str:
    """Words of a made-up language, in sentences."""
    words = " ".join(article(n_words, seed=seed, vocabulary=10**6))
    return re.sub(r"((?:\w+ ){9}\w+) ", r"\1. ", words)


#: What stands below the few sentences of each offer.
TERMS = sentences(320, seed=1)


def page(title: str, text: str) -> str:
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in text.split(". "))
    return (
        f"<html><head><title>{title} | Harbour</title></head><body>"
        f"<article><h1>{title}</h1>{paragraphs}</article></body></html>"
    )


def offer(title: str, seed: int) -> str:
    return page(title, f"{sentences(40, seed)}. {TERMS}")


def printed(html: str) -> str:
    return html.replace("</article>", "<p>Printed for you by the harbour.</p></article>")


OFFERS = {
    f"{SITE}/jobs/{n}": offer(title, 100 + n)
    for n, title in enumerate("Nurse Cook Driver Gardener Painter".split())
}
NEWS = {f"{SITE}/news/{n}": page(f"News {n}", sentences(200, 200 + n)) for n in range(8)}
COPIES_OF_NEWS = {f"{url}/print": printed(html) for url, html in NEWS.items()}
FIRST, *OTHERS = OFFERS
#: A copy of the first offer, and another offer of its title.
COPY = f"{FIRST}/print", printed(OFFERS[FIRST])
SECOND = f"{SITE}/jobs/9", offer("Nurse", 109)
