"""One content in two notations is one, and what is alike but differs is not."""

from __future__ import annotations

import pytest

from scrapy_neardup.matching.verdict import Match
from tests.support.texts import FERRY
from tests.unit.matching.test_rule import detector

#: What a template, a server or an optimiser writes in another way.
ONE = {
    "order of attributes with files": (
        "<p data-a=/a.jpg data-b=/b.jpg></p>",
        "<p data-b=/b.jpg data-a=/a.jpg></p>",
    ),
    "order of attributes with data": (
        """<p data-a='{"a": 1}' data-b='{"b": 2}'></p>""",
        """<p data-b='{"b": 2}' data-a='{"a": 1}'></p>""",
    ),
    "order of attributes of a component": (
        "<p :a='{\"a\": 1}' :b='{\"b\": 2}'></p>",
        "<p :b='{\"b\": 2}' :a='{\"a\": 1}'></p>",
    ),
    "order of attributes of microdata": (
        "<link itemprop=a content=1 href=https://schema.org/A>",
        "<link href=https://schema.org/A itemprop=a content=1>",
    ),
    "order of attributes of a drawing": (
        "<svg><path d=M1 x=2></path></svg>",
        "<svg><path x=2 d=M1></path></svg>",
    ),
    "blanks in a drawing": (
        "<svg><g><path d=M1></path></g></svg>",
        "<svg>\n <g>\n  <path d=M1></path> </g>\n</svg>",
    ),
    "blanks in a template": (
        "<template><p>A <b>kettle</b></p></template>",
        "<template>\n <p>A\n<b>kettle</b> </p>\n</template>",
    ),
    "blanks alone": ("<noscript></noscript>", "<noscript>\n </noscript>"),
}
#: What is alike.
TWO = {
    "drawings": (
        "<svg><path d=M1 x=2></path></svg>",
        "<svg><path d=M2 x=2></path><g x=1></g></svg>",
    ),
    "order of drawings": (
        "<svg><path d=M1></path><path d=M2></path></svg>",
        "<svg><path d=M2></path><path d=M1></path></svg>",
    ),
}


def is_one(one: str, other: str) -> bool:
    """Whether pages are one that differ in nothing but this."""
    judge = detector()
    pages = (
        judge.signature(
            url=f"https://a.example/{n}",
            html=f"<html><head><title>Wares</title></head><body><p>{FERRY}</p>{markup}</body></html>",
        )
        for n, markup in enumerate((one, other))
    )
    return isinstance(judge.compare(*pages), Match)


@pytest.mark.parametrize("name", ONE)
def test_one_content_that_is_written_in_two_ways(name):
    assert is_one(*ONE[name])


@pytest.mark.parametrize("name", TWO)
def test_but_not_two_contents_that_are_alike(name):
    assert not is_one(*TWO[name])
