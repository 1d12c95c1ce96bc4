"""The page of an item: pages that yield only links, and items built over several pages."""

from __future__ import annotations

from itertools import product

import pytest

from tests.support.crawl import Crawl, run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import article

SPIDERS = "tests.support.shop_spiders"
WARES = 8


def text_of(seed: int) -> str:
    return " ".join(article(120, seed=seed))


def story(number: int, *, full: bool) -> str:
    kind = "full" if full else "print"
    onward = "" if full else f'<a class="next" href="/full/{number}">whole</a>'
    return (
        f"<html><head><title>Story {number}</title></head><body>"
        f'<h1>Story {number}</h1><p class="{kind}">{text_of(number)}</p>{onward}</body></html>'
    )


STORIES = {
    **{f"/print/{n}": story(n, full=False) for n in range(6)},
    **{f"/full/{n}": story(n, full=True) for n in range(6)},
    **{f"/copy/{n}": story(n, full=True) for n in range(6)},
}
NO_REVIEWS = (
    "<html><head><title>Reviews</title></head><body><h1>Reviews</h1><p>There are no reviews yet. "
    "Be the first to tell other customers of our shop what you think of this ware, its quality, "
    "its packaging and its delivery, and win one of ten vouchers in our monthly draw among all "
    "who wrote a review.</p>{more}</body></html>"
)
WAYS = ["values", "name", "dict", "meta", "dataclass", "loader", "named"]


def ware(name: str, seed: int, reviews: str) -> str:
    return (
        f"<html><head><title>{name}</title></head><body><h1 class='name'>{name}</h1>"
        f"<p class='text'>{text_of(seed)}</p><a class='reviews' href='{reviews}'>Reviews</a>"
        "</body></html>"
    )


def shop(reviews: str, ways: list[str]) -> dict[str, Answer | str]:
    """Wares and their copies by how their items travel; their pages of reviews are all alike."""
    pages: dict[str, Answer | str] = {}
    for way, number, kind in product(ways, range(WARES), ("ware", "copy")):
        id_ = f"{way}-{kind}-{number}"
        seed = 100 * WAYS.index(way) + number
        pages[f"/{way}/{kind}/{number}"] = ware(name_of(way, number), seed, reviews.format(id_))
        more = f"<a class='more' href='/more/{id_}'>more</a>" if "long" in reviews else ""
        pages[reviews.format(id_)] = NO_REVIEWS.format(more=more)
        pages[f"/more/{id_}"] = NO_REVIEWS.format(more="")
        pages[f"/json/{id_}"] = Answer('{"reviews": []}', "application/json")
    return pages


def name_of(way: str, number: int) -> str:
    return f"{way.title()} kettle {number}"


def names(crawl: Crawl) -> list[str]:
    return sorted("".join(item["name"]) for item in crawl.items)


@pytest.fixture
def address(request, tmp_path):
    """Return the address of a store in memory, in a file, or in a Redis."""
    if request.param == "redis":
        return request.getfixturevalue("redis_server").address
    return {"memory": "memory", "sqlite": f"sqlite:///{tmp_path / 'seen.sqlite'}"}[request.param]


@pytest.mark.slow
@pytest.mark.parametrize("address", ["memory", "sqlite", "redis"], indirect=True)
def test_a_page_that_yielded_only_links_is_no_original_for_items(address):
    with serving(STORIES) as site:
        settings = {
            "NEARDUP_STORE": address,
            "CONCURRENT_REQUESTS": 1,
            "DEPTH_PRIORITY": 1,
        }
        prints = [site.url(f"/print/{n}") for n in range(6)]
        copies = [site.url(f"/copy/{n}") for n in range(6)]
        crawl = run_crawl([*prints, *copies], settings, spider=f"{SPIDERS}.ByTemplate")
        assert sorted({path[-1] for path in crawl.stored}) == list("012345")
        assert len(crawl.stored) == 6
        if address == "memory":
            return
        again = run_crawl(copies, settings, spider=f"{SPIDERS}.ByTemplate")
        # Of two that were stored at once, either may be the original.
        assert not {"new", "undecided"} & set(again.counts("pages/"))


@pytest.mark.slow
@pytest.mark.parametrize("address", ["sqlite", "redis"], indirect=True)
def test_links_found_by_one_spider_do_not_drop_the_items_of_another(address):
    with serving(STORIES) as site:
        settings = {
            "NEARDUP_STORE": address,
            "NEARDUP_NAMESPACE": "shared",
            "NEARDUP_REVISIT": "drop",
        }
        stories = [site.url(f"/full/{n}") for n in range(6)]
        only_links = run_crawl(stories, settings, spider=f"{SPIDERS}.LinksOnly")
        assert only_links.stored == []
        assert len(run_crawl(stories, settings).stored) == 6


@pytest.mark.parametrize("revisit", ["store", "drop"])
def test_a_page_that_is_visited_again_for_its_item_yields_it(revisit):
    with serving(STORIES) as site:
        start = [site.url(f"/full/{n}") for n in range(6)]
        crawl = run_crawl(start, {"NEARDUP_REVISIT": revisit}, spider=f"{SPIDERS}.Twice")
    assert len(crawl.stored) == 6


def test_a_start_page_that_is_followed_as_index_yields_its_item():
    body = f"<html><title>Home</title><p>{text_of(1)}</p><a href='/index.html'>home</a></html>"
    with serving({"/": body, "/index.html": body}) as site:
        crawl = run_crawl([site.url("/")], {}, spider=f"{SPIDERS}.Rules")
    assert crawl.stored == ["index.html"]


