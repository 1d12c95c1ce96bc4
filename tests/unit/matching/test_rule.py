"""The rule's objections, each with pages that only this objection keeps apart."""

from __future__ import annotations

import random

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.matching.rule import Rule, is_thin
from scrapy_neardup.stores import MemoryStore
from tests.support.texts import FERRY, MUSEUM, article, replaced, word

NOTICE = (
    "This theme is missing a module. Install the file parser, then add these lines to your site "
    "configuration and build again: the parser reads every post and writes the list that is "
    "searched from the side panel, and without it only this notice can be shown to your readers."
)


NEWER_VERSION = (
    "Superseded documentation: comprehensive recommendations are elsewhere, notwithstanding "
    "incompatibilities."
)


def detector() -> NearDupDetector:
    """Takes the first paragraph for the main text, whatever else a page shows."""
    store = MemoryStore(b"a secret for tests")
    return NearDupDetector(store=store, extractor="tests.support.parts.first_paragraph")


def html(title: str, text: str, rest: str = "") -> str:
    return f"<html><head><title>{title}</title></head><body><p>{text}</p>{rest}</body></html>"


def words(seed: int, count: int = 300) -> str:
    return " ".join(article(count, seed))


def verdicts(judge: NearDupDetector, *pages: tuple[str, str]) -> list[str]:
    return [judge.check(url=url, html=page).kind for url, page in pages]


def why(judge: NearDupDetector, one: tuple[str, str], other: tuple[str, str]) -> str:
    a, b = (judge.signature(url=url, html=page) for url, page in (one, other))
    outcome = judge.rule.compare(a, b, judge.store.boilerplates)
    assert outcome == judge.rule.compare(b, a, judge.store.boilerplates)
    return outcome.reason


# --- one site ---------------------------------------------------------------------------


def test_what_is_equal_all_over_is_one_page():
    one, other = (
        (f"https://a.example/{n}", html("Tag: gfw", NOTICE, "<ul><li>Home</ul>")) for n in (1, 2)
    )
    assert why(detector(), one, other) == "same_page"
    assert verdicts(detector(), one, other) == ["new", "duplicate"]


def test_but_not_under_another_title():
    one = ("https://a.example/1", html("Tag: gfw", NOTICE, "<ul><li>Home</ul>"))
    other = ("https://a.example/2", html("Tag: golang", NOTICE, "<ul><li>Home</ul>"))
    assert why(detector(), one, other) == "title_differs"
    assert verdicts(detector(), one, other) == ["new", "new"]


def test_or_with_another_picture():
    one = ("https://a.example/1", html("Photo", NOTICE, "<img src=1.jpg>"))
    other = ("https://a.example/2", html("Photo", NOTICE, "<img src=2.jpg>"))
    assert why(detector(), one, other) == "parts_differ"
    assert verdicts(detector(), one, other) == ["new", "new"]


def test_or_stands_on_another_site():
    one = ("https://a.example/1", html("Tag: gfw", "No posts yet.", "<ul><li>Home, About</ul>"))
    other = (
        "https://b.example/1",
        html("Tag: golang", "No posts yet.", "<ul><li>Home, About</ul>"),
    )
    assert why(detector(), one, other) == "thin_text"


def test_the_sites_name_in_the_title_is_set_aside_once_it_is_known():
    versions = [f"Using magics — Handbook {version} documentation" for version in ("1.2", "2.4")]
    pages = [(f"https://a.example/{n}", html(versions[n], FERRY, f"<ul><li>{n}")) for n in (0, 1)]
    judge = detector()
    assert why(judge, *pages) == "title_differs"
    for number, name in enumerate(["History", "Kernels", "Widgets"]):
        for version in ("1.2", "2.4"):
            title = f"{name} — Handbook {version} documentation"
            judge.check(url=f"https://a.example/{version}/{name}", html=html(title, words(number)))
    assert why(judge, *pages) == "same_text"


