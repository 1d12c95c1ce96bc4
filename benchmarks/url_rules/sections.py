"""Draws the sections of a site from a seed: names, URLs, and the parts that have no effect.

A name that selects a page in one section may mean nothing in another: the number of a version
there is what keeps a cache from answering here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import count, pairwise, product
from random import Random

from ..corpora import made_up_texts
from .names import NAMES, VALUES
from .parts import (
    Address,
    Canonical,
    Content,
    Noise,
    Section,
    first_segment,
    host,
    last_segment,
    param,
    path_param,
    session_segment,
)

#: Items on a page of a list, versions of a document, pages of a thread.
_LISTED, _VERSIONS, _THREAD = 6, 3, 2
#: Pages of a site of which each section has some.
_LEAST = 200
#: What part of the pages each kind of section has; information pages fill up the rest.
_ARTICLES, _CATALOGUE, _MANUAL, _HELP, _FORUM = 0.15, 0.14, 0.1, 0.09, 0.06
#: Pages that are of no such kind: the front, months of a calendar, what asks who is there.
_SINGLE = 12
#: What part of the URLs is one empty month, one empty day, one request to sign in.
_MONTHS, _DAYS, _SIGN_IN = 0.03, 0.04, 0.025
_LANGUAGES = ("en", "zh")


class Sections:
    """The contents of a site, their URLs, and the links between them.

    :param pages: how many contents there are; at least 200.
    :param urls: how many URLs shall lead to them.
    :raises ValueError: when there are too few pages.
    """

    def __init__(self, seed: int, pages: int, urls: int) -> None:
        if pages < _LEAST:
            raise ValueError(f"{pages} pages do not make a site; {_LEAST} do")
        self._random = Random(f"sections of {seed}")
        self._names = {kind: self._shuffled(names.split()) for kind, names in NAMES.items()}
        self._pages, self._urls = pages, urls
        self.domain = f"{self._name('syllable')}-{self._name('syllable')}.example"
        self._label = self._random.choice(("", "www"))
        self._shared = self._noises_everywhere()
        self.contents: list[Content] = []
        self.front = self._content("front", self._section("front", []), self._address(), "en")
        self._make()

    # --- drawing ----------------------------------------------------------------------------

    def _shuffled(self, names: list[str]) -> list[str]:
        return self._random.sample(names, len(names))

    def _name(self, kind: str) -> str:
        """A name that nothing else of this kind has."""
        return self._names[kind].pop()

    def _flip(self) -> bool:
        return self._random.random() < 0.5

    def _noises_everywhere(self) -> list[Noise]:
        other = "" if self._label else "www"
        return [
            host(other, self._label),
            host("m", self._label),
            param(self._name("session"), often=3),
            param(self._name("tracking"), often=1),
            param(self._name("tracking"), VALUES["tracking"], often=1),
        ]

    def _noises_of_items(self) -> list[Noise]:
        """Return the URL parts without effect in one section: a print view and some others."""
        print_name, amp = self._names["print"][0], self._names["amp"][0]
        printed = [
            first_segment(print_name),
            last_segment(print_name),
            param(print_name, ("1",), "bare"),
        ]
        lite = [first_segment(amp), last_segment(amp), param(amp, ("1",), "bare")]
        session = [path_param(self._names["path session"][0]), session_segment()]
        ends = [last_segment("", "same"), last_segment("index.html", "same")]
        others = [self._random.choice(kind) for kind in (lite, session, ends)]
        return [self._random.choice(printed), *self._random.sample(others, 2)]

    def _noises_of_lists(self) -> list[Noise]:
        return [
            param(self._names["sort"][0], VALUES["sort"], "shuffled", often=5),
            param(self._names["view"][0], VALUES["view"], often=3),
            last_segment("", "same", often=1),
        ]

    def _section(self, name: str, items: list[Noise], lists: list[Noise] | None = None) -> Section:
        return Section(name, [*self._shared, *items], [*self._shared, *(lists or [])])

    def is_everywhere(self, noise: Noise) -> bool:
        """Whether the part has no effect on the whole site."""
        return noise in self._shared

    def _slug(self) -> str:
        words = [made_up_texts.word(self._random.randrange(70, 5000)) for _ in range(3)]
        return "-".join(words)

    # --- contents ---------------------------------------------------------------------------

    def _address(self, *segments: str, label: str | None = None) -> Address:
        return Address(segments, self._label if label is None else label)

    def _content(
        self,
        name: str,
        section: Section,
        address: Address,
        language: str,
        shown: Sequence[Content] = (),
    ) -> Content:
        content = Content(name, len(self.contents), section, address, language, shown=[*shown])
        self.contents.append(content)
        return content

    def _budget(self, share: float) -> int:
        return int((self._pages - _SINGLE) * share)

    def _make(self) -> None:
        # Names that select here and mean nothing there.
        version, language, ident = (self._names[kind][0] for kind in ("version", "language", "id"))
        page = self._names["page"][0]
        elsewhere = [
            [param(version, VALUES["version"]), param(ident)],
            [param(language, VALUES["language"]), param(page, VALUES["page"])],
            [param(ident), param(page, VALUES["page"]), param(language, VALUES["language"])],
        ]
        self._random.shuffle(elsewhere)
        right: Canonical = "right" if self._flip() else "none"
        self._articles(elsewhere[0], right)
        self._articles(elsewhere[1], "front")
        self._articles(elsewhere[2], "none", always=param(self._name("session")))
        self._catalogue([param(version, VALUES["version"])], paths=False)
        self._catalogue([param(language, VALUES["language"])], paths=True)
        self._manual([param(page, VALUES["page"])])
        self._help([param(ident)])
        self._forum()
        self._calendar()
        self._sign_in()
        self._information()
        for content in self.contents[1:]:
            content.targets.append(self.front)

    def _articles(
        self, more: list[Noise], canonical: Canonical, always: Noise | None = None
    ) -> None:
        """Articles under a path of one of three forms."""
        section = self._section(
            self._name("articles"),
            [*self._noises_of_items(), *more],
            self._noises_of_lists(),
        )
        section.canonical, section.always = canonical, always
        form = self._random.randrange(3)

        def address(number: int) -> Address:
            if form == 0:
                return self._address(section.name, self._slug())
            if form == 1:
                day = date(2024, 1, 1) + timedelta(days=number)
                slug = f"{number}-{self._slug()}"
                return self._address(section.name, f"{day.year}", f"{day.month:02}", slug)
            return self._address(section.name, f"{self._slug()}-{1000 + number}")

        language = self._random.choice(_LANGUAGES)
        made = [
            self._content(f"{section.name}/{number}", section, address(number), language)
            for number in range(_listable(self._budget(_ARTICLES)))
        ]
        self._lists(section, made, self._address(section.name))

    def _lists(self, section: Section, items: list[Content], plain: Address) -> list[Content]:
        """Pages of a list of all items, told apart by a page's number or by the first item's."""
        by_page = self._flip()
        name = self._names["page" if by_page else "start"][0]
        step, first = (1, 1) if by_page else (_LISTED, 0)
        lists: list[Content] = []
        for place in range(0, len(items), _LISTED):
            value = str(first + place // _LISTED * step)
            made = self._content(
                f"{section.name}/list/{place}",
                section,
                plain.having(name, value) if place else plain,
                items[0].language,
                items[place : place + _LISTED],
            )
            if not place:
                made.aliases.append(plain.having(name, value))
            lists.append(made)
        for one, other in pairwise(lists):
            one.targets.append(other)
            other.targets.append(one)
        for item in items:
            item.targets += [*self._random.sample(items, min(3, len(items))), lists[0]]
        for made in lists:
            made.targets += made.shown
        self.front.targets.append(lists[0])
        return lists

    def _catalogue(self, more: list[Noise], *, paths: bool) -> None:
        """Things by their number, and lists of those that have one or two qualities.

        :param paths: are the qualities segments of the path, in any order?
        """
        idle = param(self._name("idle facet"), VALUES["idle facet"], often=4)
        section = self._section(
            self._name("catalogue"),
            [*self._noises_of_items(), *more],
            [*self._noises_of_lists(), idle],
        )
        budget = self._budget(_CATALOGUE)
        values = self._shuffled(VALUES["facet"])
        one, other = (5, 4) if budget > 100 else (2, 2)
        facets = [
            (self._name("facet"), values[:one]),
            (self._name("facet"), values[one : one + other]),
        ]
        chosen = list(_choices(facets))
        budget -= len(chosen)
        ident = self._names["id"][1 if paths else 0]
        language = self._random.choice(_LANGUAGES)
        items = [
            self._content(
                f"{section.name}/{number}",
                section,
                self._address(section.name, "item").having(ident, str(number)),
                language,
            )
            for number in range(1, 1 + _listable(budget))
        ]
        plain = self._address(section.name)
        lists = self._lists(section, items, plain)
        first = lists[0]
        for choice in chosen:
            address, *aliases = _selecting(plain, choice, paths=paths)
            name = "/".join((section.name, *(value for _, value in choice)))
            made = self._content(name, section, address, language, self._unlike(lists, items))
            made.aliases += aliases
            made.targets.append(first)
            first.targets.append(made)
            lists.append(made)

    def _unlike(self, lists: list[Content], items: list[Content]) -> list[Content]:
        """Items that no list shows most of."""
        while True:
            drawn = self._random.sample(items, _LISTED)
            if all(len({*drawn}.intersection(made.shown)) <= _LISTED // 2 for made in lists):
                return drawn

    def _manual(self, more: list[Noise]) -> None:
        """Documents in versions; without a version it is the newest."""
        section = self._section(
            self._name("manual"), [*self._noises_of_items(), *more], self._noises_of_lists()
        )
        section.canonical = "right"
        name, language = self._names["version"][0], self._random.choice(_LANGUAGES)
        newest = []
        for number in range(_listable(self._budget(_MANUAL), _VERSIONS)):
            plain = self._address(section.name, self._slug())
            made = [
                self._content(
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
        self._lists(section, newest, self._address(section.name))

    def _help(self, more: list[Noise]) -> None:
        """Pages in two languages; the first is what comes without a word of it."""
        section = self._section(
            self._name("help"), [*self._noises_of_items(), *more], self._noises_of_lists()
        )
        section.canonical = "right"
        name = self._names["language"][0]
        first, second = self._shuffled([*_LANGUAGES])
        originals = []
        for number in range(_listable(self._budget(_HELP), len(_LANGUAGES))):
            plain = self._address(section.name, self._slug())
            original = self._content(f"{section.name}/{number}/{first}", section, plain, first)
            original.aliases.append(plain.having(name, first))
            other = plain.having(name, second)
            translated = self._content(f"{section.name}/{number}/{second}", section, other, second)
            both = {first: original, second: translated}
            original.alternates = translated.alternates = both
            _link_all([original, translated])
            originals.append(original)
        self._lists(section, originals, self._address(section.name))

    def _forum(self) -> None:
        """Threads of some pages, on a host that is no other name of the site's."""
        label = self._name("forum")
        section = self._section(label, self._noises_of_items(), self._noises_of_lists())
        name, language = self._names["page"][0], self._random.choice(_LANGUAGES)
        threads = []
        for number in range(_listable(self._budget(_FORUM), _THREAD)):
            plain = self._address("thread", str(300 + number), label=label)
            made = [
                self._content(
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
        self._lists(section, threads, self._address(self._names["list"][0], label=label))

    def _calendar(self) -> None:
        """Some months with events, and then empty ones without end, and empty days."""
        name, now = self._name("calendar"), date(2026, 11, 1)
        section, bare = self._section(name, []), Section(name, [])
        by_path = self._flip()

        def address(day: str) -> Address:
            if by_path:
                return self._address(name, *day.split("-"))
            return self._address(name).having("date", day)

        months = (f"{now.year + (10 + n) // 12}-{(10 + n) % 12 + 1:02}" for n in count())
        days = ((now + timedelta(days=n)).isoformat() for n in count())
        articles = [content for content in self.contents[1:] if not content.shown]
        with_events = []
        for month in range(self._random.randint(4, 7)):
            shown = self._random.sample(articles, 5)
            events = self._content(f"{name}/{month}", section, address(next(months)), "en", shown)
            events.targets += shown[:2]
            with_events.append(events)
        empty_month = self._content(f"{name}/no month", bare, address(next(months)), "en")
        empty_day = self._content(f"{name}/no day", bare, address(next(days)), "en")
        for content, dates, share in (
            (empty_month, months, _MONTHS),
            (empty_day, days, _DAYS),
        ):
            content.aliases = [address(next(dates)) for _ in range(int(self._urls * share))]
        for one, other in zip(with_events, [*with_events[1:], empty_month], strict=True):
            one.targets += [empty_day, other]
        empty_month.targets.append(empty_day)
        self.front.targets.append(with_events[0])

    def _sign_in(self) -> None:
        """Add a login page, whose URLs name the pages that were requested."""
        name = self._name("sign in")
        page = self._content(name, Section(name, []), self._address(name), "en")
        back = self._random.choice(("next", "return", "back"))
        wanted = self._random.sample(
            self.contents, min(len(self.contents), int(self._urls * _SIGN_IN))
        )
        page.aliases = [
            page.address.having(back, "/" + "/".join((*content.address.segments, str(n))))
            for n, content in enumerate(wanted)
        ]
        for content in self.contents:
            if self._random.random() < 0.3:
                content.targets.append(page)

    def _information(self) -> None:
        """Single pages, as many as are missing."""
        section = self._section("about", self._noises_of_items())
        section.canonical = "right"
        for number in range(self._pages - len(self.contents)):
            language = self._random.choice(_LANGUAGES)
            address = self._address("about", self._slug())
            page = self._content(f"about/{number}", section, address, language)
            self.front.targets.append(page)


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


def _listable(budget: int, pages: int = 1) -> int:
    """Return how many items of so many pages each, with their lists, fit into a budget."""
    return budget * _LISTED // (pages * _LISTED + 1)


def _link_all(contents: list[Content]) -> None:
    for content in contents:
        content.targets += [other for other in contents if other is not content]
