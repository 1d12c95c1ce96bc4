"""Counts the pages of one form that are wrongly dropped as duplicates of each other.

The pages of a form (corpora/forms.py) are all different contents, so none should be dropped. Each
kind is measured in four situations, each time by a new detector that checks page after page.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pool

from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.signatures.signature import PageSignature

from ..common.tables import Table
from ..corpora.forms import PAGES, Form, form_page
from ..corpora.pages import MadePage, seeded
from .detection import check_all, signing_detector
from .figures import HALVES, Share, half_of_name
from .floors import Figure

#: The situations, and how many pages of a form are checked in each.
SITUATIONS = {
    "the first two pages of a site": 2,
    "eight pages of a site": PAGES,
    "eight after twelve other pages of the site": PAGES,
    "eight on sites of their own": PAGES,
}
OTHER_PAGES = 12


@dataclass(frozen=True, slots=True)
class KindDrops:
    """Numbers of dropped pages of one kind of form, by situation.

    :ivar digest: of the pages.
    """

    name: str
    dropped: tuple[int, ...]
    digest: bytes


@dataclass(frozen=True, slots=True)
class FormFigures:
    """Figures of all kinds of forms, sorted by name."""

    kinds: tuple[KindDrops, ...]

    def dropped(self, situation: str, half: int | None = None) -> Share:
        """Return how many pages were dropped, of all kinds or of one half of them."""
        place = list(SITUATIONS).index(situation)
        kinds = [k for k in self.kinds if half is None or half_of_name(k.name) == half]
        return Share(sum(k.dropped[place] for k in kinds), len(kinds) * SITUATIONS[situation])

    def table(self) -> Table:
        head = (
            "situation",
            *(f"{name} of the kinds" if h is not None else name for h, name in HALVES.items()),
        )
        table = Table(
            f"different pages of one form that were dropped ({len(self.kinds)} kinds)", head
        )
        for situation in SITUATIONS:
            table.add(situation, *(self.dropped(situation, half) for half in HALVES))
        return table

    def figures(self) -> dict[str, Figure]:
        """Return the figures for which floors are kept."""
        return {
            f"forms, {situation}, {name}: dropped": Figure(
                self.dropped(situation, half).value, "at most"
            )
            for situation in SITUATIONS
            for half, name in HALVES.items()
        }

    def listing(self) -> list[str]:
        """Return a line for each kind of which pages were dropped, most pages first."""
        wrong = sorted((k for k in self.kinds if any(k.dropped)), key=lambda k: -sum(k.dropped))
        lines = ["", f"kinds of forms whose pages were dropped ({'; '.join(SITUATIONS)})"]
        return lines + [f"  {k.name}: {', '.join(map(str, k.dropped))}" for k in wrong]


def measure_forms(forms: Sequence[Form]) -> FormFigures:
    """Measure all forms, on all cores."""
    jobs = [(form, _others(form, forms)) for form in forms]
    with Pool() as pool:
        return FormFigures(tuple(pool.imap(_measured, jobs)))


def _others(form: Form, forms: Iterable[Form]) -> list[Form]:
    """Return twelve other kinds, of the same language as far as there are so many."""
    rng = seeded("others", form.name)
    others = [other for other in forms if other.name != form.name]
    same = [other for other in others if other.language == form.language]
    rest = [other for other in others if other.language != form.language]
    return (_shuffled(same, rng) + _shuffled(rest, rng))[:OTHER_PAGES]


def _shuffled(forms: Sequence[Form], rng: random.Random) -> list[Form]:
    return rng.sample(forms, len(forms))


def _measured(job: tuple[Form, Sequence[Form]]) -> KindDrops:
    form, others = job
    digest = hashlib.sha256()

    def signed(pages: Iterable[MadePage]) -> list[PageSignature]:
        return list(_signed(pages, digest))

    host = f"{form.name}.example"
    pages = signed(form_page(form, number, f"www.{host}") for number in range(PAGES))
    strangers = signed(
        form_page(other, 0, f"www.{host}", folder=f"/o{number}", frame=form)
        for number, other in enumerate(others)
    )
    apart = signed(form_page(form, number, f"site{number}-{host}") for number in range(PAGES))
    verdicts = (
        check_all(pages[:2]),
        check_all(pages),
        check_all([*strangers, *pages])[len(strangers) :],
        check_all(apart),
    )
    return KindDrops(form.name, tuple(map(_count, verdicts)), digest.digest())


def _signed(pages: Iterable[MadePage], digest: hashlib._Hash) -> Iterator[PageSignature]:
    for page in pages:
        digest.update(f"{page.url}\n{page.html}\n".encode())
        yield signing_detector().signature(url=page.url, html=page.html)


def _count(verdicts: Iterable[Verdict]) -> int:
    return sum(verdict.is_duplicate for verdict in verdicts)