def test_a_post_is_not_the_front_page_that_begins_with_it():
    post = ("https://a.example/hello", html("Hello | Blog", FERRY))
    front = ("https://a.example/", html("Blog", FERRY, f"<div>{words(1)} {words(2)}</div>"))
    judge = detector()
    for number in range(3):
        judge.check(
            url=f"https://a.example/{number}", html=html(f"P{number} | Blog", words(number))
        )
    assert why(judge, post, front) == "size_differs"
    assert verdicts(judge, post, front) == ["new", "new"]


def test_alike_by_their_boilerplate_alone_is_not_alike():
    boilerplate = words(99, 400)
    judge = detector()
    for number in range(8):
        text = f"{boilerplate} {words(number, 30)}"
        judge.check(url=f"https://a.example/{number}", html=html(f"Post {number} | Blog", text))
    one, other = (
        (
            f"https://a.example/list/{n}",
            html("Archive | Blog", f"{boilerplate} {words(100 + n, 30 + 5 * n)}"),
        )
        for n in (1, 2)
    )
    assert why(judge, one, other) == "only_boilerplate_alike"
    assert verdicts(judge, one, other) == ["new", "new"]
    # On a site whose boilerplate is not known the same two are one content.
    assert why(detector(), one, other) == "similar_text"


def differing(seed: int, count: int, share: float = 0.03) -> tuple[str, str]:
    """Two texts of so many words; their 4-shingles resemble by 0.8 or so, with no share by 0.98."""
    text = article(count, seed)
    other = replaced(text, share) if share else [*text, word(10**6)]
    return " ".join(text), " ".join(other)


@pytest.mark.parametrize(
    ("count", "share", "titles_met", "min_similarity", "reason"),
    [
        (90, 0.03, 0, 0.73, "text_differs"),
        (90, 0.03, 9, 0.73, "text_differs"),
        (90, 0.03, 10, 0.73, "text_differs"),
        (190, 0.03, 10, 0.73, "text_differs"),
        (90, 0, 0, 0.73, "similar_text"),
        (400, 0.03, 0, 0.73, "similar_text"),
        (90, 0.03, 0, 0, "similar_text"),
        (400, 0.03, 0, 0.99, "text_differs"),
    ],
)
def test_small_texts_under_one_title_of_a_site_must_be_nearly_equal(
    count, share, titles_met, min_similarity, reason
):
    judge = detector()
    judge.rule = Rule(min_similarity=min_similarity)
    for number in range(titles_met):
        page = html(f"Post {word(number)}", words(number + 1))
        judge.check(url=f"https://a.example/{number}", html=page)
    one, other = (
        (f"https://a.example/list/{n}", html("Archive", text))
        for n, text in enumerate(differing(0, count, share))
    )
    assert why(judge, one, other) == reason


@pytest.mark.parametrize(("title", "reason"), [("News", "similar_text"), ("", "site_unknown")])
def test_and_the_same_where_their_titles_are_not(title, reason):
    texts = enumerate(differing(0, 90, 0))
    one, other = (
        (f"https://a.example/{n}", html(title if n else "News", text)) for n, text in texts
    )
    assert why(detector(), one, other) == reason
    pointed = (other[0], one[1].replace("</p>", "!</p>").replace("News", title))
    assert why(detector(), one, pointed) == "similar_text"


def test_across_sites_they_need_not():
    texts = zip("ab", differing(0, 90), strict=True)
    pages = [(f"https://{site}.example/", html("Archive", text)) for site, text in texts]
    assert why(detector(), *pages) == "similar_text"


def test_a_thin_text_that_is_the_sites_boilerplate_says_nothing():
    rest = [f"<ul><li>{words(200 + n, 200)}</ul>" for n in range(12)]
    judge = detector()
    for number in range(8):
        page = html(f"Post {number} | Blog", NOTICE, rest[number])
        judge.check(url=f"https://a.example/{number}", html=page)
    one, other = (
        (f"https://a.example/list/{n}", html("Archive | Blog", NOTICE, rest[n])) for n in (10, 11)
    )
    assert why(judge, one, other) == "thin_text"
    assert verdicts(judge, one, other) == ["new", "undecided"]


