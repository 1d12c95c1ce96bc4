"""Attackers who know the code and a page, but not the store's secret, cannot forge a copy."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scrapy_neardup import NearDupDetector, Rule, SignatureMismatch
from scrapy_neardup.hashing.minhash import (
    SKETCH_BINS,
    ShingleKey,
    mixed,
    resemblance,
    shingle_hashes,
    sketches_of,
)
from scrapy_neardup.hashing.simhash import hamming_distance
from scrapy_neardup.matching import candidates as search
from scrapy_neardup.signatures.signature import SHOWN_SIZE, PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import MemoryStore, Store
from scrapy_neardup.text.idf import shipped_table, token_hashes
from scrapy_neardup.text.vocabulary import weigh
from tests.support.claims import met
from tests.support.reference import jaccard
from tests.support.texts import FERRY, article, replaced, word


def detector(**options: Any) -> NearDupDetector:
    """Return a detector with a secret that the attacker does not know.

    It is the same in every run: under some secrets too few of the first bins of a short text are
    filled to tell it from a flood, and it is ``crowded``.
    """
    return NearDupDetector(store=MemoryStore(b"nobody but the store knows this"), **options)


VICTIM = article(300, seed=1)
OWN = article(300, seed=2)
IDF = shipped_table("multilingual")
STRICT = Rule(max_distance=0, min_similarity=1, scope="site")


def signs(fingerprint: int) -> np.ndarray:
    return np.array([1.0 if fingerprint >> bit & 1 else -1.0 for bit in range(64)])


def public_fingerprint(words: list[str]) -> int:
    """The fingerprint needs no secret: anybody can compute it."""
    return (
        Signer(secret=b"any secret of 16")
        .sign_text("https://x.example/", " ".join(words))
        .fingerprint
    )


def padding(words: list[str], target: int, within: int = 3) -> list[str]:
    """Words to append until the fingerprint of ``words`` is near another one.

    Hill-climbing: of many made-up words, which all have the greatest weight, the one that best
    pushes the bits that are wrong or might become wrong.
    """
    hashes, weights = weigh(words, IDF)
    bits = np.arange(64, dtype=np.uint64)
    sums = ((2.0 * (hashes[:, None] >> bits & np.uint64(1)) - 1) * weights[:, None]).sum(0)
    pool = [word(number) for number in range(10**6, 10**6 + 20_000)]
    of_pool = 2.0 * (token_hashes(pool)[:, None] >> bits & np.uint64(1)) - 1
    wanted, weight = signs(target), float(weigh(pool[:1], IDF).weights[0])
    margins, steps = sums * wanted, of_pool * wanted * weight
    added: list[str] = []
    while np.count_nonzero(margins <= 0) > within:
        assert len(added) < 400, "the attack fails"
        best = int(np.minimum(margins + steps, 2 * weight).sum(1).argmax())
        margins += steps[best]
        steps[best] = -np.inf
        added.append(pool[best])
    return added


@pytest.fixture(scope="module")
def forged() -> list[str]:
    """The attacker's own words, and others by which their fingerprint is the victim's."""
    return OWN + padding(OWN, public_fingerprint(VICTIM))


# --- forged fingerprints ----------------------------------------------------------------


@pytest.mark.parametrize(
    "attacker", ["https://mallory.example/", "https://victim.example/~mallory"]
)
@pytest.mark.parametrize("titles", [("Ferries", "Ferries"), ("Ferries", "Cheap pills"), ("", "")])
@pytest.mark.parametrize("attacker_first", [True, False])
def test_forged_fingerprint_drops_no_page(forged, attacker, titles, attacker_first):
    judge = detector()
    victim = judge.signature(url="https://victim.example/1", text=" ".join(VICTIM), title=titles[0])
    forgery = judge.signature(url=attacker, text=" ".join(forged), title=titles[1])
    assert hamming_distance(victim.fingerprint, forgery.fingerprint) <= 3
    order = [forgery, victim] if attacker_first else [victim, forgery]
    assert [judge.check(signature).kind for signature in order] == ["new", "new"]


def test_forged_fingerprint_with_half_of_the_text_drops_no_page():
    words = VICTIM[:150] + OWN
    words += padding(words, public_fingerprint(VICTIM))
    judge = detector()
    forgery = judge.signature(url="https://mallory.example/", text=" ".join(words))
    victim = judge.signature(url="https://victim.example/", text=" ".join(VICTIM))
    assert hamming_distance(victim.fingerprint, forgery.fingerprint) <= 3
    assert [judge.check(s).kind for s in (forgery, victim)] == ["new", "new"]


def test_forged_fingerprint_drops_the_page_without_a_sketch():
    # The attack is real: the plain method of 2007 drops the victim.
    words = OWN + padding(OWN, public_fingerprint(VICTIM))
    judge = detector(min_similarity=0, max_distance=3)
    judge.check(url="https://mallory.example/", text=" ".join(words))
    verdict = judge.check(url="https://victim.example/", text=" ".join(VICTIM))
    assert verdict.duplicate_of == "https://mallory.example/"


# --- stuffing ---------------------------------------------------------------------------


@pytest.mark.parametrize("stuffed_first", [True, False])
def test_page_that_repeats_the_text_drops_no_page(stuffed_first):
    half = len(OWN) // 2
    words = OWN[:half] + 32 * VICTIM + OWN[half:]
    words += padding(words, public_fingerprint(VICTIM))
    judge = detector()
    stuffed = judge.signature(url="https://mallory.example/", text=" ".join(words))
    victim = judge.signature(url="https://victim.example/", text=" ".join(VICTIM))
    assert hamming_distance(victim.fingerprint, stuffed.fingerprint) <= 3
    assert jaccard(VICTIM, words, 4) == pytest.approx(0.4, abs=0.1)
    order = [stuffed, victim] if stuffed_first else [victim, stuffed]
    assert [judge.check(signature).kind for signature in order] == ["new", "new"]


@pytest.mark.parametrize(("own_words", "is_one"), [(30, True), (200, False)])
def test_page_with_the_text_and_little_else_is_a_copy(own_words, is_one):
    # The rule asks for resemblance, not for containment: 300 words and 30 more resemble by 0.9.
    judge = detector()
    victim = judge.signature(url="https://victim.example/", text=" ".join(VICTIM))
    words = OWN[:own_words] + VICTIM
    words += padding(words, public_fingerprint(VICTIM), within=11)
    longer = judge.signature(url="https://mallory.example/", text=" ".join(words))
    assert (judge.compare(victim, longer) is not None) is is_one


# --- floods -----------------------------------------------------------------------------


def flooded(store: Store, pages: list[PageSignature]) -> None:
    for flooding in pages:
        assert not met(store, flooding, STRICT).is_duplicate


def flood(
    like: PageSignature, count: int, fingerprint: Callable[[random.Random], int]
) -> list[PageSignature]:
    """Different pages of an attacker's, each with a fingerprint of the attacker's choice."""
    rng, sketches = random.Random(5), np.random.default_rng(5)
    return [
        replace(
            like,
            url=f"https://mallory.example/{n}",
            key=f"https://mallory.example/{n}",
            site="mallory.example",
            title=((f"page{n}",),),
            fingerprint=fingerprint(rng),
            sketch=sketches.integers(1, 256, SKETCH_BINS, np.uint8).tobytes(),
            text_digest=rng.randbytes(16),
            shown_digest=rng.randbytes(SHOWN_SIZE),
        )
        for n in range(count)
    ]


def near(rng: random.Random, fingerprint: int, bits: int = 3) -> int:
    return fingerprint ^ sum(1 << bit for bit in rng.sample(range(64), bits))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one block", "near"])
@pytest.mark.parametrize("victim_first", [True, False])
def test_verdicts_are_correct_during_a_flood(kind, victim_first):
    judge = detector()
    victim, copy, other = (
        judge.signature(url=f"https://{name}.example/", text=" ".join(words))
        for name, words in (
            ("victim", VICTIM),
            ("copy", replaced(VICTIM, 0.01)),
            ("other", sorted(VICTIM)),
        )
    )
    choice: dict[str, Callable[[random.Random], int]] = {
        "one block": lambda rng: rng.getrandbits(48) << 16 | victim.fingerprint & 0xFFFF,
        "near": lambda rng: near(rng, victim.fingerprint),
    }
    pages = flood(victim, 20_000, choice[kind])
    assert len(pages) > search.MAX_SKETCHES
    if victim_first:
        assert judge.check(victim).kind == "new"
    flooded(judge.store, pages)
    if not victim_first:
        assert judge.check(victim).kind == "new"
    # The same words in another order: near by its fingerprint, and a page of its own.
    assert hamming_distance(victim.fingerprint, other.fingerprint) == 0
    assert judge.check(other).kind == "new"
    verdict = judge.check(copy)
    assert (verdict.kind, verdict.duplicate_of) == ("duplicate", victim.url)
    again = replace(victim, url="https://again.example/", key="again", site="again.example")
    assert judge.check(again).duplicate_of == victim.url


@pytest.mark.slow
def test_a_flood_that_resembles_the_victim_cannot_hide_an_equal_page():
    # Pages that nobody without the secret can make: near it by their sketches as well.
    judge = detector()
    text = " ".join(VICTIM)
    victim = judge.signature(url="https://shop.example/1", text=text, title="Kettle X200")
    alike = [
        replace(s, site="shop.example", sketch=victim.sketch, title=((f"kettle{n}",),))
        for n, s in enumerate(flood(victim, 3000, lambda rng: near(rng, victim.fingerprint, 1)))
    ]
    half = len(alike) // 2
    flooded(judge.store, alike[:half])
    assert judge.check(victim).is_duplicate is False
    flooded(judge.store, alike[half:])
    again = judge.signature(url="https://shop.example/2", text=text, title="Kettle X200")
    assert judge.check(again).duplicate_of == victim.url
    lost = judge.signature(url="https://shop.example/3", text=" ".join(replaced(VICTIM, 0.005)))
    verdict = judge.check(replace(lost, sketch=victim.sketch, title=(("lid",),)))
    assert (verdict.kind, verdict.reason) == ("undecided", "crowded")


# --- the sketch -------------------------------------------------------------------------


def crafted(target: list[str], key: ShingleKey) -> list[str]:
    """Words of no shingle of the target's, chosen for a sketch like the target's under a key.

    Word by word, of thousands, the one whose shingle puts the target's byte into one more bin.
    """
    wanted = sketched(target, key)
    pool = [word(number) for number in range(20_000, 26_000)]
    units = token_hashes(pool, key.seed)
    least = np.full(SKETCH_BINS, 2**32, np.uint64)
    agrees = np.zeros(SKETCH_BINS, bool)
    text = pool[:3]
    while len(text) < 450:
        before = token_hashes(text[-3:], key.seed)
        sums = (before * key.factors[:3]).sum() + units * key.factors[3]
        hashes = mixed(sums) >> np.uint64(32)
        bins = (hashes * np.uint64(SKETCH_BINS) >> np.uint64(32)).astype(np.intp)
        values = hashes % np.uint64(255) + np.uint64(1)
        is_least = hashes < least[bins]
        hits = is_least & (values == wanted[bins])
        harm = is_least & ~hits & (agrees[bins] | (wanted[bins] == 0))
        best = int((1.0 * (hits & ~agrees[bins]) - harm).argmax())
        if is_least[best]:
            least[bins[best]], agrees[bins[best]] = hashes[best], hits[best]
        text.append(pool[best])
    return text


def sketched(words: list[str], key: ShingleKey) -> np.ndarray:
    sketch: np.ndarray = sketches_of([shingle_hashes(token_hashes(words, key.seed), key)])[0]
    return sketch


def test_a_sketch_is_forged_under_a_known_key_only():
    known = ShingleKey.from_secret(b"a key that the attacker knows")
    forgery = crafted(VICTIM, known)
    assert jaccard(forgery, VICTIM, 4) == 0
    # With the key the attack succeeds: two texts without a common shingle would be one content.
    assert resemblance(sketched(forgery, known), sketched(VICTIM, known)) > Rule.min_similarity
    for number in range(20):
        real = ShingleKey.from_secret(b"the store's own secret %d" % number)
        assert resemblance(sketched(forgery, real), sketched(VICTIM, real)) < 0.05


def test_half_resembling_texts_are_not_overestimated():
    known = ShingleKey.from_secret(b"a key that the attacker knows")
    variants = [VICTIM[:180] + article(120, seed=seed) for seed in range(100)]
    best = max(variants, key=lambda v: resemblance(sketched(v, known), sketched(VICTIM, known)))
    exact = jaccard(best, VICTIM, 4)
    estimates = []
    for number in range(20):
        real = ShingleKey.from_secret(b"the store's own secret %d" % number)
        estimates.append(resemblance(sketched(best, real), sketched(VICTIM, real)))
    assert np.mean(estimates) == pytest.approx(exact, abs=0.02)
    assert max(estimates) < exact + 0.1 < Rule.min_similarity


# --- signatures of somebody else's ------------------------------------------------------


def test_signatures_made_under_another_secret_are_refused():
    judge, mallory = NearDupDetector(), NearDupDetector()
    forged = mallory.signature(url="https://victim.example/", text=FERRY)
    own = judge.signature(url="https://victim.example/", text=FERRY)
    judge.check(own)
    for refuse in (
        lambda: judge.check(forged),
        lambda: judge.compare(own, forged),
        lambda: judge.compare(forged, own),
        lambda: judge.rule.compare(own, forged, judge.store.boilerplates),
        lambda: judge.store.claim(forged, judge.rule),
    ):
        with pytest.raises(SignatureMismatch):
            refuse()
    assert len(judge.store) == 1


# --- what is learned of a site ----------------------------------------------------------


def taught(judge: NearDupDetector, titles: list[str], texts: list[str]) -> None:
    """Pages of the attacker's on the victim's site, so that it seems to share what they show."""
    for number, title in enumerate(titles):
        text = texts[number % len(texts)]
        judge.check(url=f"https://host.example/~mallory/{title}", text=text, title=title)


def test_forged_boilerplate_merges_no_pages():
    # Two archives of one title: most of their text is the site's, and the rest is their own.
    frame = article(400, seed=9)
    one, other = (" ".join(frame + article(60, seed=seed)) for seed in (10, 11))
    posts = [" ".join(frame + article(60, seed=seed)) for seed in range(20, 32)]
    assert jaccard(one.split(), other.split(), 4) > Rule.min_similarity
    judge = detector()
    taught(judge, [f"Post {word(n)} | Blog" for n in range(12)], posts)
    signed = [
        judge.signature(url=f"https://host.example/archive/{n}", text=text, title="Archive | Blog")
        for n, text in enumerate((one, other))
    ]
    assert judge.compare(*signed) is None
    # The attacker copies both under so many titles that all of their text seems the site's.
    taught(judge, [f"Copy {word(n)} | Blog" for n in range(60)], [one, other])
    texts = judge.store.boilerplates.of("host.example").texts
    left = [int(np.count_nonzero(texts.own(s.sketch_values))) for s in signed]
    assert max(left) < 20, left
    assert judge.compare(*signed) is None
    assert not any(judge.check(signature).is_duplicate for signature in signed)


def test_forged_boilerplate_keeps_a_copy_at_worst():
    # The attacker shows the victim's text as a notice, under many titles: its copies are kept.
    judge = detector()
    words = " ".join(VICTIM)
    taught(judge, [f"Title {word(n)}" for n in range(10)], [words])
    for number in (1, 2):
        text = words if number == 1 else " ".join(replaced(VICTIM, 0.01))
        verdict = judge.check(url=f"https://host.example/{number}", text=text, title="Ferries")
        assert verdict.kind in ("new", "undecided", "duplicate")
        assert verdict.duplicate_of in (None, "https://host.example/1")


def kinds_of_two_wares(rest: str) -> list[str]:
    """Two wares told apart by their titles alone, whose names somebody put beside other parts."""
    judge = detector()
    goods = [" ".join(article(200, seed)) for seed in range(50, 58)]
    taught(judge, [f"Kettle {word(n)} | Shop" for n in range(8)], goods)
    for name in ("Kettle X200", "Kettle X300"):
        taught(judge, [f"{name} | {word(n)}" for n in range(4)], goods)
    wares = [
        judge.signature(
            url=f"https://host.example/{name}",
            text=" ".join(replaced(VICTIM, 0.01, seed)),
            title=f"{name} | {rest}",
        )
        for seed, name in enumerate(("Kettle X200", "Kettle X300"))
    ]
    own_parts = judge.store.boilerplates.of("host.example").titles.own_parts
    assert own_parts(wares[0].title) == own_parts(wares[1].title)
    return [judge.check(ware).kind for ware in wares]


def test_product_name_on_its_manual_and_reviews_is_not_the_sites_name():
    assert kinds_of_two_wares("Shop") == ["new", "new"]


def test_forged_titles_merge_no_products():
    assert kinds_of_two_wares("red | Shop") == ["new", "new"]
