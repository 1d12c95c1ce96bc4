"""The ways to call the detector: many pages, a context, arguments of wrong types, asyncio."""

from __future__ import annotations

import asyncio
import threading
import time
from itertools import count

import pytest

from scrapy_neardup import InvalidPage, NearDupDetector, NearDupError, PageFields, SignatureMismatch
from scrapy_neardup.exceptions import StoreError
from scrapy_neardup.stores import MemoryStore
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, page

# --- many pages -------------------------------------------------------------------------


def test_many_pages_are_judged_in_order_and_taken_one_by_one():
    judge, taken = NearDupDetector(), []

    def endless():
        for number in count():
            taken.append(number)
            yield {"url": f"https://{number}.example/", "text": (FERRY, MUSEUM)[number % 2]}

    verdicts = judge.check_many(endless())
    assert taken == []
    found = [next(verdicts) for _ in range(4)]
    assert [verdict.kind for verdict in found] == ["new", "new", "duplicate", "duplicate"]
    assert found[3].duplicate_of == "https://1.example/"
    assert taken == [0, 1, 2, 3]


def test_many_pages_may_be_signatures_and_unreadable():
    judge = NearDupDetector()
    signature = judge.signature(url="https://a.example/", text=FERRY)
    empty: PageFields = {"url": "https://b.example/", "html": b"<p>"}
    copy: PageFields = {"url": "https://c.example/", "text": FERRY, "title": "Ferry"}
    kinds = [verdict.kind for verdict in judge.check_many([signature, empty, copy])]
    assert kinds == ["new", "undecided", "duplicate"]


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ("https://a.example/", "takes an iterable of pages, not str"),
        ({"url": "u", "text": "t"}, "not dict; give a page as"),
        (7, "not int"),
        ([("u", "t")], "page 1 must be a mapping .* not tuple"),
        ([{"url": "u", "text": TEA}, {"url": "u", "txt": "t"}], "page 2 has 'txt'; its fields"),
        ([{"text": "t"}], "page 1: url must be"),
        ([{"url": "u", "text": b"t"}], "page 1: text must be a string, not bytes; decode it"),
    ],
)
def test_what_is_no_page_among_many_is_said_with_its_place(pages, said):
    with pytest.raises(InvalidPage, match=said):
        list(NearDupDetector().check_many(pages))


# --- arguments --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "named", "said"),
    [
        ([FERRY], {}, r"must be a PageSignature, not str; give a page by name: url=… and html=…"),
        ([], {}, "url must be"),
        ([], {"url": None, "text": "t"}, "not None; any string that identifies the page"),
        ([], {"url": "", "text": "t"}, "not an empty string; any string that identifies the page"),
        ([], {"url": " \n", "html": "<p>"}, "not an empty string; any string that identifies"),
        ([], {"url": b"u", "text": "t"}, "url .* not bytes"),
        ([], {"url": "u"}, "either html .* neither is given"),
        ([], {"url": "u", "html": "", "text": ""}, "both are given"),
        ([], {"url": "u", "html": 3}, "html must be a string or bytes, not int"),
        ([], {"url": "u", "text": "t", "title": None}, "title must be a string, not None"),
    ],
)
def test_arguments_that_are_no_page_get_a_sentence(given, named, said):
    judge = NearDupDetector()
    with pytest.raises(InvalidPage, match=said) as caught:
        judge.check(*given, **named)
    assert isinstance(caught.value, (NearDupError, TypeError))
    with pytest.raises(InvalidPage, match=said):
        asyncio.run(judge.acheck(*given, **named))


def test_a_misspelt_argument_is_an_error_for_type_checkers_and_at_run_time():
    # mypy reports an ignored error that is none, so this fails there if anything is accepted.
    with pytest.raises(TypeError, match="txt"):
        NearDupDetector().check(url="u", txt=FERRY)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="txt"):
        asyncio.run(NearDupDetector().acheck(url="u", txt=FERRY))  # type: ignore[call-overload]


# --- with -------------------------------------------------------------------------------


def test_a_detector_closes_a_store_that_it_opened(tmp_path):
    address = f"sqlite:///{tmp_path / 'seen.sqlite'}"
    with NearDupDetector(store=address) as judge:
        judge.check(url="https://a.example/", text=FERRY)
    with pytest.raises(StoreError, match="the detector is closed"):
        judge.check(url="https://b.example/", text=FERRY)
    judge.close()
    # A file can be opened by one process at a time, and for one tokenizer.
    with pytest.raises(SignatureMismatch):
        NearDupDetector(store=address, tokenizer="pairs")
    with NearDupDetector(store=address) as judge:
        assert judge.check(url="https://b.example/", text=FERRY).kind == "duplicate"


def test_a_detector_leaves_a_given_store_open():
    store = MemoryStore()
    for kind in ("new", "duplicate"):
        with NearDupDetector(store=store) as judge:
            assert judge.check(url=f"https://{kind}.example/", text=FERRY).kind == kind


