"""Times fingerprints of tokens: this package and others, on the same texts.

The times of all packages include counting and weighting. Packages that weight words get the same
tokens and weights; the other packages look a weight up in a dictionary. MinHash has 128
permutations and hashes word 3-grams; the time includes building them.

Each round has other texts, as a crawl does. This package caches words, so it is timed twice: with
a vocabulary that contains all words of these texts, and with one that has read hundreds of other
texts and lacks one word in twenty.

The tokens of a text are made just before it is timed, because a tokenizer passes them on while
they are in the processor's caches. This package's tokenizer passes on positions in the text and
makes no strings. A list of strings, which other packages and custom tokenizers use, is timed on a
line of its own.

Many benchmarks time a single text repeatedly. After the first time, the text and its words are in
the caches; these times are in a separate table.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from scrapy_neardup.exceptions import UnreadablePage
from scrapy_neardup.hashing.simhash import simhash
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.text.characters import code_points
from scrapy_neardup.text.idf import shipped_table, token_hashes
from scrapy_neardup.text.tokenization import Spans
from scrapy_neardup.text.vocabulary import Vocabulary

from ..common.goals import Goal
from ..common.measuring import Spread, in_turn, processor_seconds
from ..common.packages import Package
from ..common.stored_pages import Page, html_of
from ..common.tables import Table
from ..corpora import made_up_texts
from .parts import Check, Part, Standing, ratio, standings

_ABOUT = __doc__ or ""
#: Tokens of a text.
LENGTH = 1000
#: Texts of a round at most, and those that are read before the first one.
_TEXTS, _BEFORE = 20, 600
_PERMUTATIONS = 128
_UNITS = 16
_IDF = shipped_table("multilingual")
_VOCABULARY, _KNOWING = Vocabulary(_IDF), Vocabulary(_IDF)
_OF_STRINGS = Vocabulary(_IDF)
#: What a word's frequency in a text multiplies its weight by.
_SATURATED = [0.0, *np.rint(_UNITS * (1 + np.log(np.arange(1, LENGTH + 1)))).tolist()]


def fingerprint(tokens: Spans) -> int:
    """The fingerprint, the way the package makes it of a page's tokens in a crawl."""
    [features] = _VOCABULARY.read(tokens).features
    return simhash(*features)


