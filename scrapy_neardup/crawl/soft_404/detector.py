"""Finds the soft 404s of a crawl; ``template.py`` defines what a soft 404 is."""

from __future__ import annotations

from asyncio import CancelledError
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.linkextractors import IGNORED_EXTENSIONS
from scrapy.utils.datatypes import LocalCache

from ..._util.urls import is_list, page_key
from ...html.page_outline import PageOutline
from ...matching.verdict import Verdict
from ...reasons import TOO_LITTLE_TEXT
from ...signatures.signature import PageSignature
from ...sources.record import Record
from ..async_bridge import Outcomes, in_thread, start, wait_for
from ..monitoring.crawl_log import CrawlStats
from ..responses import outline_of, page_links, page_record
from ..settings import META_KEY, Config
from .front_page import is_front_page
from .hosts import MAX_SECTIONS, Answer, Host, Section, Visit, host_of
from .late import LateFinds
from .log import Soft404Log
from .probe import ProbeAnswer, Prober, is_probe, without_page
from .template import AnswerTemplate

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: Hosts that are remembered; beyond that the first ones are asked again if they come again.
_MAX_HOSTS = 10_000
#: Pages that are compared once their section has answered.
_MAX_RECENT = 64
#: Suffixes of addresses that are no pages.
_NO_PAGES = frozenset(IGNORED_EXTENSIONS) | frozenset("xml txt json rss atom gz js map".split())
#: Seconds that the front page waits for an answer rather than be dropped for another page.
_MAX_WAIT = 15.0
#: Seconds after its host or section was asked for which a page waits for the answer, so that it is
#: dropped if it is a soft 404; and between two looks whether the crawl has to go on.
_MAX_PAGE_WAIT, _LOOK = 5.0, 0.25
#: Seconds that a crawl which is told to end waits until the answers it has got are compared.
_MAX_LAST = 5.0


class _Arrival(NamedTuple):
    """The findings on a page when it arrived.

    :ivar n_answers: number of answers that it was compared with.
    """

    is_soft: bool
    n_answers: int