@pytest.mark.parametrize(
    ("heading", "reason"), [("Zanzibar", "similar_text"), ("Samarkand", "values_differ")]
)
def test_a_heading_is_not_replaced_by_the_first_word_of_another_template(heading, reason):
    judge, text = detector(), words(3, 200)
    one, other = (
        judge.signature(
            url=f"https://a.example/{n}", text=f"{first}\n{text}", title="Zanzibar | Docs"
        )
        for n, first in enumerate((heading, "Oglethorpe"))
    )
    assert judge.rule.compare(one, other, judge.store.boilerplates).reason == reason


def test_a_heading_that_one_text_lacks_is_not_replaced_by_a_word_of_the_other():
    """A template adds a line, and the extractor leaves the heading out."""
    judge, text = detector(), "zanzibar " + " ".join(article(150, 3))
    one, other = (
        judge.signature(url=f"https://a.example/{n}", text=each, title="Zanzibar")
        for n, each in enumerate((f"Zanzibar\n{text}", f"{text}\nOglethorpe"))
    )
    assert judge.rule.compare(one, other, judge.store.boilerplates).reason == "similar_text"


def test_a_heading_counts_on_two_sites():
    """Two shops with one maker's description: the titles name the shops as well."""
    judge, text = detector(), " ".join(article(150, 3))
    wares = ("Oglethorpe Wardrobe Samarkand", "Farnsworth Bookcase Zanzibar")
    one, other = (
        judge.signature(url=f"https://{site}.example/", text=f"{ware}\n{text}", title=ware)
        for site, ware in zip("ab", wares, strict=True)
    )
    assert judge.rule.compare(one, other, judge.store.boilerplates).reason == "values_differ"


# --- forms ------------------------------------------------------------------------------


def form(*values: str) -> str:
    """A page of a form: the same 230 words, and these values in them."""
    text = article(230, 3)
    for place, value in enumerate(values):
        text.insert(20 * place + 10, value)
    return " ".join(text)


@pytest.mark.parametrize(
    ("sites", "one", "other", "reason"),
    [
        ("aa", "Farnsworth Zanzibar 4711", "Oglethorpe Samarkand 4812", "values_differ"),
        ("ab", "Farnsworth Zanzibar 4711", "Oglethorpe Samarkand 4812", "values_differ"),
        ("aa", "Farnsworth Zanzibar", "Farnsworth Zanzibar zebra okapi", "similar_text"),
        ("ab", "Farnsworth Zanzibar", "Farnsworth Zanzibar zebra okapi", "similar_text"),
        # another site has its own dates, and its own counters
        ("aa", "2024-05-03", "2024-06-04", "values_differ"),
        ("ab", "2024-05-03 1987", "2024-06-04 1988", "similar_text"),
        ("aa", "4,812", "9,377", "values_differ"),
        ("ab", "4,812", "9,377", "similar_text"),
        # names may be longer or shorter
        ("aa", "31 of 12 with 47", "29 of 14 with 48", "values_differ"),
        ("aa", "Farnsworth", "Oglethorpe-Samarkand", "values_differ"),
        # where one has a word of its own here and the other there, each replaces common ones
        ("aa", "Zanzibar the okapi", "with okapi zebra", "values_differ"),
        ("ab", "Zanzibar the okapi", "with okapi zebra", "similar_text"),
        # so does a common word another one, or a name
        ("aa", "three", "four", "values_differ"),
        ("aa", "Young", "Oglethorpe", "values_differ"),
        ("aa", "Young Farnsworth", "Oglethorpe Zanzibar", "values_differ"),
        ("ab", "Young", "Oglethorpe", "similar_text"),
        ("aa", "is allowed", "is not allowed", "values_differ"),
        ("aa", "Farnsworth 7 13", "Oglethorpe 13 5", "values_differ"),
    ],
)
def test_pages_of_a_form_are_not_copies(sites, one, other, reason):
    pages = [
        (f"https://{site}.example/{n}", html("Register", form(*values.split())))
        for n, (site, values) in enumerate(zip(sites, (one, other), strict=True))
    ]
    judge = detector()
    for n in range(10):
        judge.check(url=f"https://a.example/other/{n}", html=html(f"Post {word(n)}", words(n + 1)))
    assert why(judge, *pages) == reason


