"""Forms: templates from which a site makes many pages with different values.

The pages of one kind have most of their words in common and are all different contents. A file
starts with header lines (``language``, ``kind``, ``site``, ``address``, ``title``, ``fields``),
followed by a blank line, the body, a line ``---`` and eight rows of values. ``{field}`` may stand
in address, title and body; a row has the values in the order of ``fields``, separated by `` | ``.
The body's first line starts with ``# `` and is the heading; the others are those of an article.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from .articles import Block, read_blocks
from .frames import frame_texts
from .pages import MadePage, seeded
from .templates import SITE_TEMPLATES, Layout, page_html
from .text_files import BadFile, read_headed

FORMS = Path(__file__).parent / "forms"
#: So many pages a kind has.
PAGES = 8

_HEADERS = ("language", "kind", "site", "address", "title", "fields")
_FIRST_BODY_LINE = len(_HEADERS) + 2
_RULE = "---"
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of page, and the values of its pages; ``name`` is the file's without extension."""

    name: str
    language: str
    site: str
    address: str
    title: str
    heading: str
    blocks: tuple[Block, ...]
    rows: tuple[Mapping[str, str], ...]

    def filled(self, text: str, number: int) -> str:
        """Return the text with the values of page ``number`` in place of its fields."""
        return _filled(text, self.rows[number])


def read_forms(folder: Path = FORMS) -> list[Form]:
    """Return all forms of a folder, in the order of their names.

    :raises BadFile: when one of them cannot be used.
    """
    return [read_form(path) for path in sorted(folder.glob("*.txt"))]


def read_form(path: Path) -> Form:
    """Return the form of one file.

    :raises BadFile: when the file is not written as the module's docstring says, or two pages have
        one address.
    """
    headers, lines = read_headed(path, _HEADERS)
    fields = [field.strip() for field in headers["fields"].split(",")]
    if _RULE not in lines:
        raise BadFile(path, len(_HEADERS) + 1 + len(lines), f"no line {_RULE}")
    end = lines.index(_RULE)
    body, values = lines[:end], lines[end + 1 :]
    _require_body(path, body)
    _require_fields(path, headers, body, fields)
    first = _FIRST_BODY_LINE + end + 1
    rows = tuple(_rows(path, first, values, fields))
    _require_addresses(path, first, headers["address"], rows)
    return Form(
        path.stem,
        headers["language"],
        headers["site"],
        headers["address"],
        headers["title"],
        body[0].removeprefix("# "),
        tuple(read_blocks(body[1:])),
        rows,
    )


def _require_body(path: Path, body: Sequence[str]) -> None:
    if not body or not body[0].startswith("# "):
        raise BadFile(path, _FIRST_BODY_LINE, "the body does not start with a heading (# )")
    if len(body) < 2:
        raise BadFile(path, _FIRST_BODY_LINE + 1, "the body has only a heading")


def _require_fields(
    path: Path, headers: Mapping[str, str], body: Sequence[str], fields: Sequence[str]
) -> None:
    """Refuse a name in braces that is no field."""
    texts = {list(headers).index(key) + 1: headers[key] for key in ("address", "title")}
    texts |= dict(enumerate(body, start=_FIRST_BODY_LINE))
    for line, text in texts.items():
        for name in _FIELD.findall(text):
            if name not in fields:
                raise BadFile(path, line, f"{{{name}}} is not a field")


def _rows(
    path: Path, first: int, lines: Sequence[str], fields: Sequence[str]
) -> Iterator[dict[str, str]]:
    for number, line in enumerate(lines, start=first):
        values = [value.strip() for value in line.split(" | ")]
        if len(values) != len(fields):
            raise BadFile(path, number, f"{len(values)} values, but {len(fields)} fields")
        yield dict(zip(fields, values, strict=True))
    if len(lines) != PAGES:
        raise BadFile(path, first + len(lines) - 1, f"{len(lines)} rows of values, not {PAGES}")


def _require_addresses(
    path: Path, first: int, address: str, rows: Sequence[Mapping[str, str]]
) -> None:
    seen: set[str] = set()
    for number, row in enumerate(rows, start=first):
        filled = _filled(address, row)
        if not filled.startswith("/"):
            raise BadFile(path, number, f"the address {filled!r} does not start with a slash")
        if filled in seen:
            raise BadFile(path, number, f"another row has the address {filled}")
        seen.add(filled)


def _filled(text: str, row: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda found: row[found[1]], text)


def form_page(
    form: Form, number: int, host: str, *, folder: str = "", frame: Form | None = None
) -> MadePage:
    """Return page ``number`` of a form as a whole page of a site.

    :param folder: what the address starts with.
    :param frame: the form whose site's menu, side column and footer stand around the text; by
        default those of the form itself. All pages of one site have the same.
    """

    def fill(text: str) -> str:
        return form.filled(text, number)

    layout = replace(
        _frame(frame or form),
        url=f"https://{host}{folder}{fill(form.address)}",
        head_title=fill(form.title),
        heading=fill(form.heading),
    )
    return MadePage(layout.url, page_html(layout, [block.mapped(fill) for block in form.blocks]))


def _frame(form: Form) -> Layout:
    """Return the layout that all pages of a form's site have in common."""
    rng = seeded("frame", form.name)
    texts = frame_texts(form.language)
    template = rng.choice(sorted(SITE_TEMPLATES))
    return Layout(
        template=template,
        url="",
        site=form.site,
        texts=texts,
        head_title="",
        heading="",
        byline="",
        menu=texts.some("menu", 8, rng),
        teasers=texts.some_pairs("teasers", 3, rng),
        footer=(texts.labels["rights"], texts.labels["imprint"]),
        markup=replace(SITE_TEMPLATES[template].markup, inline=escape),
    )