class Soft404Detector:
    """Asks each host for an address that cannot exist, and compares its pages with the answer.

    :param forget: removes pages from the store, by their keys.
    """

    def __init__(
        self,
        crawler: Crawler,
        config: Config,
        stats: CrawlStats,
        forget: Callable[[Collection[str]], Awaitable[None]],
    ) -> None:
        self._crawler = crawler
        self._config = config
        self._stats = stats
        self._log = Soft404Log(config.policy, stats)
        self._late = LateFinds(crawler, config, stats, self._log, forget)
        # Copies of a waiting page wait for it.
        self._max_wait = min(_MAX_PAGE_WAIT, config.store_settings.max_wait / 2)
        self._prober = Prober(crawler)
        self._hosts = LocalCache[str, Host](_MAX_HOSTS)
        # The items of a page may ask at the same time.
        self._on_arrival: Outcomes[Response, _Arrival] = Outcomes()
        self._once_read: Outcomes[Response, bool] = Outcomes()
        self._recent = deque[Visit](maxlen=_MAX_RECENT)
        self._thread = ThreadPoolExecutor(1, "neardup-soft-404")
        self._n_asking = 0
        self._all_asked: Future[None] | None = None

    def connect(self) -> None:
        """Connect to Scrapy's signals."""
        connect = self._crawler.signals.connect
        connect(self._request_sent, signals.request_reached_downloader)
        connect(self._idle, signals.spider_idle)

    async def is_soft_404(self, response: Response) -> bool:
        """Return whether a page that is about to be read is a soft 404, as far as is known."""
        return (await self._arrival(response)).is_soft

    async def turned_out(self, response: Response, *, waits: bool) -> bool:
        """Return whether a page has turned out to be a soft 404 while it was read.

        If it has not, it is compared with later answers as well.

        :param waits: whether it waits for answers that are expected soon.
        """
        compare = partial(self._compare_again, response, waits=waits)
        return await self._once_read.get(response, compare)

    async def _arrival(self, response: Response) -> _Arrival:
        return await self._on_arrival.get(response, partial(self._compare_first, response))

    async def _compare_first(self, response: Response) -> _Arrival:
        visit = Visit.of(response)
        hosts = self._hosts_of(visit)
        n_answers = _count_answers(hosts)
        for host in hosts:
            host.being_read.add(visit.record.url)
        is_soft = await self._compare_with_any(hosts, visit)
        if is_soft:
            _end_reading(hosts, visit)
        return _Arrival(is_soft, n_answers)

    async def _compare_again(self, response: Response, *, waits: bool) -> bool:
        visit = Visit.of(response)
        hosts = self._hosts_of(visit)
        if waits:
            for host in hosts:
                await self._wait(host, Section.of(visit.record.url))
        n_compared = (await self._arrival(response)).n_answers
        is_doubtful = any(host.is_doubtful(visit.record.url) for host in hosts)
        while is_doubtful or _count_answers(hosts) > n_compared:
            n_compared, is_doubtful = _count_answers(hosts), False
            if await self._compare_with_any(hosts, visit):
                _end_reading(hosts, visit)
                return True
            # The first page that shows an answer is stored, but it is no original.
            first_of = [host for host in hosts if host.is_first_shown(visit.requested)]
            for host in first_of:
                self._start(self._compare_early(host, [visit]))
        _end_reading(hosts, visit)
        for host in hosts:
            if host.is_asking:
                host.keep_early(visit)
        if visit.is_small:
            self._recent.append(visit)
        return False

    async def _wait(self, host: Host, section: Section) -> None:
        """Wait for the answer of a section, for a short time."""
        if (asking := host.asking_of(section)) is None:
            return
        last = asking.began + self._max_wait
        while not asking.outcome.done() and not self._prober.is_pressed:
            if (left := last - monotonic()) <= 0:
                break
            await wait_for(asking.outcome, min(left, _LOOK))

    def _hosts_of(self, visit: Visit) -> list[Host]:
        """Return the hosts that a page may be from: one may redirect to another what is missing."""
        names = dict.fromkeys((host_of(visit.requested), host_of(visit.record.url)))
        return [host for name in names if (host := self._hosts.get(name)) is not None]

    async def _compare_with_any(self, hosts: Iterable[Host], visit: Visit) -> bool:
        for host in hosts:
            if await self._compare(host, visit):
                return True
        return False

    async def is_false_original(self, page: str, original: str) -> bool:
        """Return whether a page was stored before it turned out to be a soft 404.

        :param page: URL of the page that would be dropped for it.
        """
        host = self._hosts.get(host_of(original))
        if host is None:
            return False
        if is_front_page(page) and not is_front_page(original):
            await wait_for(host.outcome, _MAX_WAIT)
            if host.is_first_shown(original):
                await self._late.report(host, [original])
        await self._wait(host, Section.of(original))
        return self.was_late(original)

    def was_late(self, url: str) -> bool:
        """Return whether a page turned out to be a soft 404 after it was judged."""
        host = self._hosts.get(host_of(url))
        return host is not None and page_key(url.partition("#")[0]) in host.late

    async def judged(
        self, verdict: Verdict, title: str, page: PageSignature | None = None, *, waits: bool
    ) -> None:
        """Note a page that is none; ask its section too if other pages of it seem to be alike.

        :param waits: whether the page waits for the answer of its host, if it is expected soon.
        """
        host = self._hosts.get(host_of(verdict.url))
        if host is None:
            return
        if waits and host.is_asking:
            await self._wait(host, Section.of(verdict.url))
        if host.is_asking or len(host.asked) > MAX_SECTIONS:
            return
        if not (host.is_honest or host.has_answers):
            return  # it failed to answer
        section = Section.of(verdict.url)
        if section in host.asked or "." in section.folder:
            return
        original = verdict.duplicate_of or verdict.url
        is_copy = (
            (host_of(original), Section.of(original)) == (host.name, section)
            # Parameters make copies on honest sites too.
            and urlsplit(original).path != urlsplit(verdict.url).path
        )
        mark = str(verdict.reason) if verdict.reason in TOO_LITTLE_TEXT else title
        if host.has_title_twice(section, mark, verdict.url, page) or is_copy:
            host.begin_asking(section)
            like = host.like.replace(url=verdict.url)
            early = partial(_of_section, self._recent, host, section)
            self._start(self._ask(host, like, section, early))

    def _request_sent(self, request: Request) -> None:
        """Ask the host of a page's request, unless it was asked."""
        if request.callback is NO_CALLBACK or is_probe(request) or request.method != "GET":
            return
        name, section = host_of(request.url), Section.of(request.url)
        if not name or name in self._hosts or section.ending.casefold() in _NO_PAGES:
            return
        if not request.url.startswith("http") or request.meta.get(META_KEY) is False:
            return
        host = self._hosts[name] = Host(name, without_page(request))
        section = Section("/", section.ending)
        host.begin_asking(section)
        self._start(self._ask_host(host, section))

    def _start(self, asking: Coroutine[Any, Any, None]) -> None:
        self._n_asking += 1
        start(self._until_compared(asking))

    async def _until_compared(self, asking: Coroutine[Any, Any, None]) -> None:
        try:
            await asking
        finally:
            self._n_asking -= 1
            if not self._n_asking and self._all_asked is not None:
                self._all_asked.set_result(None)
            self._prober.wake_engine()

    def _idle(self) -> None:
        """Keep the crawl open while pages are compared with an answer that has come.

        :raises DontCloseSpider: if some are. While a request is in progress the crawl is not idle.
        """
        if self._n_asking:
            raise DontCloseSpider

    async def _ask_host(self, host: Host, section: Section) -> None:
        try:
            await self._ask(host, host.like, section, lambda: host.early)
        finally:
            host.early.clear()
            host.outcome.set_result(None)

    async def _ask(
        self, host: Host, like: Request, section: Section, early: Callable[[], Sequence[Visit]]
    ) -> None:
        """Ask for addresses of a section, and compare its pages with the answers.

        :param early: returns pages that were judged before.
        """
        try:
            await self._ask_twice(host, like, section, early)
        finally:
            host.asking.pop(section).outcome.set_result(None)

    async def _ask_twice(
        self, host: Host, like: Request, section: Section, early: Callable[[], Sequence[Visit]]
    ) -> None:
        """Ask for one address, and for another one if the answer is no error.

        One answer does not show what differs from answer to answer: nothing follows from it.
        """
        answers: list[ProbeAnswer] = []
        try:
            for _ in range(2):
                self._stats.count("soft_404/asked")
                answer = await self._prober.ask(like, section.folder)
                kind = answer.kind
                if kind != "soft":
                    break
                answers.append(answer)
            if len(answers) == 2:
                kind = "soft" if await self._learn(host, section, answers) else "unclear"
                await self._compare_early(host, early())
            elif answers and kind == "honest":
                kind = "unclear"
        except (Exception, CancelledError) as error:
            # robots.txt may forbid it, and downloads fail in many ways.
            kind = "failed"
            self._log.failed(host.name, error)
        self._stats.count(f"soft_404/{kind}")
        host.is_honest = kind == "honest" and not host.has_answers
        if kind == "soft":
            self._log.soft(host.name, answers[0])
        elif kind == "unclear":
            self._log.unclear(host.name, answers[0])

    async def _learn(self, host: Host, section: Section, answers: list[ProbeAnswer]) -> bool:
        """Learn from two answers that are no errors; return whether they can be told from pages."""
        for answer in answers:
            if answer.moved_to is not None:
                host.note_move(answer.token, answer.moved_to)
        shown = [(a.token, a.response) for a in answers if a.response is not None]
        outlines = []
        for token, response in shown:
            host.note_address(token, (page_links(response).canonical, response.url))
            outline = await self._outline(page_record(response))
            if outline is not None:
                outlines.append((token, outline))
        if len(outlines) < len(answers):
            return False
        template = await in_thread(lambda: AnswerTemplate.of(outlines), self._thread)
        # A list may be there, and empty.
        if template is None or (is_list(answers[0].url) and not template.says_missing):
            return False
        for visit in _of_section(self._recent, host, section, others=True):
            outline = await self._outline(visit.record)
            if outline is not None and template.differs_from(outline):
                host.sections_with_content.add(section)
                break
        n_bytes = max(len(response.body) for _, response in shown)
        host.answers.append(Answer(section, template, n_bytes))
        return True

    async def _compare(self, host: Host, visit: Visit, *, is_kept: bool = False) -> bool:
        """Return whether a page is a soft 404; see :meth:`Host.fits`."""
        if not host.has_answers:
            return False
        outline = await self._outline(visit.record) if host.may_fit(visit) else None
        if outline is None:
            return False
        fits = host.fits(visit, outline, is_kept=is_kept)
        await self._late.report(host, host.take_confirmed())
        return fits

    async def _outline(self, record: Record) -> PageOutline | None:
        return await in_thread(lambda: outline_of(record, self._config.page_limits), self._thread)

    async def _compare_early(self, host: Host, early: Sequence[Visit]) -> None:
        """Compare pages that were judged before the host answered."""
        unknown = [v for v in list(early) if page_key(v.record.url) not in host.late]
        found = [v.record.url for v in unknown if await self._compare(host, v, is_kept=True)]
        # The first visit of a page to which others are redirected is none.
        found = [url for url in found if page_key(url) not in host.moved_to]
        await self._late.report(host, found)

    async def close(self) -> None:
        """Cancel all requests, use the answers that have come, and end the thread."""
        self._prober.close()
        if self._n_asking:
            self._all_asked = Future()
            await wait_for(self._all_asked, _MAX_LAST)
        for host in list(self._hosts.values()):
            await self._late.report(host, host.take_confirmed(at_end=True))
        self._thread.shutdown(wait=False)


def _of_section(
    visits: Iterable[Visit], host: Host, section: Section, *, others: bool = False
) -> list[Visit]:
    """Return the visits of pages of a section, or those of other sections of its host."""
    of_host = [visit for visit in visits if host_of(visit.record.url) == host.name]
    return [visit for visit in of_host if (Section.of(visit.record.url) != section) == others]


def _end_reading(hosts: Iterable[Host], visit: Visit) -> None:
    for host in hosts:
        host.being_read.discard(visit.record.url)


def _count_answers(hosts: Iterable[Host]) -> int:
    return sum(len(host.answers) for host in hosts)