def spans_of(tokens: Sequence[str], text: str) -> Spans:
    """Tokens by the places where they stand.

    :param text: the tokens, joined by blanks.
    """
    lengths = np.fromiter(map(len, tokens), np.intp, len(tokens))
    return Spans(text, code_points(text), np.cumsum(lengths + 1) - lengths - 1, lengths)


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, its tokens, as strings and by their places, and what each word of all weighs."""

    tokens: list[str]
    text: str
    weights: dict[str, float]
    spans: Spans

    def weighed(self) -> dict[str, float]:
        """Distinct tokens and their weights, see :func:`scrapy_neardup.text.vocabulary.weigh`."""
        return {
            token: _SATURATED[count] * self.weights[token]
            for token, count in Counter(self.tokens).items()
        }


def samples(tokens: Iterable[list[str]]) -> list[Sample]:
    texts = list(tokens)
    words = list({token for text in texts for token in text})
    known = _IDF.weights(token_hashes(words)).tolist()
    weights = {
        word: 1.0 if re.search(r"\d", word) else float(weight)
        for word, weight in zip(words, known, strict=True)
    }
    return [
        Sample(text, joined := " ".join(text), weights, spans_of(text, joined)) for text in texts
    ]


def made_up_samples(rounds: int) -> list[Sample]:
    return samples(made_up_texts.texts(_wanted(rounds), LENGTH))


def _wanted(rounds: int) -> int:
    return _BEFORE + rounds * _TEXTS


def samples_of(pages: Iterable[Page], rounds: int) -> list[Sample]:
    """The beginnings of pages that are long enough, as many as are needed."""
    signer = Signer(secret=b"a benchmark has nothing to hide.")

    def long_texts() -> Iterable[list[str]]:
        for page in pages:
            try:
                tokens = signer.tokens(signer.read(html_of(page)).text)
            except UnreadablePage:
                continue
            if len(tokens) >= LENGTH:
                yield tokens[:LENGTH]

    return samples(islice(long_texts(), _wanted(rounds)))


@dataclass(frozen=True)
class Contestant(Package):
    """:ivar work: from the imported module and a text to whatever stands for the text."""

    work: Callable[[Any, Sample], object]


def _ours(_: Any, sample: Sample) -> int:
    [features] = _KNOWING.read(sample.spans).features
    return simhash(*features)


def _ours_unmet(_: Any, sample: Sample) -> int:
    return fingerprint(sample.spans)


def _ours_of_strings(_: Any, sample: Sample) -> int:
    [features] = _OF_STRINGS.read(Spans.of(sample.tokens)).features
    return simhash(*features)


def _simhash_weighted(module: Any, sample: Sample) -> object:
    return module.Simhash(sample.weighed()).value


def _simhash(module: Any, sample: Sample) -> object:
    return module.Simhash(sample.tokens).value


def _pylshash(module: Any, sample: Sample) -> object:
    return module.SimHash().get_hash(sample.weighed())


def _trafilatura(module: Any, sample: Sample) -> object:
    return module.Simhash(sample.text).hash


def _gaoya(module: Any, sample: Sample) -> object:
    return module.SimHashStringIndex().index.doc2signature(sample.text)


def _grams(tokens: Sequence[str]) -> set[str]:
    return set(map(" ".join, zip(tokens, tokens[1:], tokens[2:], strict=False)))


def _datasketch(module: Any, sample: Sample) -> object:
    sketch = module.MinHash(num_perm=_PERMUTATIONS)
    sketch.update_batch([gram.encode() for gram in _grams(sample.tokens)])
    return sketch.hashvalues


def _rensa(module: Any, sample: Sample) -> object:
    sketch = module.RMinHash(_PERMUTATIONS, 1)
    sketch.update(list(_grams(sample.tokens)))
    return sketch.digest()


def _maybedont(module: Any, sample: Sample) -> object:
    return module.get_min_hash(sample.text, (), _PERMUTATIONS)


OURS = Contestant("scrapy-neardup", "scrapy-neardup", "scrapy_neardup", _ours)
UNMET = Contestant(
    "scrapy-neardup, new words among them", "scrapy-neardup", "scrapy_neardup", _ours_unmet
)
STRINGS = Contestant(
    "scrapy-neardup, of strings", "scrapy-neardup", "scrapy_neardup", _ours_of_strings
)
WEIGHTED = Contestant("simhash, weighted", "simhash", "simhash", _simhash_weighted)
CONTESTANTS = (
    OURS,
    UNMET,
    STRINGS,
    WEIGHTED,
    Contestant("simhash, words without weights", "simhash", "simhash", _simhash),
    Contestant("pyLSHash SimHash, weighted", "pyLSHash", "pyLSHash", _pylshash),
    Contestant("trafilatura Simhash", "trafilatura", "trafilatura.deduplication", _trafilatura),
    Contestant("gaoya simhash, words without weights", "gaoya", "gaoya.simhash", _gaoya),
    Contestant("datasketch MinHash", "datasketch", "datasketch", _datasketch),
    Contestant("rensa MinHash", "rensa", "rensa", _rensa),
    Contestant("MaybeDont MinHash, 4-grams", "MaybeDont", "maybedont.utils", _maybedont),
)


@dataclass(frozen=True)
class Fingerprints(Part):
    """Microseconds of processor time for each text, by contestant.

    :ivar source: where the texts are from.
    :ivar again: likewise, of the same text again and again.
    :ivar inexact: texts whose fingerprint is not what whole numbers give, in any order.
    """

    source: str
    texts: int
    micros: dict[str, Spread]
    again: dict[str, Spread]
    inexact: int
    name = "fingerprints"
    heading = "Fingerprints"
    about = _ABOUT

    def ratios(self) -> list[Goal]:
        return [
            Goal(
                name,
                ratio(theirs.median if theirs else None, micros[ours.name].median),
                10,
                LENGTH,
                "tokens",
                at_most=False,
                why=WEIGHTED.trouble,
                against=WEIGHTED.name,
            )
            for name, micros, ours in (
                ("fingerprint_vs_simhash", self.micros, OURS),
                ("fingerprint_with_new_words_vs_simhash", self.micros, UNMET),
                ("fingerprint_of_strings_vs_simhash", self.micros, STRINGS),
                ("fingerprint_of_one_text_vs_simhash", self.again, OURS),
            )
            for theirs in [micros.get(WEIGHTED.name)]
        ]

    @property
    def _ours(self) -> Spread:
        return self.micros[OURS.name]

    def goals(self) -> list[Goal]:
        return [
            Goal(name, micros[OURS.name].median, 130, LENGTH, "tokens", "µs")
            for name, micros in (
                ("a fingerprint", self.micros),
                ("a fingerprint of one text, again and again", self.again),
            )
        ]

    def tables(self) -> list[Table]:
        table = Table(
            f"a fingerprint of {LENGTH:,} tokens, µs", ("of", "median (quartiles)", "times ours")
        )
        for contestant in CONTESTANTS:
            if spread := self.micros.get(contestant.name):
                table.add(contestant.title, spread, spread.median / self._ours.median)
        table.notes.append(f"{self.texts:,} texts: {self.source}")
        again = Table("the same text again and again, µs", table.head)
        for name, spread in self.again.items():
            again.add(name, spread, spread.median / self.again[OURS.name].median)
        return [table, again]

    def checks(self) -> list[Check]:
        problems = [f"those of {self.inexact:,} texts are not"] if self.inexact else []
        return [Check("fingerprints are those of whole numbers, in any order of tokens", problems)]

    def peers(self) -> dict[str, Standing]:
        return standings(CONTESTANTS)

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "texts": self.texts,
            "tokens": LENGTH,
            "microseconds": {name: asdict(spread) for name, spread in self.micros.items()},
            "microseconds_again": {name: asdict(spread) for name, spread in self.again.items()},
            "inexact": self.inexact,
        }


def measure(given: Sequence[Sample], source: str, rounds: int) -> Fingerprints:
    """Measure all packages in turn, each round with other texts, at least two."""
    each = min(_TEXTS, len(given) // (2 * rounds))
    timed, before = given[: rounds * each], given[rounds * each :]
    for sample in before:
        fingerprint(sample.spans)
    for sample in timed:
        _KNOWING.read(sample.spans)
        _OF_STRINGS.read(Spans.of(sample.tokens))
    usable = [contestant for contestant in CONTESTANTS if not contestant.trouble]
    for contestant in usable:
        # What is imported and compiled at first.
        _micros(contestant, before[:1])
    others = [timed[at : at + each] for at in range(0, len(timed), each)]
    same = [[batch[0]] * each for batch in others]
    micros = _in_turn(usable, others)
    again = _in_turn([one for one in usable if one in (OURS, WEIGHTED)], same)
    inexact = sum(not is_exact(one) for one in timed)
    return Fingerprints(source, len(timed), micros, again, inexact)


def _in_turn(
    contestants: Iterable[Contestant], batches: Sequence[Sequence[Sample]]
) -> dict[str, Spread]:
    turns = {contestant.name: _Turns(contestant, batches) for contestant in contestants}
    found = in_turn(turns, len(batches))
    return {name: Spread.of(values) for name, values in found.items()}


class _Turns:
    """A contestant that is given the next texts each time."""

    def __init__(self, contestant: Contestant, batches: Iterable[Sequence[Sample]]) -> None:
        self._contestant = contestant
        self._batches = iter(batches)

    def __call__(self) -> float:
        return _micros(self._contestant, next(self._batches))


def _micros(contestant: Contestant, given: Sequence[Sample]) -> float:
    module = import_module(contestant.module)
    seconds = 0.0
    for sample in given:
        tokens = sample.text.split(" ")
        fresh = replace(sample, tokens=tokens, spans=spans_of(tokens, sample.text))
        seconds += processor_seconds(partial(contestant.work, module, fresh))
    return 1e6 * seconds / len(given)


def is_exact(sample: Sample) -> bool:
    """Return whether the fingerprint equals that of integers, in any order of the tokens."""
    shuffled = Spans.of(random.Random(1).sample(sample.tokens, len(sample.tokens)))
    found = {fingerprint(sample.spans), fingerprint(shuffled), _ours_of_strings(None, sample)}
    return found == {_by_the_letter(sample)}


def _by_the_letter(sample: Sample) -> int:
    """Charikar's sums, one for each bit, in Python's integers."""
    features = sample.weighed()
    hashes = token_hashes(features).tolist()
    sums = [
        sum(
            int(weight) if hashed >> bit & 1 else -int(weight)
            for hashed, weight in zip(hashes, features.values(), strict=True)
        )
        for bit in range(64)
    ]
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0)