@pytest.mark.parametrize(
    ("one", "other"), [("Farnsworth", "Oglethorpe"), ("Farnsworth Zanzibar", "Zanzibar Farnsworth")]
)
def test_one_other_name_or_a_way_back_is_enough_on_one_site_only(one, other):
    texts = [form(*one.split()), form(*other.split())]
    judge = detector()
    for n in range(10):
        judge.check(url=f"https://a.example/other/{n}", html=html(f"Post {word(n)}", words(n + 1)))
    one, other, elsewhere = (
        (f"https://{site}.example/{n}", html("Register", texts[n]))
        for site, n in (("a", 0), ("a", 1), ("b", 1))
    )
    assert why(judge, one, other) == "values_differ"
    assert why(judge, one, elsewhere) == "similar_text"


def test_a_similarity_of_nothing_asks_for_no_values():
    judge = detector()
    judge.rule = Rule(min_similarity=0)
    one, other = (
        (f"https://{site}.example/", html("Register", form(*values.split())))
        for site, values in (("a", "Farnsworth Zanzibar 4711"), ("b", "Oglethorpe Samarkand 12"))
    )
    assert why(judge, one, other) == "similar_text"


# --- versions of a manual -----------------------------------------------------------------


def manual(
    judge: NearDupDetector, *sites: str, versions: tuple[str, str] = ("1.2", "2.4"), label: str = ""
) -> None:
    """Teach the names of a manual's versions."""
    for n, name in enumerate([f"{label}{name}" for name in ("History", "Kernels", "Widgets")]):
        for site, version in zip(sites, versions, strict=True):
            page = html(f"{name} — Handbook {version} documentation", words(50 + n))
            judge.check(url=f"https://{site}.example/{version}/{name}", html=page)
    for n in range(6):
        judge.check(url=f"https://a.example/{n}", html=html(f"Post {word(n)}", words(n + 1)))


def renamed(sites: str, one: str, other: str, *titles: str) -> list[tuple[str, str]]:
    """Two pages with 80 values, of which these differ, among 240 common words."""
    common = random.Random(5).choices(
        "the of and to in is that for it was with be on".split(), k=240
    )
    pages = []
    for n, (site, values, title) in enumerate(zip(sites, (one, other), titles, strict=True)):
        text, of_form = list(common), article(80, 8)
        for place, value in enumerate(values.split()):
            of_form[9 * place + 5] = value
        for place, value in enumerate(of_form):
            text.insert(4 * place, value)
        pages.append((f"https://{site}.example/{n}/magics", html(title, " ".join(text))))
    return pages


@pytest.mark.parametrize("sites", ["aa", "ab"])
@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Farnsworth Zanzibar Quimby", "Oglethorpe Samarkand Pettigrew", "similar_text"),
        # a number, and too many words
        ("Farnsworth Zanzibar 31 Quimby", "Oglethorpe Samarkand 29 Quimby", "values_differ"),
        (
            "Farnsworth Zanzibar Quimby Abernathy Kilimanjaro",
            "Oglethorpe Samarkand Pettigrew Winterbourne Popocatepetl",
            "values_differ",
        ),
    ],
)
def test_words_may_be_renamed_between_two_versions_of_a_manual(sites, one, other, reason):
    judge = detector()
    manual(judge, *sites)
    titles = [f"Using magics — Handbook {version} documentation" for version in ("1.2", "2.4")]
    assert why(judge, *renamed(sites, one, other, *titles)) == reason


@pytest.mark.parametrize(
    ("label", "reason"), [("Module", "similar_text"), ("Iron", "values_differ")]
)
def test_a_label_of_many_titles_may_stand_before_the_name_of_a_version(label, reason):
    judge = detector()
    manual(judge, "a", "a", label="Module: ")
    titles = f"{label}: Magics — Handbook 1.2 documentation", "Magics — Handbook 2.4 documentation"
    pages = renamed("aa", "Farnsworth Zanzibar Quimby", "Oglethorpe Samarkand Pettigrew", *titles)
    assert why(judge, *pages) == reason


