"""Drafts a site from a seed: names, parts of URLs that have no effect, contents and their lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from ..corpora import made_up_texts
from .names import NAMES, VALUES
from .parts import (
    Address,
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

#: Items on a page of a list.
LISTED = 6
#: Pages of a site of which each section has some.
_LEAST = 200
#: Pages that are of no kind: the front, months of a calendar, what asks who is there.
_SINGLE = 12


class SiteDraft:
    """A site in the making, to which sections add their contents.

    :param pages: how many contents there shall be; at least 200.
    :param urls: how many URLs shall lead to them.
    :raises ValueError: when there are too few pages.
    :ivar names: of each kind, in an order of this site; :meth:`name` takes one out.
    :ivar label: the first label of the site's own host name.
    :ivar front: the first content.
    """

    def __init__(self, seed: int, pages: int, urls: int) -> None:
        if pages < _LEAST:
            raise ValueError(f"{pages} pages do not make a site; {_LEAST} do")
        self.random = Random(f"sections of {seed}")
        self.names = {kind: self.shuffled(names.split()) for kind, names in NAMES.items()}
        self.pages, self.urls = pages, urls
        self.domain = f"{self.name('syllable')}-{self.name('syllable')}.example"
        self.label = self.random.choice(("", "www"))
        self._shared = self._noises_everywhere()
        self.contents: list[Content] = []
        self.front = self.content("front", self.section("front", []), self.address(), "en")

    def shuffled(self, names: list[str]) -> list[str]:
        return self.random.sample(names, len(names))

    def name(self, kind: str) -> str:
        """A name that nothing else of this kind has."""
        return self.names[kind].pop()

    def flip(self) -> bool:
        return self.random.random() < 0.5

    def _noises_everywhere(self) -> list[Noise]:
        other = "" if self.label else "www"
        return [
            host(other, self.label),
            host("m", self.label),
            param(self.name("session"), often=3),
            param(self.name("tracking"), often=1),
            param(self.name("tracking"), VALUES["tracking"], often=1),
        ]

    def noises_of_items(self) -> list[Noise]:
        """Return the URL parts without effect in one section: a print view and some others."""
        print_name, amp = self.names["print"][0], self.names["amp"][0]
        printed = [
            first_segment(print_name),
            last_segment(print_name),
            param(print_name, ("1",), "bare"),
        ]
        lite = [first_segment(amp), last_segment(amp), param(amp, ("1",), "bare")]
        session = [path_param(self.names["path session"][0]), session_segment()]
        ends = [last_segment("", "same"), last_segment("index.html", "same")]
        others = [self.random.choice(kind) for kind in (lite, session, ends)]
        return [self.random.choice(printed), *self.random.sample(others, 2)]

    def noises_of_lists(self) -> list[Noise]:
        return [
            param(self.names["sort"][0], VALUES["sort"], "shuffled", often=5),
            param(self.names["view"][0], VALUES["view"], often=3),
            last_segment("", "same", often=1),
        ]

    def section(self, name: str, items: list[Noise], lists: list[Noise] | None = None) -> Section:
        return Section(name, [*self._shared, *items], [*self._shared, *(lists or [])])

    def is_everywhere(self, noise: Noise) -> bool:
        """Whether the part has no effect on the whole site."""
        return noise in self._shared

    def slug(self) -> str:
        words = [made_up_texts.word(self.random.randrange(70, 5000)) for _ in range(3)]
        return "-".join(words)

    def address(self, *segments: str, label: str | None = None) -> Address:
        return Address(segments, self.label if label is None else label)

    def content(
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

    def budget(self, share: float) -> int:
        return int((self.pages - _SINGLE) * share)

    def lists(self, section: Section, items: list[Content], plain: Address) -> list[Content]:
        """Pages of a list of all items, told apart by a page's number or by the first item's."""
        by_page = self.flip()
        name = self.names["page" if by_page else "start"][0]
        step, first = (1, 1) if by_page else (LISTED, 0)
        lists: list[Content] = []
        for place in range(0, len(items), LISTED):
            value = str(first + place // LISTED * step)
            made = self.content(
                f"{section.name}/list/{place}",
                section,
                plain.having(name, value) if place else plain,
                items[0].language,
                items[place : place + LISTED],
            )
            if not place:
                made.aliases.append(plain.having(name, value))
            lists.append(made)
        for one, other in pairwise(lists):
            one.targets.append(other)
            other.targets.append(one)
        for item in items:
            item.targets += [*self.random.sample(items, min(3, len(items))), lists[0]]
        for made in lists:
            made.targets += made.shown
        self.front.targets.append(lists[0])
        return lists


def listable(budget: int, pages: int = 1) -> int:
    """Return how many items of so many pages each, with their lists, fit into a budget."""
    return budget * LISTED // (pages * LISTED + 1)
