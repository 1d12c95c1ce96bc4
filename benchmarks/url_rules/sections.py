"""Draws the sections of a site from a seed: what contents they have, and at which URLs.

A name that selects a page in one section may mean nothing in another: the number of a version
there is what keeps a cache from answering here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from itertools import count, product

from .drafts import LISTED, SiteDraft, listable
from .names import VALUES
from .parts import Address, Canonical, Content, Noise, Section, param

#: Versions of a document, pages of a thread.
_VERSIONS, _THREAD = 3, 2
#: What part of the pages each kind of section has; information pages fill up the rest.
_ARTICLES, _CATALOGUE, _MANUAL, _HELP, _FORUM = 0.15, 0.14, 0.1, 0.09, 0.06
#: What part of the URLs is one empty month, one empty day, one request to sign in.
_MONTHS, _DAYS, _SIGN_IN = 0.03, 0.04, 0.025
_LANGUAGES = ("en", "zh")


def draft_site(seed: int, pages: int, urls: int) -> SiteDraft:
    """Draft a site: its contents, their URLs, and the links between them.

    :param pages: how many contents there are; at least 200.
    :param urls: how many URLs shall lead to them.
    :raises ValueError: when there are too few pages.
    """
    draft = SiteDraft(seed, pages, urls)
    # Names that select here and mean nothing there.
    version, language, ident = (draft.names[kind][0] for kind in ("version", "language", "id"))
    page = draft.names["page"][0]
    elsewhere = [
        [param(version, VALUES["version"]), param(ident)],
        [param(language, VALUES["language"]), param(page, VALUES["page"])],
        [param(ident), param(page, VALUES["page"]), param(language, VALUES["language"])],
    ]
    draft.random.shuffle(elsewhere)
    right: Canonical = "right" if draft.flip() else "none"
    _articles(draft, elsewhere[0], right)
    _articles(draft, elsewhere[1], "front")
    _articles(draft, elsewhere[2], "none", always=param(draft.name("session")))
    _catalogue(draft, [param(version, VALUES["version"])], paths=False)
    _catalogue(draft, [param(language, VALUES["language"])], paths=True)
    _manual(draft, [param(page, VALUES["page"])])
    _help(draft, [param(ident)])
    _forum(draft)
    _calendar(draft)
    _sign_in(draft)
    _information(draft)
    for content in draft.contents[1:]:
        content.targets.append(draft.front)
    return draft


def _articles(
    draft: SiteDraft, more: list[Noise], canonical: Canonical, always: Noise | None = None
) -> None:
    """Articles under a path of one of three forms."""
    section = draft.section(
        draft.name("articles"),
        [*draft.noises_of_items(), *more],
        draft.noises_of_lists(),
    )
    section.canonical, section.always = canonical, always
    form = draft.random.randrange(3)

    def address(number: int) -> Address:
        if form == 0:
            return draft.address(section.name, draft.slug())
        if form == 1:
            day = date(2024, 1, 1) + timedelta(days=number)
            slug = f"{number}-{draft.slug()}"
            return draft.address(section.name, f"{day.year}", f"{day.month:02}", slug)
        return draft.address(section.name, f"{draft.slug()}-{1000 + number}")

    language = draft.random.choice(_LANGUAGES)
    made = [
        draft.content(f"{section.name}/{number}", section, address(number), language)
        for number in range(listable(draft.budget(_ARTICLES)))
    ]
    draft.lists(section, made, draft.address(section.name))


def _catalogue(draft: SiteDraft, more: list[Noise], *, paths: bool) -> None:
    """Things by their number, and lists of those that have one or two qualities.

    :param paths: whether the qualities are segments of the path, in any order.
    """
    idle = param(draft.name("idle facet"), VALUES["idle facet"], often=4)
    section = draft.section(
        draft.name("catalogue"),
        [*draft.noises_of_items(), *more],
        [*draft.noises_of_lists(), idle],
    )
    budget = draft.budget(_CATALOGUE)
    values = draft.shuffled(VALUES["facet"])
    one, other = (5, 4) if budget > 100 else (2, 2)
    facets = [
        (draft.name("facet"), values[:one]),
        (draft.name("facet"), values[one : one + other]),
    ]
    chosen = list(_choices(facets))
    budget -= len(chosen)
    ident = draft.names["id"][1 if paths else 0]
    language = draft.random.choice(_LANGUAGES)
    items = [
        draft.content(
            f"{section.name}/{number}",
            section,
            draft.address(section.name, "item").having(ident, str(number)),
            language,
        )
        for number in range(1, 1 + listable(budget))
    ]
    plain = draft.address(section.name)
    lists = draft.lists(section, items, plain)
    first = lists[0]
    for choice in chosen:
        address, *aliases = _selecting(plain, choice, paths=paths)
        name = "/".join((section.name, *(value for _, value in choice)))
        made = draft.content(name, section, address, language, _unlike(draft, lists, items))
        made.aliases += aliases
        made.targets.append(first)
        first.targets.append(made)
        lists.append(made)


def _unlike(draft: SiteDraft, lists: list[Content], items: list[Content]) -> list[Content]:
    """Items that no list shows most of."""
    while True:
        drawn = draft.random.sample(items, LISTED)
        if all(len({*drawn}.intersection(made.shown)) <= LISTED // 2 for made in lists):
            return drawn


def _manual(draft: SiteDraft, more: list[Noise]) -> None:
    """Documents in versions; without a version it is the newest."""
    section = draft.section(
        draft.name("manual"), [*draft.noises_of_items(), *more], draft.noises_of_lists()
    )
    section.canonical = "right"
    name, language = draft.names["version"][0], draft.random.choice(_LANGUAGES)
    newest = []
    for number in range(listable(draft.budget(_MANUAL), _VERSIONS)):
        plain = draft.address(section.name, draft.slug())
        made = [
            draft.content(
                f"{section.name}/{number}/{version}",
                section,
                plain if version == _VERSIONS else plain.having(name, str(version)),
                language,
            )
            for version in range(1, _VERSIONS + 1)
        ]
        made[-1].aliases.append(plain.having(name, str(_VERSIONS)))
        _link_all(made)
        newest.append(made[-1])
    draft.lists(section, newest, draft.address(section.name))


def _help(draft: SiteDraft, more: list[Noise]) -> None:
    """Pages in two languages; the first is what comes without a word of it."""
    section = draft.section(
        draft.name("help"), [*draft.noises_of_items(), *more], draft.noises_of_lists()
    )
    section.canonical = "right"
    name = draft.names["language"][0]
    first, second = draft.shuffled([*_LANGUAGES])
    originals = []
    for number in range(listable(draft.budget(_HELP), len(_LANGUAGES))):
        plain = draft.address(section.name, draft.slug())
        original = draft.content(f"{section.name}/{number}/{first}", section, plain, first)
        original.aliases.append(plain.having(name, first))
        other = plain.having(name, second)
        translated = draft.content(f"{section.name}/{number}/{second}", section, other, second)
        both = {first: original, second: translated}
        original.alternates = translated.alternates = both
        _link_all([original, translated])
        originals.append(original)
    draft.lists(section, originals, draft.address(section.name))


def _forum(draft: SiteDraft) -> None:
    """Threads of some pages, on a host that is no other name of the site's."""
    label = draft.name("forum")
    section = draft.section(label, draft.noises_of_items(), draft.noises_of_lists())
    name, language = draft.names["page"][0], draft.random.choice(_LANGUAGES)
    threads = []
    for number in range(listable(draft.budget(_FORUM), _THREAD)):
        plain = draft.address("thread", str(300 + number), label=label)
        made = [
            draft.content(
                f"{label}/{number}/{page}",
                section,
                plain if page == 1 else plain.having(name, str(page)),
                language,
            )
            for page in range(1, _THREAD + 1)
        ]
        made[0].aliases.append(plain.having(name, "1"))
        _link_all(made)
        threads.append(made[0])
    draft.lists(section, threads, draft.address(draft.names["list"][0], label=label))