@pytest.mark.parametrize(("changed", "reason"), [(1, "similar_text"), (8, "values_differ")])
def test_and_little_else_may_be_changed(changed, reason):
    judge = detector()
    manual(judge, "a", "b")
    titles = [f"Using magics — Handbook {version} documentation" for version in ("1.2", "2.4")]
    one, (url, page) = renamed(
        "ab", "Farnsworth Zanzibar Quimby", "Oglethorpe Samarkand Pettigrew", *titles
    )
    head, *tokens = page.split(" the ")
    parts = [head, *tokens[:changed]]
    other = " those ".join(parts) + " the " + " the ".join(tokens[changed:])
    assert why(judge, one, (url, other)) == reason


@pytest.mark.parametrize(
    ("titles", "taught"),
    [
        # one version; names of wares; no part of its own; the versions are not known to be ones
        (("Using magics — Handbook 1.2 documentation",) * 2, ("1.2", "2.4")),
        (("Using magics | Kettle X200", "Using magics | Kettle X300"), ("1.2", "2.4")),
        (("Handbook 1.2 documentation", "Handbook 2.4 documentation"), ("1.2", "2.4")),
        (("Using magics | Handbook 3.1", "Using magics | Handbook 3.2"), ("1.2", "2.4")),
    ],
)
def test_but_only_if_the_titles_say_so(titles, taught):
    judge = detector()
    manual(judge, "a", "b", versions=taught)
    pages = renamed("ab", "Farnsworth Zanzibar Quimby", "Oglethorpe Samarkand Pettigrew", *titles)
    assert why(judge, *pages) == "values_differ"


# --- lists and sizes --------------------------------------------------------------------

ENTRIES = f"<ul><li><a href=/1>{FERRY}</a><li><a href=/2>{MUSEUM}</a></ul>"


@pytest.mark.parametrize(
    ("paths", "rest", "reason"),
    [
        (("tags/boats/", "categories/coast/"), ("", ""), "same_list"),
        (("tags/boats/", "archives/2024/05/"), ("", ""), "same_list"),
        (("boats/", "coast/"), ("", ""), "title_differs"),
        (("tags/boats/", "tags/coast/"), ("<p>Another entry.</p>", ""), "title_differs"),
        (("tags/boats/", "tags/coast/"), ("<img src=1.jpg>", ""), "title_differs"),
        # what scripts may show is not shown yet
        (
            ("tags/boats/", "tags/coast/"),
            2 * (f'<script type="application/json">{{"a": "{words(3, 60)}"}}</script>',),
            "title_differs",
        ),
        # which a theme's settings do not, nor a sentence in them
        (
            ("tags/boats/", "categories/coast/"),
            2 * ('<script type="application/json">{"a": "Red kettles for two cups"}</script>',),
            "same_list",
        ),
        (
            ("tags/boats/", "categories/coast/"),
            2
            * (
                "<script>var Theme = window.Theme || {}; Theme.ctx = Object.assign({}, Theme.ctx)\n"
                'var SETTINGS = {"toc": {"enable": true, "placement": "right"}};\n'
                "let quiet = SETTINGS.toc</script>",
            ),
            "same_list",
        ),
    ],
)
def test_lists_of_the_same_entries_are_one_under_any_name(paths, rest, reason):
    one, other = (
        (f"https://a.example/{path}", html(title, NOTICE, f"{ENTRIES}{more}"))
        for path, title, more in zip(paths, ("Tag: boats", "Coast"), rest, strict=True)
    )
    assert why(detector(), one, other) == reason


HEADLINES = words(11, 14), words(12, 14)


def posts(*around: str, behind: str = "", order: int = 1) -> str:
    """The body of a list of two posts."""
    one, other = HEADLINES
    entries = f"<li><a href=/1>{one}</a>{behind}</li>", f"<li><a href=/2>{other}</a></li>"
    before, *after = around or ("",)
    return f"{before}<ul>{''.join(entries[::order])}</ul>{''.join(after)}"


