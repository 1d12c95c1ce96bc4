"""Line numbers are removed from listings, and no other numbers are."""

from __future__ import annotations

import pytest

from scrapy_neardup.html.code_listings import remove_line_numbers
from tests.unit.html.test_consent_overlays import parsed, text_of


def shown(body: str) -> str:
    tree = parsed(f"<html><body>{body}</body></html>")
    remove_line_numbers(tree)
    return text_of(tree)


@pytest.mark.parametrize(
    "listing",
    [
        # Hexo
        "<figure class=highlight><table><tr><td class=gutter><pre><span class=line>1</span><br>"
        "<span class=line> 2</span><br></pre></td><td class=code><pre>{}</pre></td></tr></table>",
        # Pygments, Rouge, Chroma, and the same without names
        "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre>"
        "</div></td><td class=code><div class=highlight><pre>{}</pre></div></td></tr></table>",
        "<table class=rouge-table><tr><td class='gutter gl'><pre class=lineno>9\n10\n</pre></td>"
        "<td class=code><pre>{}</pre></td></tr></table>",
        "<div class=highlight><table class=lntable><tr><td class=lntd><pre><span class=lnt>1\n"
        "</span><span class=lnt>2\n</span></pre></td><td class=lntd><pre><code>{}</code></pre>"
        "</td></tr></table></div>",
        "<table><tr><td><pre>1\n2\n3</pre></td><td><pre>{}</pre></td></tr></table>",
        # in one block with the code
        "<pre><span class=linenos>1</span>{}<span class=linenos>2</span></pre>",
        "<pre><code><span class=ln>7</span>{}</code></pre>",
        # beside it
        "<div class=code><div class=line-numbers>1 2 3</div><pre>{}</pre></div>",
    ],
)
def test_line_numbers_are_removed(listing):
    assert shown(listing.format("let x = 2;")) == "let x = 2;"


@pytest.mark.parametrize(
    "body",
    [
        # values, and numbers that do not follow each other
        "<table><tr><td><pre>1</pre></td><td><pre>halt</pre></td></tr></table>",
        "<table><tr><td><pre>17 4</pre></td><td><pre>out</pre></td></tr></table>",
        "<table><tr><td><pre>1 2 b</pre></td><td><pre>out</pre></td></tr></table>",
        "<div class=gutter>3</div><p>rooms</p>",
        "<p><span class=lineno>12</span> bus</p>",
    ],
)
def test_other_numbers_stay(body):
    before = text_of(parsed(f"<html><body>{body}</body></html>"))
    assert shown(body) == before