def _calendar(draft: SiteDraft) -> None:
    """Some months with events, and then empty ones without end, and empty days."""
    name, now = draft.name("calendar"), date(2026, 11, 1)
    section, bare = draft.section(name, []), Section(name, [])
    by_path = draft.flip()

    def address(day: str) -> Address:
        if by_path:
            return draft.address(name, *day.split("-"))
        return draft.address(name).having("date", day)

    months = (f"{now.year + (10 + n) // 12}-{(10 + n) % 12 + 1:02}" for n in count())
    days = ((now + timedelta(days=n)).isoformat() for n in count())
    articles = [content for content in draft.contents[1:] if not content.shown]
    with_events = []
    for month in range(draft.random.randint(4, 7)):
        shown = draft.random.sample(articles, 5)
        events = draft.content(f"{name}/{month}", section, address(next(months)), "en", shown)
        events.targets += shown[:2]
        with_events.append(events)
    empty_month = draft.content(f"{name}/no month", bare, address(next(months)), "en")
    empty_day = draft.content(f"{name}/no day", bare, address(next(days)), "en")
    for content, dates, share in (
        (empty_month, months, _MONTHS),
        (empty_day, days, _DAYS),
    ):
        content.aliases = [address(next(dates)) for _ in range(int(draft.urls * share))]
    for one, other in zip(with_events, [*with_events[1:], empty_month], strict=True):
        one.targets += [empty_day, other]
    empty_month.targets.append(empty_day)
    draft.front.targets.append(with_events[0])