ARCHIVE, TAG = "archives/2024/05/", "tags/kettles/"
TAGGED = "<h1>Posts about kettles</h1>"
OTHER_PAGES = '<a href="/{0}page/2">2</a> <a href="?page=3">3</a> <a href="/{0}9" rel=next>More</a>'


@pytest.mark.parametrize(
    ("paths", "bodies", "reason"),
    [
        # without a name, and with other pages of its own
        (
            (ARCHIVE, TAG),
            (
                posts("", OTHER_PAGES.format(ARCHIVE)),
                posts(TAGGED, OTHER_PAGES.format(TAG)),
            ),
            "same_list",
        ),
        # in another order, beside a link to a place in the page
        (
            (ARCHIVE, TAG),
            (
                posts("<p>Archives: 2024/05</p>"),
                posts("<p>Tag: <b>kettles</b></p><a href=#top></a>", order=-1),
            ),
            "same_list",
        ),
        # two months or none: wares below /category/, beside a box of links, or shown by scripts
        *(
            (paths, (posts("<h1>Archives: 2024/05</h1>"), posts(TAGGED)), "title_differs")
            for paths in (
                ("category/a/", "category/b/"),
                ("archives/2024/05/", "archives/2024/06/"),
                ("paris/town/archives/2024/", TAG),
                ("archives/", TAG),
            )
        ),
        # another entry, line, number, or name besides, and more in the place of the name
        *(
            ((ARCHIVE, TAG), (posts(), body), "title_differs")
            for body in (
                posts(TAGGED, "<p><a href=/3>Pans</a></p>"),
                posts(TAGGED, "<p><a href=/issue/page-1>12</a></p>"),
                posts(TAGGED, "<p><a href=/2?page=2>2</a></p>"),
                posts(TAGGED, behind=" <i>Sold out</i>"),
                posts("<h1>3 kettles</h1>"),
                posts("<h1>Kettles</h1><p>All kettles</p>"),
                posts("<h1>Kettles of Anna Berg</h1>"),
            )
        ),
    ],
)
def test_archives_list_the_same_entries_under_another_name(paths, bodies, reason):
    titles = ("Archives: 2024/05 | Blog", "Tag: kettles | Blog")
    one, other = (
        (f"https://a.example/{path}", html(title, " ".join(HEADLINES), body))
        for path, title, body in zip(paths, titles, bodies, strict=True)
    )
    assert why(detector(), one, other) == reason


def test_but_not_if_scripts_may_show_them():
    one, other = (
        (f"https://a.example/{path}", html(title, NOTICE, f"{body}{posts()}"))
        for path, title, body in ((ARCHIVE, "2024 | Blog", ""), (TAG, "Kettles | Blog", TAGGED))
    )
    assert why(detector(), one, other) == "title_differs"


@pytest.mark.parametrize(
    ("titles", "reason"),
    [
        (("Category: Boats", "Tag: Boats"), "similar_text"),
        (("分类: 渡船", "标签: 渡船"), "similar_text"),
        (("Category: Boats", "Tag: Coast"), "title_differs"),
        (("Category", "Tag"), "title_differs"),
    ],
)
def test_the_name_of_its_kind_does_not_tell_a_list_from_another(titles, reason):
    text = [words(1, 150), words(2, 150)]
    one, other = (
        (f"https://a.example/{path}/", html(title, f"\n{kind}\n".join(text), f"<p>{kind}</p>"))
        for path, title, kind in zip(("categories", "tags"), titles, ("分类", "标签"), strict=True)
    )
    assert why(detector(), one, other) == reason


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("https://{}.a.example/", "values_differ"),
        ("https://a.example/index.php?id={}", "values_differ"),
        ("https://a.example/tag/{}", "similar_text"),
    ],
)
def test_only_lists_of_one_host_have_numbers_of_pages(address, reason):
    pages = (
        (
            address.format(place),
            html("Hotel", f"{FERRY}\nWe have {n} rooms.\n{MUSEUM}"),
        )
        for place, n in (("x", 12), ("y", 17))
    )
    assert why(detector(), *pages) == reason


