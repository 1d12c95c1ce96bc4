"""Records what hosts answer to addresses that do not exist, and decides which pages fit that."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

from scrapy.http import Request, Response

from ..._util.urls import is_list, page_key
from ...hashing.minhash import Sketch, resemblance
from ...html.page_outline import PageOutline
from ...signatures.signature import PageSignature
from ...sources.record import Record
from ..monitoring.addresses import without_name
from ..responses import page_record
from .front_page import is_front_page
from .template import AnswerTemplate

#: Pages of a host that are compared once it has answered, at most, and bytes of each.
MAX_EARLY, _MAX_KEPT_BYTES = 32, 2**20
#: A page that is so much smaller or larger than the answers shows something else.
_LEAST, _MOST, _SPARE = 1 / 3, 3, 2000
#: Sections of a host that are asked for an address of their own, at most.
MAX_SECTIONS = 3
#: Shells are soft 404s while they are at most so many for each other page. If nearly all pages of a
#: host are shells, scripts fill them.
_SHELLS_PER_PAGE = 2
#: Pages of a host that are needed to decide on shells before the end of the crawl.
_MIN_PAGES = 4
#: Pages of each kind that are counted for each host.
_MAX_COUNTED = 200
#: Titles that are counted for each host.
_MAX_TITLES = 200
#: Pages with a title of the name alone that a page is compared with, and from which resemblance on
#: they are alike.
_MAX_NAMED, _ALIKE = 8, 0.3


class Visit(NamedTuple):
    """A page and how the crawl came to it.

    :ivar requested: URL of the first request, before redirects.
    """

    record: Record
    requested: str

    @classmethod
    def of(cls, response: Response) -> Visit:
        """Return the visit of a response."""
        meta = {} if response.request is None else response.request.meta
        return cls(page_record(response), (meta.get("redirect_urls") or [response.url])[0])

    @property
    def is_small(self) -> bool:
        """Whether it is small enough to be kept until the host answers."""
        return len(self.record.content) <= _MAX_KEPT_BYTES

    @property
    def is_redirected(self) -> bool:
        """Whether another address led here."""
        return page_key(self.requested) != page_key(self.record.url)


class Section(NamedTuple):
    """The pages of a host that may be served by one program.

    :ivar folder: first segment of their paths, between slashes; ``"/"`` if they have one segment.
    :ivar ending: suffix of their paths, or a slash.
    """

    folder: str
    ending: str

    @classmethod
    def of(cls, url: str) -> Section:
        """Return the section of a page."""
        path = urlsplit(url).path
        first, slash, rest = path.removeprefix("/").partition("/")
        last = path.rpartition("/")[2]
        ending = last.rpartition(".")[2] if "." in last else ""
        if not last and rest:
            ending = "/"
        is_folder = slash and rest and "." not in first
        return cls(f"/{first}/" if is_folder else "/", ending)


class Answer(NamedTuple):
    """The answer of a section of a host to addresses that do not exist.

    :ivar n_bytes: size of the larger one of the answers.
    """

    section: Section
    template: AnswerTemplate
    n_bytes: int


class PendingProbe(NamedTuple):
    """A probe of a section whose answer has not arrived.

    :ivar began: when, by the monotonic clock.
    :ivar outcome: done as soon as its pages can be compared with the answers, or there are none.
    """

    began: float
    outcome: Future[None]


@dataclass(eq=False)
class Host:
    """A host, and what it answered so far.

    :ivar like: the first request to it, without its page; others are made like it.
    :ivar is_honest: whether it answered with an error; ``None`` until it has answered.
    :ivar outcome: done as soon as it has answered, with all that it is asked for, or will not.
    :ivar moved_to: keys of the addresses to which missing ones are redirected.
    :ivar moved_paths: the same without their queries, if these repeat the missing address.
    :ivar real: keys of addresses that an answer names as its own.
    :ivar early: pages that were judged before it answered.
    :ivar late: keys of those of them that turned out to be soft 404s.
    :ivar asked: sections that were asked.
    :ivar asking: those of them that have not answered.
    :ivar being_read: URLs of pages that came, and are not judged.
    :ivar sections_with_content: those of which a page has shown something else than the answer.
    """

    name: str
    like: Request
    is_honest: bool | None = None
    outcome: Future[None] = field(default_factory=Future)
    answers: list[Answer] = field(default_factory=list)
    moved_to: set[str] = field(default_factory=set)
    moved_paths: set[str] = field(default_factory=set)
    real: set[str] = field(default_factory=set)
    early: list[Visit] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    asked: set[Section] = field(default_factory=set)
    asking: dict[Section, PendingProbe] = field(default_factory=dict)
    being_read: set[str] = field(default_factory=set)
    sections_with_content: set[Section] = field(default_factory=set)
    _titles: dict[tuple[Section, str], str] = field(default_factory=dict)
    _named: dict[tuple[Section, str], deque[tuple[str, Sketch]]] = field(default_factory=dict)
    _others: set[str] = field(default_factory=set)
    _shells: set[str] = field(default_factory=set)
    _doubtful: dict[str, Answer] = field(default_factory=dict)
    _first_requested: dict[str, str] = field(default_factory=dict)
    _first_shown: dict[Section, str] = field(default_factory=dict)
    _has_ended: bool = False
    _front_fits: bool | None = None

    @property
    def is_asking(self) -> bool:
        """Whether it has yet to answer."""
        return not self.outcome.done()

    @property
    def has_answers(self) -> bool:
        """Whether its pages have to be compared."""
        return bool(self.answers)

    def begin_asking(self, section: Section) -> None:
        """Note that it is asked for an address of a section."""
        self.asked.add(section)
        self.asking[section] = PendingProbe(monotonic(), Future())

    def asking_of(self, section: Section) -> PendingProbe | None:
        """Return what pages of a section may wait for: at first the answer of the host."""
        if self.is_asking:
            return next(iter(self.asking.values()), None)
        return self.asking.get(section)

    def keep_early(self, visit: Visit) -> None:
        """Keep a page until the host has answered."""
        if len(self.early) < MAX_EARLY and visit.is_small:
            self.early.append(visit)

    def note_move(self, token: str, url: str) -> None:
        """Note where a missing address leads.

        :param token: the random part of the address.
        """
        if token in url:
            self.moved_paths.add(page_key(without_query(url)))
        else:
            self.moved_to.add(page_key(url))

    def note_address(self, token: str, urls: Iterable[str | None]) -> None:
        """Note the addresses that an answer names as its own: they are pages of the site."""
        self.real.update(page_key(url) for url in urls if url is not None and token not in url)

    def may_fit(self, visit: Visit) -> bool:
        """Return whether a page has about the size of an answer, or is the front page."""
        size = len(visit.record.content)
        return any(
            _LEAST * answer.n_bytes - _SPARE <= size <= _MOST * answer.n_bytes + _SPARE
            for answer in self.answers
        ) or is_front_page(visit.record.url)

    def is_doubtful(self, url: str) -> bool:
        """Return whether a page shows an answer, and other pages have to show something else."""
        return url in self._doubtful

    def fits(self, visit: Visit, outline: PageOutline, *, is_kept: bool = False) -> bool:
        """Return whether a page is a soft 404; note what it says of the host.

        :param is_kept: whether it was judged before, so that its content is kept.
        """
        url = visit.record.url
        fitting = [a for a in self.answers if a.template.fits(outline, url)]
        for answer in self.answers:
            if answer.template.differs_from(outline):
                self.sections_with_content.add(answer.section)
        if is_front_page(url) and not urlsplit(url).query:
            self._front_fits = bool(fitting)
        if not fitting and len(self._others) < _MAX_COUNTED:
            self._others.add(page_key(url))
        if not fitting:
            return False
        if self._is_spared(visit):
            self._first_shown.setdefault(fitting[0].section, page_key(visit.requested))
            return False
        asked = visit.requested if self._target_of(url) is not None else url
        convincing = [a for a in fitting if self._is_convincing(a, asked)]
        if convincing:
            self._doubtful.pop(url, None)
        elif asked == url and len(self._doubtful) < _MAX_COUNTED:
            self._doubtful[url] = fitting[0]
        return bool(convincing) and (not self._is_first(convincing[0], visit) or is_kept)

    def _is_first(self, answer: Answer, visit: Visit) -> bool:
        """Return whether a page shows what no page before it has shown, and what may be a content.

        Some sites show one of their pages for any address.
        """
        section, template = answer.section, answer.template
        if template.is_shell or (template.says_missing and section in self.sections_with_content):
            return False
        key = page_key(visit.requested)
        return self._first_shown.setdefault(section, key) == key

    def is_first_shown(self, url: str) -> bool:
        """Return whether a page stayed as the first one that shows what an answer shows."""
        key = page_key(url)
        return key in self._first_shown.values() and key not in self.moved_to | self.real

    def _is_spared(self, visit: Visit) -> bool:
        """Return whether a page stays for its address, although it shows what an answer shows.

        The first visit of the page to which missing addresses are redirected has its content,
        whatever has led to it, and may be the only one.
        """
        url, key = visit.record.url, page_key(visit.record.url)
        has_query, is_front = bool(urlsplit(url).query), is_front_page(url)
        from_front = is_front_page(visit.requested)
        target = self._target_of(url)
        if target is not None and visit.is_redirected and not from_front:
            return (
                key in self.moved_to
                and self._first_requested.setdefault(key, visit.requested) == visit.requested
            )
        if target is not None or ((is_front or from_front) and not has_query):
            if is_front or key in self.moved_to:
                self._first_requested.setdefault(key, visit.requested)
            return True
        return self._front_fits is not False if is_front else key in self.real

    def _target_of(self, url: str) -> str | None:
        """Return what identifies a page if missing addresses are redirected to it."""
        key, path_key = page_key(url), page_key(without_query(url))
        if key in self.moved_to:
            return key
        return path_key if path_key in self.moved_paths else None

    def take_confirmed(self, *, at_end: bool = False) -> list[str]:
        """Return URLs of pages that are soft 404s, as pages that came after them have shown."""
        self._has_ended = at_end
        found = [
            url
            for url, answer in self._doubtful.items()
            if (at_end or url not in self.being_read) and self._is_convincing(answer, url)
        ]
        for url in found:
            del self._doubtful[url]
        return found

    def has_title_twice(
        self, section: Section, title: str, url: str, page: PageSignature | None = None
    ) -> bool:
        """Note the title of a page; return whether another path of its section has it.

        Among other words, the name of the page in its address does not count: "No results for x".
        A title of the name alone is that of another page if their texts are alike.
        """
        if not title or len(self._titles) >= _MAX_TITLES:
            return False
        path = urlsplit(url).path
        title = without_name(title, path)
        if self._titles.setdefault((section, title), path) != path:
            return True
        form = without_name(title, path, beside=0)
        if form == title or page is None or not page.is_read:
            return False
        named = self._named.setdefault((section, form), deque(maxlen=_MAX_NAMED))
        is_alike = any(
            path != other and resemblance(page.sketch_values, sketch) >= _ALIKE
            for other, sketch in named
        )
        named.append((path, page.sketch_values))
        return is_alike

    def _is_convincing(self, answer: Answer, url: str) -> bool:
        """Decide whether a page that shows what an answer shows is a soft 404."""
        template = answer.template
        folder = answer.section.folder
        if folder != "/":
            path = urlsplit(url).path
            if not path.startswith(folder) or path == folder:
                return False
            # A list may be there, and empty.
            if is_list(url) and not template.says_missing:
                return False
        needs_reference = template.has_gaps if template.is_shell else template.varies
        if needs_reference and answer.section not in self.sections_with_content:
            return False
        if template.is_shell:
            if len(self._shells) < _MAX_COUNTED:
                self._shells.add(page_key(url))
            others, shells = len(self._others), len(self._shells)
            is_sure = self._has_ended or others + shells >= _MIN_PAGES
            return is_sure and shells <= _SHELLS_PER_PAGE * others
        return True


def without_query(url: str) -> str:
    """Return a URL without its query."""
    return urlsplit(url)._replace(query="").geturl()


def host_of(url: str) -> str:
    """Return the host of a URL with its port, the same with and without ``www.``."""
    try:
        parts = urlsplit(url)
        return parts.netloc.rpartition("@")[2].casefold().removeprefix("www.")
    except ValueError:
        return ""