def _sign_in(draft: SiteDraft) -> None:
    """Add a login page, whose URLs name the pages that were requested."""
    name = draft.name("sign in")
    page = draft.content(name, Section(name, []), draft.address(name), "en")
    back = draft.random.choice(("next", "return", "back"))
    wanted = draft.random.sample(
        draft.contents, min(len(draft.contents), int(draft.urls * _SIGN_IN))
    )
    page.aliases = [
        page.address.having(back, "/" + "/".join((*content.address.segments, str(n))))
        for n, content in enumerate(wanted)
    ]
    for content in draft.contents:
        if draft.random.random() < 0.3:
            content.targets.append(page)


def _information(draft: SiteDraft) -> None:
    """Single pages, as many as are missing."""
    section = draft.section("about", draft.noises_of_items())
    section.canonical = "right"
    for number in range(draft.pages - len(draft.contents)):
        language = draft.random.choice(_LANGUAGES)
        address = draft.address("about", draft.slug())
        page = draft.content(f"about/{number}", section, address, language)
        draft.front.targets.append(page)


def _choices(facets: list[tuple[str, list[str]]]) -> Iterator[list[tuple[str, str]]]:
    """Yield single qualities, and pairs of qualities of different kinds."""
    for name, values in facets:
        for value in values:
            yield [(name, value)]
    (one, values), (other, other_values) = facets
    for value, other_value in product(values, other_values):
        yield [(one, value), (other, other_value)]


def _selecting(plain: Address, choice: list[tuple[str, str]], *, paths: bool) -> list[Address]:
    """Return the URLs of the list with these qualities: one query, or each order of segments."""
    if not paths:
        return [replace(plain, query=tuple(choice))]
    orders = [choice, choice[::-1]] if len(choice) > 1 else [choice]
    return [
        replace(plain, segments=(*plain.segments, *(f"{name}-{value}" for name, value in order)))
        for order in orders
    ]


def _link_all(contents: list[Content]) -> None:
    for content in contents:
        content.targets += [other for other in contents if other is not content]