@pytest.mark.parametrize(
    ("paths", "entry", "reason"),
    [
        (("archives/2022", "archives/2022/04"), "Lu", "similar_text"),
        (("archives/2022", "archives/2022/04"), "Oglethorpe Pettigrew", "values_differ"),
        (("archives/2022", "ferries"), "Oglethorpe Pettigrew", "similar_text"),
    ],
)
@pytest.mark.parametrize("site", ["a", "b"])
@pytest.mark.parametrize("place", [0, 100, 300])
def test_a_list_that_has_one_entry_more_is_kept(paths, entry, reason, site, place):
    text = article(300, 5)
    one = f"https://a.example/{paths[0]}/", html("Ferry", " ".join(text))
    longer = " ".join([*text[:place], entry, *text[place:]])
    other = f"https://{site}.example/{paths[1]}/", html("Ferry", longer)
    assert why(detector(), one, other) == reason


@pytest.mark.parametrize(
    ("count", "rest", "reason"),
    [
        (300, "", "similar_text"),
        # a quarter more of text; twice as much of what is shown
        (375, "", "size_differs"),
        (300, f"<ul><li>{words(7, 300)}</ul>", "size_differs"),
    ],
)
def test_on_one_site_a_page_that_has_much_more_is_kept(count, rest, reason):
    text = article(375, 5)
    one = ("https://a.example/1", html("Ferry", " ".join(text[:300])))
    # What is more resembles by less already; so does the rest where three words of 100 are others.
    changed = " ".join(text[:count] if count > 300 else replaced(text[:count], 0.03))
    other = ("https://a.example/2", html("Ferry", changed, rest))
    assert why(detector(), one, other) == reason


@pytest.mark.parametrize(
    ("title", "note", "reason"),
    [
        ("Updates | Handbook 2.4 documentation", NEWER_VERSION, "similar_text"),
        ("Updates | Handbook 2.4 documentation", f"{NEWER_VERSION} Regardless!", "size_differs"),
        ("Print: Updates | Handbook 1.2 documentation", NEWER_VERSION, "size_differs"),
    ],
)
def test_a_version_of_a_manual_may_have_a_note_more(title, note, reason):
    text = " ".join(article(40, 5))
    one = "https://a.example/one", html("Updates | Handbook 1.2 documentation", text)
    other = "https://a.example/other", html(title, f"{note} {text}")
    judge = detector()
    manual(judge, "a", "a")
    assert why(judge, one, other) == reason


@pytest.mark.parametrize(("more", "reason"), [(20, "similar_text"), (85, "size_differs")])
def test_on_two_sites_a_text_that_is_much_longer_is_kept(more, reason):
    text = article(300 + more, 5)
    one = "https://a.example/1", html("Ferry", " ".join(text[:300]))
    other = "https://b.example/1", html("Ferry", " ".join(text))
    assert why(detector(), one, other) == reason


def test_a_post_is_not_a_copy_of_a_list_that_shows_it_first():
    post = ("https://a.example/post", html("Ferry", words(1, 500)))
    front = ("https://b.example/", html("Blog", words(1, 500), f"<ul><li>{words(2, 800)}</ul>"))
    assert why(detector(), post, front) == "size_differs"


@pytest.mark.parametrize(
    ("title", "changed", "reason"),
    [("Ferry", 1, "similar_text"), ("Other", 1, "text_differs"), ("Ferry", 0, "far")],
)
def test_texts_whose_values_agree_may_differ_more(title, changed, reason):
    # One word of three is a value. Nine common words are others, or nine values are.
    text = replaced(article(150, 5), 1)
    text[::3] = article(50, 6)
    edited = list(text)
    edited[changed::18] = ["those"] * 9 if changed else article(9, 7)
    pages = [
        (f"https://{site}.example/", html(name, " ".join(each)))
        for site, name, each in (("a", "Ferry", text), ("b", title, edited))
    ]
    assert why(detector(), *pages) == reason


