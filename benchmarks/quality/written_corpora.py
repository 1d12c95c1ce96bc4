"""Measures the written corpora, forms and disguised copies, which need no stored pages."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ..common.stored_pages import InputError
from ..common.tables import Table
from ..corpora.articles import read_articles
from ..corpora.forms import read_forms
from ..corpora.text_files import BadFile
from .copies import CopyFigures, measure_copies
from .floors import Figure
from .forms import FormFigures, measure_forms

#: The folder that holds the folders ``forms`` and ``articles``.
CORPORA = Path(__file__).parents[1] / "corpora"


@dataclass(frozen=True, slots=True)
class CorporaResult:
    """The figures measured on the written corpora."""

    forms: FormFigures
    copies: CopyFigures

    @property
    def digest(self) -> str:
        """Digest of all pages that the figures rest on."""
        total = hashlib.sha256()
        for kind in self.forms.kinds:
            total.update(kind.digest)
        for outcome in self.copies.outcomes:
            total.update(outcome.digest)
        return total.hexdigest()

    def tables(self) -> list[Table]:
        return [self.forms.table(), self.copies.table()]

    def figures(self) -> dict[str, Figure]:
        """Return the figures for which floors are kept."""
        return self.forms.figures() | self.copies.figures()

    def listing(self) -> list[str]:
        """Return lines that say what went wrong."""
        return self.forms.listing() + self.copies.listing()

    def content(self) -> dict[str, object]:
        """Return what is written as JSON."""
        return {
            "corpora": self.digest,
            "corpora figures": {name: figure.value for name, figure in self.figures().items()},
            "forms dropped": {kind.name: kind.dropped for kind in self.forms.kinds},
            "copies missed": [
                {"disguise": o.disguise, "article": o.article, "trouble": o.trouble}
                for o in self.copies.outcomes
                if o.trouble
            ],
        }


def measure_corpora(folder: Path = CORPORA) -> CorporaResult:
    """Measure the forms and articles of a folder.

    :raises InputError: when it has none, or one of its files cannot be used.
    """
    try:
        forms, articles = read_forms(folder / "forms"), read_articles(folder / "articles")
    except BadFile as error:
        raise InputError(str(error)) from error
    if not forms or not articles:
        raise InputError(f"{folder}: no forms/*.txt or no articles/*.txt")
    return CorporaResult(measure_forms(forms), measure_copies(articles))
