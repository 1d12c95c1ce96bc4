"""Methods that judge in place of the rule."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import pytest

from scrapy_neardup import InvalidOption, NearDupDetector, Rule, SignatureMismatch, Verdict
from scrapy_neardup.exceptions import MethodFailed
from scrapy_neardup.matching.stored_items import NO_ITEMS, OWN_ITEMS
from scrapy_neardup.methods import METHODS, Method, open_method
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.stores.codec import packed, unpacked
from tests.support.claims import met
from tests.support.own_methods import Within
from tests.support.texts import FERRY, MUSEUM, TEA, article, page, replaced

SECRET = b"one secret for all tests"


@dataclass(frozen=True, kw_only=True)
class Numbers(Method):
    """Reads a number; numbers next to each other are near, which is not transitive."""

    name: ClassVar[str] = "numbers"
    short_texts: ClassVar[bool] = True
    reach: int = 1
    min_similarity: float = 0.5

    def value(self, content: str | bytes) -> bytes:
        return bytes([int(content.split()[-1])])

    def similarity(self, new: bytes, known: bytes) -> float:
        return 1 / (1 + abs(new[0] - known[0]))


class Nameless(Numbers):
    """A class of one's own that takes a shipped name."""

    name: ClassVar[str] = "exact"
    version = 2


@dataclass(frozen=True, kw_only=True)
class Raising(Numbers):
    """Fails where it is told to."""

    where: str = "value"

    def value(self, content: str | bytes) -> bytes:
        self._fail("value")
        return b"" if self.where == "empty" else super().value(content)

    def similarity(self, new: bytes, known: bytes) -> float:
        self._fail("similarity")
        return super().similarity(new, known)

    def keys(self, value: bytes) -> Iterator[int]:
        yield 1
        self._fail("keys")

    def _fail(self, place: str) -> None:
        if self.where == place:
            raise ZeroDivisionError(place)


class NoBytes(Numbers):
    def value(self, content: str | bytes) -> bytes:
        return 5  # type: ignore[return-value]


def detector(method: str | Method | None, **options) -> NearDupDetector:
    return NearDupDetector(method=method, store=MemoryStore(SECRET), **options)


def said(verdict: Verdict) -> tuple[str, str, str | None]:
    return verdict.kind, str(verdict.reason), verdict.duplicate_of


@pytest.mark.parametrize("name", METHODS)
def test_each_method_finds_an_equal_page_and_keeps_others(name):
    judge = detector(name)
    texts = [FERRY, MUSEUM, TEA] if name != "tags" else [FERRY, TEA]
    for number, text in enumerate(texts):
        html = page(text, f"Title {number}")
        assert judge.check(url=f"https://a.example/{number}", html=html).kind == "new"
    for number, text in enumerate(texts):
        body = page(text, f"Title {number}").encode()
        verdict = judge.check(url=f"https://b.example/{number}", html=body)
        assert said(verdict) == ("duplicate", "method", f"https://a.example/{number}")
        assert (verdict.distance, verdict.similarity) == (None, 1.0)


def test_a_method_judges_where_the_rule_would_object():
    words = article(300)
    texts = [" ".join(words), " ".join(replaced(words, 0.05, values=True))]
    for method, kind in (None, "new"), ("words", "duplicate"):
        judge = detector(method)
        for number, text in enumerate(texts):
            verdict = judge.check(url=f"https://a.example/{number}", text=text, title="Form")
        assert verdict.kind == kind


def test_the_most_similar_page_is_the_original_and_of_equals_the_oldest():
    judge = detector(Numbers(min_similarity=0.24))
    for url, number in ("a", 1), ("b", 10), ("c", 6):
        judge.check(url=url, text=f"number {number}")
    assert said(judge.check(url="d", text="number 9")) == ("duplicate", "method", "b")
    assert said(judge.check(url="e", text="number 8")) == ("duplicate", "method", "b")
    assert said(judge.check(url="f", text="number 7")) == ("duplicate", "method", "c")


def test_a_field_of_an_item_and_a_page_are_two():
    judge = detector("words")
    [field] = judge.signer.sign(judge.signer.fragment_page("https://a.example/#item-1", FERRY))
    whole = judge.signature(url="https://a.example/", html=page(FERRY, "Ferry"))
    copy = judge.signature(url="https://a.example/copy", html=page(FERRY, "Ferry"))
    assert judge.compare(field, whole) is None
    assert judge.compare(whole, copy) is not None
    judge.store.add(whole)
    [again] = judge.signer.sign(judge.signer.fragment_page("https://a.example/#item-2", FERRY))
    kinds = [met(judge.store, each, judge.rule).kind for each in (field, copy, again)]
    assert kinds == ["new", "duplicate", "duplicate"]


