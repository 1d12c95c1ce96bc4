from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.url_rules.path_patterns import MAX_SIBLINGS, MIN_MET, PathPatterns
from scrapy_neardup.url_rules.url_parts import (
    ReducedUrl,
    UrlParts,
    UrlReducer,
    differing,
    parse_url,
)

NAMES = st.sampled_from(["a", "b", "page", "sid", "a.b", "%20", "ä", ""])
WORDS = st.sampled_from(["news", "print", "index.html", "x-1", "", "s123", "a%2Fb"])


@st.composite
def url_parts(draw: st.DrawFn) -> UrlParts:
    segments = tuple(draw(st.lists(WORDS, max_size=4)))
    # A path that is one empty segment is the path "/", which has none.
    segments = () if segments == ("",) else segments
    return UrlParts(
        "example.com",
        draw(st.sampled_from(["http", "https"])),
        draw(st.sampled_from(["", "www", "m"])),
        ":",
        segments,
        (),
        tuple(draw(st.lists(st.tuples(NAMES.filter(bool), WORDS), max_size=4))),
    )


def url_of(parts: UrlParts) -> str:
    """Written independently of how URLs are split."""
    host = f"{parts.label}.{parts.site}" if parts.label else parts.site
    query = "&".join(f"{name}={value}" for name, value in parts.params)
    params: dict[str, str] = {}
    for segment, name, value in parts.path_params:
        params[segment] = params.get(segment, "") + f";{name}={value}"
    path = "/".join(segment + params.get(segment, "") for segment in parts.segments)
    return f"{parts.scheme}://{host}/{path}" + (f"?{query}" if query else "")


def parsed(url: str) -> UrlParts:
    parts = parse_url(url)
    assert parts is not None
    return parts


def unchanged(parts: UrlParts) -> tuple[UrlReducer, ReducedUrl]:
    """Return a URL of which nothing is left out."""
    leaving = UrlReducer(PathPatterns(), lambda pattern, component: False, ())
    return leaving, leaving.reduce(parts, parts.digest)


def without(parts: UrlParts, component: tuple[str | int, ...]) -> UrlParts:
    """Return a URL without a component, computed anew."""
    match component:
        case ("param", name, value):
            params = list(parts.params)
            params.remove((str(name), str(value)))
            return parts._replace(params=tuple(params))
        case ("param", name):
            return parts._replace(params=tuple(p for p in parts.params if p[0] != name))
        case ("host", _):
            return parts._replace(label="")
        case ("segment", text, "first"):
            assert parts.segments[0] == text
            return parts._replace(segments=parts.segments[1:])
        case ("segment", text, "last"):
            assert parts.segments[-1] == text
            return parts._replace(segments=parts.segments[:-1])
        case ("segment", text, "file"):
            return parts._replace(segments=(*parts.segments[:-1], ""))
        case ("segment_at", -1):
            return parts._replace(segments=parts.segments[:-1])
        case ("segment_at", int(index)):
            return parts._replace(segments=parts.segments[:index] + parts.segments[index + 1 :])
    raise AssertionError(component)


@given(url_parts())
def test_a_url_without_a_component_is_the_url_written_without_it(parts):
    assert parsed(url_of(parts)).digest == parts.digest
    leaving, reduced = unchanged(parts)
    for skeleton in leaving.skeletons(reduced):
        if skeleton.component == ("scheme",) or "inner" in skeleton.component:
            continue
        rest = without(parts, skeleton.component)
        if rest.segments != ("",):
            assert parsed(url_of(rest)).digest == skeleton.digest


@given(url_parts(), st.randoms())
def test_the_order_of_parameters_does_not_matter(parts, random):
    params = list(parts.params)
    random.shuffle(params)
    assert parsed(url_of(parts._replace(params=tuple(params)))).digest == parts.digest


@given(url_parts(), url_parts())
def test_other_urls_have_other_digests(one, other):
    same = one._replace(params=()) == other._replace(params=()) and sorted(one.params) == sorted(
        other.params
    )
    assert (one.digest == other.digest) == same


def test_a_url_is_taken_apart():
    parts = parsed("HTTP://WWW.Shop.Example.co.uk:8080/a/b;jsessionid=1;v=2/?q=1&&x#top")
    assert parts == UrlParts(
        "example.co.uk",
        "http",
        "www",
        "shop:8080",
        ("a", "b", ""),
        (("b", "jsessionid", "1"), ("b", "v", "2")),
        (("q", "1"), ("x", "")),
    )
    assert parsed("https://example.com:443").digest == parsed("https://example.com/").digest
    assert parsed("http://127.0.0.1:80/a").label == ""
    assert parsed("http://[::1]:80/a").site == "::1"


@pytest.mark.parametrize(
    "url",
    [
        "data:text/html,x",
        "ftp://example.com/",
        "http:///path",
        "http://user:word@example.com/",
        "http://example.com/%zz",
        "http://example.com/100%",
        "http://example.com/?a=%4",
        "http://example.com/" + "a" * 65536,
        "http://example.com/" + "a/" * 41,
        "http://example.com/?" + "a&" * 41,
        "",
    ],
)
def test_what_is_never_learned_from(url):
    assert parse_url(url) is None


def test_segments_that_vary():
    patterns = PathPatterns()
    assert patterns.name(("news", "2024", "a-long-slug", "x%20y", "index.html")) == (
        "/news/*/*/*/index.html"
    )
    assert patterns.name(()) == "/"
    for number in range(MIN_MET):
        patterns.learn(("tags", "often"))
        assert not patterns.learn(("tags", "often", "ab"[number % 2]))
    letters = "abcdefghijklmnopqrstuvwxyz"
    changed = [patterns.learn(("tags", letter)) for letter in letters]
    assert changed.count(True) == 1
    assert changed.index(True) == MAX_SIBLINGS - 1
    assert patterns.name(("tags", "a")) == patterns.name(("tags", "never")) == "/tags/*"
    assert patterns.name(("tags", "often")) == "/tags/often"


def test_what_two_urls_differ_in():
    patterns = PathPatterns()

    def difference(one: str, other: str) -> list[object]:
        forms = [unchanged(parsed(f"http://{url}"))[1].parts for url in (one, other)]
        return [left_out[:2] for left_out in differing(forms[0], forms[1], patterns)]

    assert difference("www.e.com/print/news?a=1&b=2", "e.com/news?a=2&b=2") == [
        ("/news", ("segment", "print", "first")),
        ("/news", ("segment_at", 0)),
        ("/news", ("param", "a")),
        ("/news", ("host", "www")),
    ]
    assert difference("e.com/a/b/c", "e.com/x/y") == []