@pytest.mark.slow
@pytest.mark.parametrize("reviews", ["/reviews/{}", "/long/{}", "/json/{}"])
def test_an_item_is_from_the_page_where_it_began(reviews):
    # What is carried one by one or in a loader travels as an item after the first page.
    ways = [way for way in WAYS if not ("long" in reviews and way in ("name", "loader"))]
    pages = shop(reviews, ways)
    with serving(pages) as site:
        start = [site.url(path) for path in pages if "/ware/" in path]
        start += [site.url(path) for path in pages if "/copy/" in path]
        crawl = run_crawl(start, {}, spider=f"{SPIDERS}.Shop")
    assert names(crawl) == sorted(name_of(way, n) for way in ways for n in range(WARES))
    assert crawl.errors == 0


def test_items_that_wait_for_downloads_in_their_callback_are_from_their_page():
    pages = shop("/reviews/{}", ["values"])
    with serving(pages) as site:
        start = [site.url(path) for path in pages if "/ware/" in path or "/copy/" in path]
        crawl = run_crawl(start, {}, spider=f"{SPIDERS}.Inline")
    assert names(crawl) == [name_of("values", n) for n in range(WARES)]


def list_of(category: str, numbers: range, kind: str) -> str:
    entries = "".join(
        f'<li><a class="next" href="/{kind}/{n}">Story {n}: {text_of(n)[:60]}</a></li>'
        for n in numbers
    )
    return (
        f"<html><head><title>News</title></head><body><p class='category'>{category}</p>"
        f"<ul>{entries}</ul></body></html>"
    )


def test_articles_of_lists_that_are_nearly_equal_are_judged_by_themselves():
    pages = {
        **{f"/full/{n}": story(n, full=True) for n in range(30)},
        **{f"/{kind}/{n}": story(n, full=True) for n in range(30) for kind in ("copy", "other")},
        "/a": list_of("news", range(28), "full"),
        "/b": list_of("news", range(29), "full"),  # one entry more
        "/c": list_of("news", range(30), "copy"),
        "/d": list_of("a label of the list", range(30), "other"),
    }
    with serving(pages) as site:
        start = [site.url(path) for path in ("/a", "/b", "/c", "/d")]
        crawl = run_crawl(start, {"CONCURRENT_REQUESTS": 1}, spider=f"{SPIDERS}.Lists")
    found = sorted(int(path.split("/")[1]) for path in crawl.stored)
    assert sorted(set(found)) == list(range(30))
    assert len(found) == 30


@pytest.mark.parametrize("item_origin", ["auto", "own"])
@pytest.mark.parametrize(
    ("said", "stat", "reason"),
    [
        (("red", "blue"), "differs", "the item holds values of {list} that no item of the orig"),
        (("5.5.2027", "6.5.2027"), "derived", "it has other short values or truth values, which"),
        (("red", "blue"), "untied", "the item holds values that its request carried from an unkn"),
    ],
)
def test_an_item_that_is_kept_for_what_its_request_carried_is_warned_of_once(
    said, stat, reason, item_origin
):
    paths = [f"/{kind}/{number}" for number in range(2) for kind in ("full", "copy")]
    links = [f"<a class='next' href='{p}'>{s}</a>" for p, s in zip(paths, said * 2, strict=True)]
    pages = {path: STORIES[path] for path in paths} | {"/list": "<p>News" + "".join(links)}
    options = {"neardup": {"item_origin": item_origin}}
    with serving(pages) as site:
        start = ["/list"] if stat != "untied" else paths
        meta = {site.url(path): {**options, "said": said[path[1] == "c"]} for path in paths}
        meta[site.url("/list")] = options
        urls = [site.url(path) for path in start]
        settings = {"CONCURRENT_REQUESTS": 1}
        crawl = run_crawl(urls, settings, spider=f"{SPIDERS}.Handed", meta=meta, dont_filter=True)
    warnings = [line for line in crawl.logged("WARNING") if line.startswith("Kept")]
    if item_origin == "own":
        assert (len(crawl.items), warnings) == (2, [])
        return
    assert len(crawl.items) == 4
    assert [name for name in crawl.counts() if name.startswith("built_items/")] == [
        f"built_items/{stat}"
    ]
    assert crawl.counts()[f"built_items/{stat}"] == 2
    [warning] = warnings
    assert warning.startswith(f"Kept an item of <200 {site.url('/')}")
    assert " although its page is a near-duplicate" in warning
    assert reason.format(list=site.url("/list")) in warning
    assert f"counted in neardup/built_items/{stat})" in warning


@pytest.mark.parametrize("origin", ["auto", "own"])
def test_an_item_may_hold_what_is_in_an_object_too_large_to_be_read(origin):
    links = "".join(f"<a class='next' href='{path}'>on</a>" for path in ("/full/0", "/copy/0"))
    with serving({**STORIES, "/list": f"<p>News{links}"}) as site:
        start = site.url("/list")
        meta = {start: {"neardup": {"item_origin": origin}}}
        settings = {"CONCURRENT_REQUESTS": 1}
        crawl = run_crawl([start], settings, spider=f"{SPIDERS}.Labelled", meta=meta)
    found = sorted(item["label"] for item in crawl.items)
    warnings = [line for line in crawl.logged("WARNING") if "too large" in line]
    if origin == "own":
        assert (len(found), warnings) == (1, [])
        return
    assert found == ["blue", "red"]
    [warning] = warnings
    assert "callback (page)" in warning
    assert crawl.counts("built_items/") == {"too_large": 2, "derived": 1}
