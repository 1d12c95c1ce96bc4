from __future__ import annotations

import doctest
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scrapy_neardup.detector
from scrapy_neardup import (
    IdfTable,
    InvalidOption,
    NearDupDetector,
    Rule,
    SignatureMismatch,
    Verdict,
)
from scrapy_neardup.hashing.simhash import hamming_distance, to_hex
from scrapy_neardup.reasons import Reason
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.text import weighting as features
from tests.support.reference import fingerprint
from tests.support.texts import BRIDGE, FERRY, MIXED, MUSEUM, TEA, article, page, replaced

SECRET = b"one secret for all tests"


def detector(**options) -> NearDupDetector:
    return NearDupDetector(store=MemoryStore(SECRET), **options)


def checked(judge: NearDupDetector, url: str, words: list[str], title: str = "") -> Verdict:
    return judge.check(url=url, text=" ".join(words), title=title)


# --- fingerprints -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens", "golden"),
    [
        (
            "Simhash maps near-duplicate pages to near fingerprints; pages differ, bits differ.",
            "simhash maps near duplicate pages to near fingerprints pages differ bits differ",
            "aa14e9eb1dee97d8",
        ),
        (
            "我来到北京清华大学，清华大学在北京。",
            "我 来到 北京 清华大学 清华大学 在 北京",
            "04f560a2e4535efe",
        ),
        (
            "使用Python 3编程，Scrapy是一个爬虫框架。",
            "使用 python 3 编程 scrapy 是 一个 爬虫 框架",
            "e55b32b820c606fd",
        ),
    ],
)
def test_fingerprints_equal_an_independent_computation(text, tokens, golden):
    signature = detector().signature(url="https://a.example/", text=text)
    assert to_hex(signature.fingerprint) == f"{fingerprint(tokens.split()):016x}" == golden


def test_fingerprints_do_not_depend_on_the_secret_but_sketches_do():
    one, other = (NearDupDetector().signature(url="u", text=FERRY) for _ in range(2))
    assert one.fingerprint == other.fingerprint
    assert one.sketch != other.sketch
    assert one.text_digest != other.text_digest


def test_a_signature_travels_between_processes():
    signature = detector().signature(url="https://a.example/", html=page(MIXED, "Mixed"))
    assert pickle.loads(pickle.dumps(signature)) == signature
    assert len(pickle.dumps(signature)) < 1000


def test_bytes_and_text_of_a_page_have_one_signature():
    judge = detector()
    html = page(TEA, "茶叶博物馆").replace("<head>", '<head><meta charset="gbk">')
    assert judge.signature(url="u", html=html) == judge.signature(url="u", html=html.encode("gbk"))


# --- verdicts ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", [FERRY, MUSEUM, TEA, BRIDGE, MIXED])
def test_a_copy_on_another_site_is_a_duplicate(text):
    judge = detector()
    assert (
        judge.check(url="https://a.example/1", html=page(text, "One title", "Daily")).kind == "new"
    )
    verdict = judge.check(url="https://b.example/2", html=page(text, "One title", "Mirror"))
    assert verdict == Verdict(
        "duplicate", "https://b.example/2", Reason.SAME_TEXT, "https://a.example/1", 0, 1.0
    )


def test_different_texts_are_all_new():
    judge = detector()
    texts = [FERRY, MUSEUM, TEA, BRIDGE]
    kinds = [judge.check(url=f"https://{n}.example/", text=t).kind for n, t in enumerate(texts)]
    assert kinds == ["new"] * 4


def test_a_small_change_is_a_duplicate_and_says_how_near():
    judge = detector()
    words = article(1000)
    checked(judge, "https://a.example/", words)
    verdict = checked(judge, "https://b.example/", replaced(words, 0.02))
    assert (verdict.kind, verdict.reason) == ("duplicate", "similar_text")
    assert verdict.distance in range(12)
    # Two words in a hundred break about eight 4-shingles in a hundred: 0.92 / 1.08 = 0.85.
    assert verdict.similarity == pytest.approx(0.85, abs=0.08)


def test_a_large_change_is_new():
    judge = detector()
    words = article(1000)
    checked(judge, "https://a.example/", words)
    assert checked(judge, "https://b.example/", replaced(words, 0.25)).kind == "new"


