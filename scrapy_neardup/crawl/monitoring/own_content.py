"""Finds what pages with one text have of their own: a wall has nothing.

The entries of a catalogue may have one text, and differ in their titles and in pictures, documents
or prices. A wall may name the requested page in its title, but shows it no picture of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from ..._util.encoding import utf8
from ...html.embedded.content import files_of
from ...html.limits import PageLimits
from ...signatures.facts import without_lines
from ...signatures.signature import PageSignature
from ...sources.record import Record
from ...text.signs.currencies import prices_in
from ...text.titles import Title
from ..responses import outline_of, tree_of
from .addresses import without_address
from .page_head import page_head

#: Names a picture that is another one for each visitor.
OF_VISITOR = "captcha"


class OwnContent(NamedTuple):
    """The content of a page besides its text.

    :ivar digest: of its media, documents and prices, apart from its address.
    :ivar facts: those of its signature but for lines.
    :ivar canonical: the URL that it declares as its own, if any.
    """

    title: Title
    digest: bytes
    facts: bytes
    canonical: str | None = None


def own_content(page: PageSignature, record: Record, limits: PageLimits) -> OwnContent | None:
    """Return the content of a page besides its text; ``None`` if it cannot be read."""
    tree = tree_of(record, limits)
    if tree is None:
        return None
    head = page_head(tree, record.url)
    files = {without_address(file, record.url) for file in (*files_of(tree), *head.pictures)}
    files = {file for file in files if OF_VISITOR not in file.casefold()}
    outline = outline_of(record, limits)
    prices = [] if outline is None else prices_in("\n".join(outline.shown))
    told = utf8("\n".join([*sorted(files), *prices]))
    digest = blake2b(told, digest_size=16).digest()
    return OwnContent(page.title, digest, without_lines(page.facts), head.canonical)


def are_own(contents: Iterable[OwnContent | None], *, has_facts: bool) -> bool:
    """Return whether most of these pages have another title and another content than the rest.

    :param has_facts: whether facts count as content.
    """
    pages = list(contents)
    known = [content for content in pages if content is not None]
    titles = {each.title for each in known}
    told = {(each.digest, each.facts if has_facts else b"") for each in known}
    return 2 * min(len(titles), len(told)) > len(pages)