def test_the_recipe_names_the_method_and_its_parameters():
    methods: list[str | Method | None]
    methods = [None, "minhash", "bottomk", "minhash:256", "minhash:min_similarity=0.7", Numbers()]
    methods += [Numbers(reach=2), Nameless(), "exact"]
    signers = [detector(method).signer for method in methods]
    assert len({signer.recipe for signer in signers}) == len(methods)
    assert signers[0].parts.keys() == {"tokenizer", "extractor", "idf"}
    assert signers[1].parts["method"].startswith("minhash-1:hashes=128,")
    assert signers[7].parts["method"].endswith("test_detector_methods.Nameless-2:reach=1,min_"
                                               "similarity=0.5")  # fmt: skip
    equal = [detector(method).signer.recipe for method in ("minhash", "minhash:hashes=128")]
    assert equal[0] == equal[1]


def test_signatures_and_stores_of_another_method_are_refused():
    store = MemoryStore(SECRET)
    judge = NearDupDetector(method="minhash", store=store)
    judge.check(url="u", text=FERRY)
    for method in None, "bottomk":
        with pytest.raises(SignatureMismatch):
            NearDupDetector(method=method, store=store)
    plain = detector(None).signature(url="v", text=FERRY)
    own = judge.signature(url="w", text=FERRY)
    for call in judge.claim, judge.check, partial(judge.compare, own):
        with pytest.raises(SignatureMismatch):
            call(plain)
    again = NearDupDetector(method="minhash", store=store)
    assert again.check(url="v", text=FERRY).duplicate_of == "u"


def test_a_method_reads_with_the_tokenizer_of_the_detector():
    texts = ["alpha beta gamma", "beta gamma alpha"]
    values = {
        tokenizer: [
            detector("words", tokenizer=tokenizer).signature(url="u", text=text).value
            for text in texts
        ]
        for tokenizer in ("auto", "pairs", "tests.unit.test_detector_methods.first_word")
    }
    assert values["auto"] == values["pairs"]
    assert [len(value) for value in values["auto"]] == [12, 12]
    assert [len(value) for value in values["tests.unit.test_detector_methods.first_word"]] == [4, 4]


def first_word(text: str) -> list[str]:
    return text.split()[:1]


def test_a_method_of_bytes_reads_the_body_and_others_the_main_text():
    html = page(TEA, "茶").replace("<head>", '<head><meta charset="gbk">').encode("gbk")
    tags, manber = open_method("tags"), open_method("manber:one_in=4")
    text = detector(tags).signature(url="u", text=TEA)
    assert text.value == tags.value(TEA.encode())
    assert detector(tags).signature(url="u", html=html).value == tags.value(html)
    of_page = detector(manber).signature(url="u", html=html).value
    assert of_page == manber.value(detector(None).signer.read(html).text)


# --- what is not judged ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "kinds"),
    [
        ("exact", ["new", "duplicate"]),
        ("keywords", ["new", "duplicate"]),
        ("words", ["undecided", "undecided"]),
        ("tags", ["undecided", "undecided"]),
        ("manber", ["undecided", "undecided"]),
    ],
)
def test_short_texts_are_judged_by_methods_made_for_them(method, kinds):
    judge = detector(method)
    verdicts = [judge.check(url=f"u{n}", text="Ferry sinks in the old harbour") for n in range(2)]
    assert [verdict.kind for verdict in verdicts] == kinds
    assert "few_features" in {verdict.reason for verdict in verdicts} or "new" in kinds
    rule = Rule(min_features=0)
    judged = [judge.check(url=f"v{n}", text="Ferry sinks at sea", rule=rule) for n in range(2)]
    assert judged[1].is_duplicate or method == "manber"


def test_a_long_page_is_no_duplicate_of_a_short_one():
    judge = detector(Within(one_in=1, min_similarity=0.01))
    short = "word " * 30
    assert judge.check(url="u", text=short).reason == "few_features"
    assert judge.check(url="v", text=f"{short} {FERRY}").kind == "new"


def test_pages_without_text_or_value_are_undecided():
    assert detector("exact").check(url="u", text=" ").reason == "no_text"
    judge = detector(Raising(where="empty"))
    assert [judge.check(url=f"u{n}", text="number 1").reason for n in range(2)] == [
        "few_features",
        "few_features",
    ]