def test_a_page_that_is_kept_names_the_one_it_resembles_and_what_spoke_against_it():
    judge = detector(min_similarity=0.9)
    words = article(1000)
    site = "https://a.example"
    for number, title in enumerate(("Kettle X200", "Kettle X300")):
        text = " ".join(replaced(words, 0.02) if number else words)
        judge.check(url=f"{site}/{number}", text=text, title=title)
    text = " ".join(words)
    variant = judge.check(url=f"{site}/2", text=text, title="Kettle X400")
    assert variant.kind == "new"
    like = variant.look_alike
    assert like is not None
    assert (like.url, like.distance, like.similarity) == (f"{site}/0", 0, 1.0)
    assert like.objection == Reason.TITLE_DIFFERS
    other = detector(min_similarity=0.9)
    checked(other, "https://a.example/", words)
    like = checked(other, "https://b.example/", replaced(words, 0.02)).look_alike
    assert like is not None
    assert (like.url, like.objection) == ("https://a.example/", "text_differs")
    assert like.similarity == pytest.approx(0.85, abs=0.08)
    assert like.distance in range(12)
    assert checked(other, "https://c.example/", article(1000, seed=9)).look_alike is None


def test_the_most_similar_page_is_named():
    judge = detector(min_similarity=0.3)
    words = article(1000)
    for share in (0.06, 0.03):
        text = " ".join(replaced(words, share))
        judge.check(url=f"https://{share}.example/", text=text, rule=Rule(min_similarity=1.0))
    assert len(judge.store) == 2
    assert checked(judge, "https://c.example/", words).duplicate_of == "https://0.03.example/"


def test_the_same_address_again_is_a_revisit_and_its_entry_follows():
    judge = detector()
    first, second = "https://a.example/?b=1&a=2", "https://a.example/?a=2&b=1#top"
    assert judge.check(url=first, text=FERRY).kind == "new"
    assert judge.check(url=second, text=FERRY) == Verdict("revisit", second, Reason.UNCHANGED)
    assert judge.check(url=second, text=MUSEUM) == Verdict("revisit", second, Reason.CHANGED)
    assert len(judge.store) == 1
    assert judge.check(url="https://b.example/", text=FERRY).kind == "new"
    assert judge.check(url="https://c.example/", text=MUSEUM).duplicate_of == second


def test_without_text_a_page_is_undecided_and_not_remembered():
    judge = detector()
    for number, html in enumerate(["", "<html></html>", "<p> … </p>", "<script>x</script>"]):
        verdict = judge.check(url=f"https://{number}.example/", html=html)
        assert (verdict.kind, verdict.reason) == ("undecided", "no_text")
    assert len(judge.store) == 0


def test_a_page_that_cannot_be_read_is_undecided():
    def clumsy(html, tree):
        raise ZeroDivisionError

    verdict = detector(extractor=clumsy).check(url="https://a.example/", html=page(FERRY))
    assert verdict == Verdict("undecided", "https://a.example/", Reason.EXTRACTION_FAILED)


# --- short pages ------------------------------------------------------------------------


def test_short_texts_are_no_duplicates_even_when_they_are_equal():
    judge = detector()
    verdicts = [
        judge.check(url=f"https://{number}.example/", text=text)
        for number, text in enumerate(
            ["Closed on Mondays.", "Closed on Tuesdays.", "Closed on Mondays.", "C++", "C", "C#"]
        )
    ]
    assert {(v.kind, v.reason) for v in verdicts} == {("undecided", "few_features")}
    assert len(judge.store) == 6


def test_but_pages_are_when_they_are_equal_all_over():
    judge, closed = detector(), page("Closed on Mondays.", "Opening hours")
    kinds = [judge.check(url=f"https://a.example/{n}", html=closed).kind for n in (1, 2)]
    other = judge.check(url="https://a.example/3", html=closed.replace("/'>", "/?3'>"))
    assert (*kinds, other.kind) == ("undecided", "duplicate", "undecided")


def test_without_a_least_number_of_words_equal_texts_are_enough():
    judge = detector(min_features=0)
    kinds = [judge.check(url=f"https://{n}.example/", text="Closed on Mondays.").kind for n in "ab"]
    assert kinds == ["new", "duplicate"]


def test_how_short_is_short_can_be_set():
    words = article(30)
    nearly = [*words[:-1], "else"]
    for least, kind in ((10, "duplicate"), (100, "undecided")):
        judge = detector(min_features=least, min_similarity=0.5)
        checked(judge, "https://a.example/", words)
        assert checked(judge, "https://b.example/", nearly).kind == kind


