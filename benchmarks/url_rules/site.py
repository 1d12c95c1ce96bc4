"""A generated site that knows which of its URLs lead to one content.

Some 2,000 contents stand behind 20,000 URLs, to all of which the site's own links lead. All is
drawn from a seed: names of parameters and paths, which of them select a page, and where. Copies
of a page differ as they do on real sites: a counter, a date, other links, another order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from urllib.parse import parse_qs, urlsplit

from w3lib.url import canonicalize_url

from .drafts import SiteDraft
from .parts import Address, Content, Look, Noise, Section
from .sections import draft_site

#: Parts that are added to an address for nothing: how many, and how often so many.
_PARTS, _PARTS_OFTEN = (1, 2, 3), (6, 3, 1)
#: What part of all contents comes with a change, and how many sections change.
_LATER, _CHANGING = 0.05, 2
#: URLs of each content that comes later, besides its own.
_LATER_COPIES = 2
#: Links on a page of the entrance to what comes later.
_ENTRANCE = 20


@dataclass(frozen=True, slots=True)
class Found:
    """The content at a URL.

    :ivar place: which of the content's URLs it is.
    """

    content: Content
    place: int
    look: Look


class UrlSite:
    """A site.

    :param pages: how many contents there are, at least 200.
    :param urls: how many URLs lead to them, at least three times as many.
    :param changes: whether some parameters that meant nothing select other pages one day.
    :ivar later: the contents that there are only from that day on, reachable then.
    """

    def __init__(
        self, seed: int, pages: int = 2000, urls: int = 20_000, *, changes: bool = False
    ) -> None:
        self._random = Random(f"URLs of {seed}")
        self.seed = seed
        draft = draft_site(seed, pages, urls)
        self.domain, self.front = draft.domain, draft.front
        self.contents = draft.contents
        self._found: dict[str, Found] = {}
        self._fill(urls)
        self.later: list[Content] = []
        self._selected: list[Content] = []
        self._later_found: dict[str, Found] = {}
        #: Parameters that will select.
        self._changing: dict[Section, str] = {}
        if changes:
            self._change(draft)

    @property
    def start_url(self) -> str:
        return self.front.urls[0]

    @property
    def urls(self) -> list[str]:
        """Return the URLs of the site as they are linked."""
        return [url for content in self.contents for url in content.urls]

    def find(self, url: str, *, changed: bool = False) -> Found | None:
        """Return the content at a URL, before the change or after it."""
        key = canonicalize_url(url)
        if changed:
            if found := self._later_found.get(key):
                return found
            found = self._found.get(key)
            if found and self._selects(found.content, url):
                return Found(self._later_of(key), 0, found.look)
        return self._found.get(key)

    def links(self, found: Found, *, changed: bool = False) -> list[str]:
        """Return the links of a page: other URLs of its own content, and other contents."""
        content, urls = found.content, found.content.urls
        at = found.place
        random = Random(f"{self.seed} {content.number} {at}")
        own = {at - 1, at + 1, random.randrange(len(urls))}
        links = [urls[place % len(urls)] for place in sorted(own) if place % len(urls) != at]
        for target in content.targets:
            links += self._links_to(target, random, changed=changed)
        if changed and self.later:
            links.append(self.later[0].urls[0])
        return list(dict.fromkeys(links))

    def _links_to(self, target: Content, random: Random, *, changed: bool) -> Iterator[str]:
        usable = target.urls
        if target.section in self._changing and target.number < len(self.contents):
            # What there is has to be found after the change as well.
            yield target.urls[0]
            if changed:
                usable = [url for url in usable if not self._selects(target, url)]
        yield random.choice(usable)

    # --- the URLs ---------------------------------------------------------------------------

    def _fill(self, urls: int) -> None:
        """Add to addresses what means nothing, until there are so many URLs."""
        for content in self.contents:
            for address in (content.address, *content.aliases):
                self._add(content, self._with_always(content, address))
        noisy = [content for content in self.contents if content.noises]
        while len(self._found) < urls:
            content = self._random.choice(noisy)
            self._add(content, *self._noised(content))

    def _with_always(self, content: Content, address: Address) -> Address:
        always = None if content.shown else content.section.always
        return always.add(address, self._random) if always else address

    def _noised(self, content: Content) -> tuple[Address, Look]:
        address = self._random.choice([content.address, *content.aliases])
        look: Look = "same"
        [parts] = self._random.choices(_PARTS, _PARTS_OFTEN)
        for noise in _draw(content.noises, parts, self._random):
            changed = noise.add(address, self._random)
            if changed != address and noise.look != "same":
                look = noise.look
            address = changed
        return self._with_always(content, address), look

    def _add(self, content: Content, address: Address, look: Look = "same") -> None:
        url = address.url(self.domain)
        key = canonicalize_url(url)
        if key not in self._found:
            self._found[key] = Found(content, len(content.urls), look)
            content.urls.append(url)

    # --- the change -------------------------------------------------------------------------

    def _change(self, draft: SiteDraft) -> None:
        """Choose parameters that will select, and make the pages that they will."""
        names = {
            content.section: [
                noise.name
                for noise in content.section.noises
                if noise.is_param and noise.look == "same" and not draft.is_everywhere(noise)
            ]
            for content in self.contents
            if not content.section.always
        }
        able = [section for section, known in names.items() if known]
        for section in self._random.sample(able, _CHANGING):
            self._changing[section] = self._random.choice(names[section])
        items = [
            content
            for content in self.contents
            if content.section in self._changing and not content.shown
        ]
        entrance = [self._later_content("entrance", self.front, 0)]
        for number in range(max(1, int(_LATER * len(self.contents)))):
            item = self._random.choice(items)
            content = self._later_content(f"later/{number}", item, number)
            self._selected.append(content)
            content.targets = [self.front, item]
            if len(entrance[-1].targets) > _ENTRANCE:
                entrance.append(self._later_content(f"entrance/{number}", self.front, number))
                entrance[-2].targets.append(entrance[-1])
            entrance[-1].targets.append(content)

    def _later_content(self, name: str, like: Content, number: int) -> Content:
        section = like.section
        content = Content(
            name, len(self.contents) + len(self.later), section, like.address, like.language
        )
        if like is self.front:
            content.address = Address(("new", str(number)), like.address.label)
            noises: list[Noise] = []
        else:
            param = self._changing[section]
            content.address = like.address.having(param, f"n{number}")
            noises = [noise for noise in section.noises if noise.name != param]
        self.later.append(content)
        self._add_later(content, content.address, "same")
        for noise in _draw(noises, _LATER_COPIES, self._random):
            self._add_later(content, noise.add(content.address, self._random), noise.look)
        return content

    def _add_later(self, content: Content, address: Address, look: Look) -> None:
        url = address.url(self.domain)
        key = canonicalize_url(url)
        if key not in self._later_found:
            self._later_found[key] = Found(content, len(content.urls), look)
            content.urls.append(url)

    def _selects(self, content: Content, url: str) -> bool:
        """Return whether this URL has a parameter that selects content after the change."""
        name = None if content.shown else self._changing.get(content.section)
        return name is not None and name in parse_qs(urlsplit(url).query)

    def _later_of(self, key: str) -> Content:
        """Return the content that an older URL selects after the change: always the same one."""
        return Random(f"{self.seed} {key}").choice(self._selected)


def _draw(noises: list[Noise], number: int, random: Random) -> list[Noise]:
    """Different ones, the more often the more often they are wanted."""
    drawn = random.choices(noises, [noise.often for noise in noises], k=number) if noises else []
    return list(dict.fromkeys(drawn))