# --- asyncio ----------------------------------------------------------------------------


class Gate:
    """An extractor that waits until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, html: str, tree: object) -> str:
        self.reached.set()
        assert self.opened.wait(30)
        return FERRY


async def _until(condition):
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise TimeoutError


def test_the_loop_goes_on_while_a_page_is_read_and_calls_keep_their_order():
    gate = Gate()

    async def run():
        async with NearDupDetector(extractor=gate) as judge:
            slow = judge.acheck(url="https://0.example/", html=page(FERRY))
            texts = (FERRY, MUSEUM, MUSEUM, BRIDGE)
            others = (
                judge.acheck(url=f"https://{number}.example/", text=text)
                for number, text in enumerate(texts, start=1)
            )
            checks = asyncio.gather(slow, *others)
            await _until(gate.reached.is_set)
            gate.opened.set()
            return await checks

    found = asyncio.run(run())
    assert [verdict.url for verdict in found] == [f"https://{n}.example/" for n in range(5)]
    originals = [verdict.duplicate_of for verdict in found]
    assert originals == [None, "https://0.example/", None, "https://2.example/", None]


def test_a_call_that_is_cancelled_records_nothing():
    gate = Gate()

    async def run():
        async with NearDupDetector(extractor=gate) as judge:
            reading = asyncio.create_task(judge.acheck(url="https://a.example/", html=page(FERRY)))
            waiting = asyncio.create_task(judge.acheck(url="https://b.example/", text=MUSEUM))
            await _until(gate.reached.is_set)
            reading.cancel()
            waiting.cancel()
            ended = await asyncio.gather(reading, waiting, return_exceptions=True)
            assert all(isinstance(error, asyncio.CancelledError) for error in ended)
            gate.opened.set()
            texts = enumerate((FERRY, MUSEUM))
            return [await judge.acheck(url=f"https://{n}.example/", text=t) for n, t in texts]

    assert [verdict.kind for verdict in asyncio.run(run())] == ["new", "new"]


class GatedTokenizer:
    """Splits texts while its gate is open, so that a call cannot end before it is waited for."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, text: str) -> list[str]:
        assert self.gate.wait(30)
        return text.split()


async def _cancelled_once(condition, check, gate):
    """Cancel a call that was begun, while the loop stands still and knows no verdict."""
    await asyncio.sleep(0)
    gate.set()
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.001)
    check.cancel()
    with pytest.raises(asyncio.CancelledError):
        await check


def test_a_call_that_is_cancelled_after_its_page_was_stored_takes_it_back():
    async def run():
        tokenizer = GatedTokenizer()
        async with NearDupDetector(tokenizer=tokenizer) as judge:
            tokenizer.gate.clear()
            check = asyncio.create_task(judge.acheck(url="https://a.example/", text=FERRY))
            await _cancelled_once(lambda: len(judge.store), check, tokenizer.gate)
            return await judge.acheck(url="https://b.example/", text=FERRY)

    assert asyncio.run(run()).kind == "new"


def test_a_call_that_is_cancelled_leaves_a_page_that_was_stored_before():
    async def run():
        tokenizer = GatedTokenizer()
        async with NearDupDetector(tokenizer=tokenizer) as judge:
            known = judge.signature(url="https://a.example/", text=FERRY)
            judge.store.add(known, 1000)

            def stored():
                # None is listed at the moment when the page is replaced.
                digests = [entry.signature.text_digest for entry in judge.store.entries()]
                return any(digest != known.text_digest for digest in digests)

            tokenizer.gate.clear()
            check = asyncio.create_task(judge.acheck(url="https://a.example/", text=MUSEUM))
            await _cancelled_once(stored, check, tokenizer.gate)
            copies = enumerate((FERRY, MUSEUM))
            found = [await judge.acheck(url=f"https://{n}.example/", text=t) for n, t in copies]
            return found, judge.store.find(known.key)

    found, entry = asyncio.run(run())
    assert [verdict.kind for verdict in found] == ["duplicate", "new"]
    assert entry.stored_at == 1000


def test_a_call_that_is_cancelled_leaves_what_a_later_call_stored():
    async def run():
        tokenizer = GatedTokenizer()
        async with NearDupDetector(tokenizer=tokenizer) as judge:
            tokenizer.gate.clear()
            cancelled = asyncio.create_task(judge.acheck(url="https://a.example/", text=FERRY))
            later = asyncio.create_task(judge.acheck(url="https://a.example/", text=FERRY))
            await _cancelled_once(lambda: len(judge.store), cancelled, tokenizer.gate)
            assert (await later).kind == "revisit"
            return await judge.acheck(url="https://b.example/", text=FERRY)

    assert asyncio.run(run()).kind == "duplicate"