# --- titles -----------------------------------------------------------------------------


def variants(judge: NearDupDetector, site: str, other_site: str, *titles: str) -> str:
    words = article(300)
    checked(judge, f"https://{site}/1", words, titles[0])
    return checked(judge, f"https://{other_site}/2", words, titles[1]).kind


@pytest.mark.parametrize(
    ("titles", "kind"),
    [
        (("Kettle X200 - Shop", "Kettle X300 - Shop"), "new"),
        (("Jumper, red", "Jumper, green"), "new"),
        (("Archive: page 2", "Archive: page 3"), "new"),
        (("标签：历史", "标签：音乐"), "new"),
        (("Kettle X200 - Shop", "KETTLE X200 | Shop"), "duplicate"),
        (("The ferry - Daily", "The ferry"), "duplicate"),
        (("The ferry", "The ferry (print view)"), "duplicate"),
        (("", "The ferry"), "duplicate"),
    ],
)
def test_on_one_site_the_titles_must_agree(titles, kind):
    assert variants(detector(), "a.example", "www.a.example", *titles) == kind


def test_on_two_sites_the_titles_may_differ():
    assert variants(detector(), "a.example", "b.example", "Kettle", "Wasserkocher") == "duplicate"


# --- scope ------------------------------------------------------------------------------


def test_within_one_site_only():
    judge = detector(scope="site")
    assert judge.check(url="https://a.example/1", text=FERRY).kind == "new"
    assert judge.check(url="https://b.example/1", text=FERRY).kind == "new"
    assert judge.check(url="https://www.b.example/2", text=FERRY).duplicate_of == (
        "https://b.example/1"
    )


# --- one rule for check and compare -----------------------------------------------------

SHARES = st.sampled_from([0, 0.01, 0.03, 0.05, 0.08, 0.12, 0.3])


@given(SHARES, st.integers(0, 50), st.integers(0, 11), st.sampled_from([0, 0.5, 0.75, 0.95]))
def test_compare_and_check_say_the_same(share, seed, distance, similarity):
    judge = detector(max_distance=distance, min_similarity=similarity)
    words = article(200, seed)
    a = judge.signature(url="https://a.example/", text=" ".join(words))
    b = judge.signature(url="https://b.example/", text=" ".join(replaced(words, share)))
    judge.check(a)
    verdict, match = judge.check(b), judge.compare(a, b)
    assert judge.compare(b, a) == match
    if match is None:
        assert verdict.kind == "new"
    else:
        assert (verdict.kind, verdict.distance, verdict.similarity, verdict.reason) == (
            "duplicate",
            match.distance,
            match.similarity,
            match.reason,
        )
        assert match.distance <= distance
        assert match.similarity >= similarity


def test_similarity_zero_is_the_plain_method_of_manku():
    plain = detector(max_distance=3, min_similarity=0)
    a = plain.signature(url="https://a.example/", text=" ".join(article(300)))
    forged = replace(
        plain.signature(url="https://b.example/", text=FERRY), fingerprint=a.fingerprint ^ 0b111
    )
    match = plain.compare(a, forged)
    assert match is not None
    assert (match.distance, match.reason) == (3, "similar_text")
    assert match.similarity < 0.03
    assert detector().compare(a, forged) is None
    assert hamming_distance(a.fingerprint, forged.fingerprint) == 3


def test_two_empty_pages_are_no_match():
    judge = detector()
    a, b = (judge.signature(url=f"https://{n}.example/", text="") for n in "ab")
    assert judge.compare(a, b) is None


def test_a_rule_for_one_page():
    judge = detector()
    words = article(300)
    checked(judge, "https://a.example/", words)
    changed = " ".join(replaced(words, 0.01))
    strict = Rule(min_similarity=1.0)
    assert judge.check(url="https://b.example/", text=changed, rule=strict).kind == "new"


# --- signatures that do not belong together ---------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"tokenizer": "pairs"},
        {"idf": "none"},
        {"idf": IdfTable("own", 80, {"the": 1})},
        {"extractor": "visible"},
    ],
)
def test_signatures_made_in_other_ways_are_refused(options):
    own, other = detector(), detector(**options)
    a, b = (judge.signature(url="https://a.example/", text=FERRY) for judge in (own, other))
    for refused in (
        lambda: own.compare(a, b),
        lambda: own.compare(b, a),
        lambda: own.check(b),
        lambda: Rule().compare(a, b, own.store.boilerplates),
    ):
        with pytest.raises(SignatureMismatch, match="tokenizer, dictionary, IDF table") as info:
            refused()
        assert {info.value.recipe, info.value.other} == {a.recipe, b.recipe}