def test_only_pages_of_one_site_are_compared_where_scope_says_so():
    judge = detector("exact", scope="site")
    urls = ["https://a.example/1", "https://b.example/1", "https://www.a.example/2"]
    verdicts = [judge.check(url=url, text=FERRY) for url in urls]
    assert [verdict.duplicate_of for verdict in verdicts] == [None, None, urls[0]]
    pages = [judge.signature(url=url, text=FERRY) for url in urls]
    assert [judge.compare(pages[0], other) is None for other in pages[1:]] == [True, False]


def test_compare_says_how_similar_two_pages_are():
    judge = detector(Within())
    long, short = (
        judge.signature(url=url, text=" ".join(article(words)))
        for url, words in (("a", 900), ("b", 300))
    )
    for one, other in (long, short), (short, long):
        match = judge.compare(one, other)
        assert match is not None
        assert (match.distance, match.similarity, match.reason) == (None, 1.0, "method")
    assert judge.compare(long, judge.signature(url="c", text=FERRY)) is None


# --- options -----------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["sqlite:///never.sqlite", "redis://:secret@127.0.0.1:1/0"])
def test_other_stores_are_refused_before_they_are_opened(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidOption, match=r"^method is 'exact', but it must be left out") as info:
        NearDupDetector(method="exact", store=address)
    assert "secret" not in str(info.value)
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_ones_own_is_refused():
    class Own:
        name = "own"

    with pytest.raises(InvalidOption, match="own: only one in memory"):
        NearDupDetector(method="exact", store=Own())  # type: ignore[arg-type]


def test_lazy_extraction_and_unknown_methods_are_refused():
    with pytest.raises(InvalidOption, match=r"extraction is 'lazy'.*'full' where a method"):
        detector("exact", extraction="lazy")
    with pytest.raises(InvalidOption, match="minhash"):
        detector("minhsah")
    with pytest.raises(InvalidOption, match="hashes"):
        detector("minhash:0")


# --- methods that fail -------------------------------------------------------------------


@pytest.mark.parametrize("method", [Raising(), NoBytes()])
def test_a_page_whose_value_cannot_be_made_is_undecided(method):
    judge = detector(method)
    verdict = judge.check(url="u", text="number 1")
    assert (verdict.kind, verdict.reason) == ("undecided", "failed")
    with pytest.raises(MethodFailed, match="method numbers failed"):
        judge.signature(url="u", text="number 1")


@pytest.mark.parametrize("where", ["similarity", "keys"])
def test_a_page_that_cannot_be_compared_is_undecided_and_the_next_is_judged(where):
    judge = detector(Raising(where=where))
    verdicts = [judge.check(url=f"u{n}", text="number 1") for n in range(3)]
    # Where keys can be made, the first page is stored.
    assert [verdict.kind for verdict in verdicts] == [
        "new" if where == "similarity" else "undecided",
        "undecided",
        "undecided",
    ]
    assert len(judge.store.numbers()) == (where == "similarity")  # type: ignore[attr-defined]
    # Nothing is left of the others.
    assert not judge.store._index.table.reserved  # type: ignore[attr-defined]


def test_a_page_is_released_even_if_its_keys_cannot_be_made_again():
    calls = []

    class Forgetful(Numbers):
        def keys(self, value: bytes) -> list[int]:
            calls.append(value)
            if len(calls) == 4:  # when the first page is released
                raise ZeroDivisionError
            return [1]

    judge = detector(Forgetful())
    pages = [judge.signature(url=url, text="number 1") for url in "ab"]
    first, waiting = (judge.claim(each) for each in pages)
    assert first.ticket is not None
    assert waiting.outcome is not None
    judge.store.release(first.ticket)
    assert waiting.outcome.done()
    assert judge.claim(pages[1]).verdict.kind == "new"


# --- what a store keeps ------------------------------------------------------------------


def test_the_bytes_of_a_page_have_its_value_and_without_one_are_what_they_were():
    plain = detector(None).signature(url="https://a.example/", html=page(FERRY, "Ferry"))
    valued = replace(plain, value=b"\x00value" * 9)
    for one in plain, valued, replace(valued, key="other"):
        assert unpacked(packed(one), plain.recipe) == one
    assert len(packed(valued)) == len(packed(plain)) + 4 + 54