@pytest.mark.parametrize(
    ("versions", "own", "reason"),
    [
        (("1.2", "3.0a1"), (40, 40), "text_differs"),
        # one version; only one has a passage of its own, that is not much longer
        (("1.2", "1.2"), (40, 40), "similar_text"),
        (("1.2", "3.0a1"), (60, 0), "similar_text"),
    ],
)
def test_versions_that_each_have_a_passage_of_their_own_are_kept(versions, own, reason):
    text = article(320, 9)
    pages = []
    for place, (version, count) in enumerate(zip(versions, own, strict=True)):
        at = 100 + 100 * place
        longer = " ".join([*text[:at], words(20 + place, count), *text[at:]])
        title = f"Using magics — Handbook {version} documentation"
        pages.append((f"https://{'ab'[place]}.example/1", html(title, longer)))
    assert why(detector(), *pages) == reason


# --- two sites --------------------------------------------------------------------------


def blog(site: str, name: str, seed: int, title: str = "") -> tuple[str, str]:
    rest = f"<ul><li>{words(seed, 200)}</ul>"
    return f"https://{site}.example/{name}", html(title or f"{name} | {site}", NOTICE, rest)


def test_a_notice_does_not_make_two_blogs_one():
    judge = detector()
    signature = judge.signature(url="https://a.example/", html=blog("a", "About", 1)[1])
    assert is_thin(signature)
    assert why(judge, blog("a", "Photos", 1), blog("b", "Links", 2)) == "thin_text"
    pages = [blog(site, f"Page{n}", n) for n, site in enumerate("abcdefgh")]
    assert verdicts(judge, *pages) == ["new", *["undecided"] * 7]


def test_a_thin_text_counts_where_the_titles_agree():
    one, other = (blog(site, "poem", n, f"A long way home | {site}") for n, site in enumerate("ab"))
    assert why(detector(), one, other) == "same_text"


@pytest.mark.parametrize(
    ("titles", "text", "reason"),
    [
        # The site's names are longer than what the titles share.
        (("Hello world | Kettles and pots", "Hello world | Ferries of the isle"), "", "same_text"),
        (("Photos | Kettles and pots", "Photos | Ferries of the isle"), "", "thin_text"),
        (("Kettles and pots | Hello world", "Ferries of the isle | Hello world"), "", "thin_text"),
        (
            ("Hello world | Kettles and pots", "Hello world | Ferries of the isle"),
            "Some more of the words of this site.",
            "thin_text",
        ),
    ],
)
def test_a_thin_text_counts_where_the_titles_begin_alike(titles, text, reason):
    one, other = (
        (f"https://{site}.example/1", html(title, NOTICE + more, f"<ul><li>{words(n, 200)}</ul>"))
        for n, (site, title, more) in enumerate(zip("ab", titles, ("", text), strict=True))
    )
    assert why(detector(), one, other) == reason


def test_unless_it_stands_under_several_titles_of_its_own_site():
    one, other = (blog(site, "about", n, "About us") for n, site in enumerate("ab"))
    judge = detector()
    assert why(judge, one, other) == "same_text"
    verdicts(judge, blog("a", "Photos", 7), blog("a", "Archive", 7))
    assert why(judge, one, other) == "thin_text"


def test_a_text_that_is_most_of_its_page_needs_no_title():
    one = ("https://a.example/1", html("Kettle", MUSEUM, "<ul><li>Home</ul>"))
    other = ("https://b.example/2", html("Wasserkocher", MUSEUM, "<ul><li>Start</ul>"))
    assert why(detector(), one, other) == "same_text"


# --- the texts themselves ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "other_text", "reason"),
    [
        (FERRY, MUSEUM, "far"),
        ("Closed on Mondays.", "Closed on Tuesdays.", "few_features"),
        (FERRY, FERRY.upper(), "same_text"),
        (FERRY, FERRY + " " + MUSEUM, "far"),
    ],
)
def test_texts(text, other_text, reason):
    one, other = (
        ("https://a.example/", html("", text)),
        ("https://b.example/", html("", other_text)),
    )
    assert why(detector(), one, other) == reason


def test_the_same_words_in_another_order_are_another_text():
    shuffled = " ".join(sorted(words(1).split()))
    one = ("https://a.example/", html("", words(1)))
    other = ("https://b.example/", html("", shuffled))
    assert why(detector(), one, other) == "text_differs"