def test_signatures_of_another_secret_are_refused():
    with pytest.raises(SignatureMismatch):
        detector().check(NearDupDetector().signature(url="u", text=FERRY))


def test_another_version_of_the_weighting_is_another_recipe(monkeypatch):
    before = detector().signer.recipe
    assert detector().signer.recipe == before
    monkeypatch.setattr(features, "VERSION", "another")
    assert detector().signer.recipe != before


def test_both_jiebas_make_one_kind_of_signature():
    a, b = (detector(tokenizer=name).signature(url="u", text=MIXED) for name in ("jieba", "rjieba"))
    assert a == b


# --- arguments --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("max_distance", 12, "a whole number from 0 to 11"),
        ("max_distance", -1, "a whole number from 0 to 11"),
        ("max_distance", 3.0, "a whole number from 0 to 11"),
        ("max_distance", True, "a whole number from 0 to 11"),
        ("max_distance", "3", "a whole number from 0 to 11"),
        ("min_similarity", 1.01, "a number from 0 to 1"),
        ("min_similarity", -0.1, "a number from 0 to 1"),
        ("min_similarity", float("nan"), "a number from 0 to 1"),
        ("min_similarity", None, "a number from 0 to 1"),
        ("min_features", -1, "a whole number of 0 or more"),
        ("scope", "domain", "'all' or 'site'"),
        ("tokenizer", "words", "'auto', 'jieba', 'rjieba', 'pairs' or an import path"),
        ("tokenizer", 5, "a shipped name, an import path or a callable"),
        ("tokenizer", "no.such.thing", "a valid import path"),
        ("tokenizer", "math.pi", "a shipped name, an import path or a callable"),
        ("idf", "english", "one of 'multilingual', 'none', a table's path or an import path"),
        ("idf", "absent.gz", "a readable file"),
        ("idf", "math.pi", "a shipped name, a path, an import path or an IdfTable"),
        ("extractor", "boilerpipe", "'trafilatura', 'resiliparse', 'visible' or an import path"),
        ("store", "mysql://localhost", "'memory'"),
    ],
)
def test_wrong_arguments_are_refused_with_name_value_and_bound(option, value, expected):
    with pytest.raises(InvalidOption) as info:
        NearDupDetector(**{option: value})
    assert (info.value.option, info.value.expected[: len(expected)]) == (option, expected)
    assert str(info.value).startswith(f"{option} is {info.value.value!r}, but it must be ")


def test_parts_of_the_users_own():
    judge = detector(
        tokenizer="tests.support.parts.letters",
        idf="tests.support.parts.FLAT",
        extractor="tests.support.parts.first_paragraph",
    )
    signature = judge.signature(url="u", html="<html><body><p>abc</p><p>xyz</p></body></html>")
    assert signature.n_features == 3


def test_exactly_one_of_html_and_text():
    for page_arguments in ({}, {"html": "<p>x", "text": "x"}):
        with pytest.raises(TypeError, match=r"either html .* or text"):
            detector().signature(url="u", **page_arguments)
    judge = detector()
    with pytest.raises(TypeError, match="either a signature or"):
        judge.check(judge.signature(url="u", text=FERRY), url="u")  # type: ignore[call-overload]


def test_a_store_that_holds_no_unread_pages_is_refused_lazy_ones():
    class OwnStore(MemoryStore):
        holds_unread = False

    with pytest.raises(InvalidOption, match=r"extraction is 'lazy'.*must be 'full' with memory"):
        NearDupDetector(store=OwnStore(), extraction="lazy")


@pytest.mark.parametrize("secret", [b"", b"too short"])
def test_a_secret_that_can_be_guessed_is_refused(secret):
    with pytest.raises(InvalidOption, match="must be 16 to 64 bytes"):
        Signer(secret=secret)


def test_the_examples_in_the_documentation_run():
    assert doctest.testmod(scrapy_neardup.detector).attempted > 0
    assert doctest.testmod(scrapy_neardup.detector).failed == 0