class Model:
    """All pages that a store met, compared one by one."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.pages: list[dict[str, Any]] = []

    def claim(self, page: PageSignature) -> tuple[str, str | None]:
        """Return the kind, or ``"blocked"``, and the URL of the other page."""
        same = [each for each in self.pages if each["page"].key == page.key]
        if any(each["open"] for each in same):
            return "blocked", None
        if any(each["items"] for each in same):
            return "revisit", None
        outcome = self._judge(page)
        return ("revisit", None) if same and outcome[0] == "new" else outcome

    def _judge(self, page: PageSignature) -> tuple[str, str | None]:
        near = [
            (abs(each["page"].value[0] - page.value[0]), age, each)
            for age, each in enumerate(self.pages)
            if self.scope == "all" or each["page"].site == page.site
        ]
        near = sorted((each for each in near if each[0] <= 1), key=lambda each: each[:2])
        for is_open in False, True:
            for _, _, each in near:
                if each["open"] == is_open and (is_open or each["items"]):
                    return "blocked" if is_open else "duplicate", each["page"].url
        return "new", next((each["page"].url for _, _, each in near), None)

    def reserve(self, ticket: object, page: PageSignature) -> None:
        self.pages.append({"page": page, "open": True, "items": False, "ticket": ticket})

    def settle(self, ticket: object, items: int | None) -> None:
        [claimed] = [each for each in self.pages if each["ticket"] == ticket]
        key = claimed["page"].key
        before = [each for each in self.pages if each is not claimed and each["page"].key == key]
        if items is None or (items == NO_ITEMS and any(each["items"] for each in before)):
            self.pages.remove(claimed)
            return
        self.pages = [each for each in self.pages if each not in before]
        claimed.update(open=False, items=items != NO_ITEMS, ticket=None)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("scope", ["all", "site"])
def test_claims_commits_and_releases_in_any_order_agree_with_a_model(scope, seed):
    rng = random.Random(seed)
    judge, model = detector(Numbers(), scope=scope), Model(scope)
    tickets: list[object] = []
    kinds = set()
    for _ in range(300):
        if tickets and rng.random() < 0.45:
            ticket = tickets.pop(rng.randrange(len(tickets)))
            items = rng.choice([None, NO_ITEMS, OWN_ITEMS, OWN_ITEMS])
            if items is None:
                judge.store.release(ticket)
            else:
                judge.store.commit(ticket, items=items)
            model.settle(ticket, items)
            continue
        url = f"https://{rng.choice('ab')}.example/{rng.randrange(12)}"
        signature = judge.signature(url=url, text=f"number {rng.randrange(30)}")
        claim = judge.claim(signature)
        kind, other = model.claim(signature)
        kinds.add(kind)
        assert claim.is_blocked == (kind == "blocked")
        if kind == "duplicate":
            assert said(claim.verdict) == ("duplicate", "method", other)
        elif kind != "blocked":
            assert claim.verdict.kind == kind
            if kind == "new":
                assert claim.verdict.links_seen_at == other
        assert (claim.ticket is not None) == (kind in ("new", "revisit"))
        if claim.ticket is not None:
            tickets.append(claim.ticket)
            model.reserve(claim.ticket, signature)
    assert kinds == {"new", "duplicate", "revisit", "blocked"}


def test_a_waiting_page_is_judged_when_the_outcome_is_known():
    judge = detector("exact")
    pages = [judge.signature(url=url, text=FERRY) for url in "abc"]
    first = judge.claim(pages[0])
    waiting = judge.claim(pages[1])
    assert waiting.is_blocked
    assert waiting.outcome is not None
    assert first.ticket is not None
    judge.store.release(first.ticket)
    assert waiting.outcome.done()
    again = judge.claim(pages[1])
    assert (again.verdict.kind, again.is_blocked) == ("new", False)
    assert again.ticket is not None
    judge.store.commit(again.ticket)
    assert judge.claim(pages[2]).verdict.duplicate_of == "b"


def test_expired_and_forgotten_pages_are_no_originals(monkeypatch):
    now = [1_000_000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    judge = NearDupDetector(method="minhash", store=MemoryStore(SECRET, ttl=10))
    assert judge.check(url="a", text=FERRY).kind == "new"
    assert judge.check(url="b", text=FERRY).duplicate_of == "a"
    now[0] += 11
    assert judge.check(url="b", text=FERRY).kind == "new"
    assert judge.store.compact() == 1
    judge.store.forget("b")
    assert judge.check(url="c", text=FERRY).kind == "new"
    assert len(judge.store._index._values) == 1  # type: ignore[attr-defined]
