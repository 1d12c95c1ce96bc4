"""Shows what methods say of two pages or two files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rich.table import Table

from ...exceptions import InputError, MethodFailed
from ...methods import METHODS, Method, open_method
from ...methods.base import guarded
from ...sources.compression import naming_errors
from ...sources.record import MAX_PAGE_BYTES, TOO_LARGE
from ...text.tokenization import Tokenizer
from .output import table

#: Characters of a value in a table.
_VALUE_CHARS = 18


@dataclass(frozen=True, slots=True)
class Compared:
    """A page or a file, as methods read it.

    :ivar text: main text of a page; of a file, its bytes.
    :ivar body: body of a page, or the bytes of a file.
    :ivar has_enough_words: whether methods that do not judge short texts judge it.
    """

    text: str | bytes
    body: bytes
    has_enough_words: bool = True

    @classmethod
    def of_file(cls, name: str) -> Compared:
        """Read a file as it is.

        :raises InputError: if it cannot be read, or is larger than a page may be.
        """
        with naming_errors(name), Path(name).open("rb") as file:
            body = file.read(MAX_PAGE_BYTES + 1)
        if len(body) > MAX_PAGE_BYTES:
            raise InputError(name, f"is {TOO_LARGE}")
        return cls(body, body)

    def value(self, method: Method) -> bytes:
        """Return the value that a method makes of it."""
        return method.value(self.text if method.reads == "text" else self.body)

    def is_judged(self, method: Method, value: bytes) -> bool:
        """Return whether it is compared by a method, which made this value of it."""
        return bool(value) and (method.short_texts or self.has_enough_words)


def open_methods(names: Sequence[str], tokenizer: Tokenizer) -> Iterator[tuple[str, Method]]:
    """Yield the methods that were asked for, under the names that were given.

    :param names: ``"all"``, or names with or without parameters.
    :raises InvalidOption: if there is no such method, or no such parameter or value.
    """
    asked = (METHODS if name == "all" else (name,) for name in names)
    for name in dict.fromkeys(chain.from_iterable(asked)):
        yield name, open_method(name, tokenizer, "--methods")


def method_table(
    a: Compared, b: Compared, methods: Iterable[tuple[str, Method]], *, in_scope: bool = True
) -> Table:
    """Return what each method says when A is stored and B comes, as :command:`scan` does.

    :param methods: with the names to show.
    :param in_scope: whether pages of their two sites are compared.
    """
    rows = [(name, *_row(a, b, method, in_scope=in_scope)) for name, method in methods]
    columns = ("method", "value of A", "value of B", "similarity", "B after A", "required")
    return table(*columns, "verdict", rows=rows)


def _row(a: Compared, b: Compared, method: Method, *, in_scope: bool) -> Sequence[str]:
    try:
        with guarded(method):
            known, new = a.value(method), b.value(method)
            shown = [_short(method.describe(value)) if value else "-" for value in (known, new)]
            verdict, why = "undecided", "B has too little to compare"
            similarity = "-"
            if known and new:
                similarity = f"{method.similarity(new, known):.3f}"
            if b.is_judged(method, new):
                verdict, why = "new", "A has too little to compare"
                if a.is_judged(method, known):
                    is_near = in_scope and method.is_near(new, known)
                    verdict = "duplicate" if is_near else "new"
                    why = method.explain(new, known) if in_scope else "on another site"
            return *shown, similarity, why, method.requirement, verdict
    except MethodFailed as error:
        return "-", "-", "-", str(error), method.requirement, "undecided"


def _short(description: str) -> str:
    """Return a value that fits into a column of a table."""
    return description if len(description) <= _VALUE_CHARS else f"{description[:_VALUE_CHARS]}…"
