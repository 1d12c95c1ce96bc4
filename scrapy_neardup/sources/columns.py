"""Tells which columns of a table are which fields of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

from .fields import CONTENT_FIELDS, FIELDS, listed
from .fields import Columns as Columns  # noqa: PLC0414 (also imported from here)


def parse_columns(text: str) -> tuple[str, ...] | dict[str, str]:
    """Return the columns that a list such as ``"id,-,text"`` or ``"url=link,html=body"`` names.

    :raises ValueError: see :func:`check_columns`.
    """
    columns: tuple[str, ...] | dict[str, str]
    parts = [part.strip() for part in text.split(",")]
    if any("=" in part for part in parts):
        columns = _parse_names(parts)
    else:
        columns = tuple("" if part == "-" else part for part in parts)
    check_columns(columns)
    return columns


def _parse_names(parts: Sequence[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for part in parts:
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ValueError(
                f"{part!r} is not FIELD=COLUMN as the others are, such as {part or 'id'}=NAME"
            )
        if field in names:
            raise ValueError(f"{field} is named twice")
        names[field] = column
    return names


def check_columns(columns: Columns) -> None:
    """Check that columns can be those of some table.

    :raises ValueError: if a field is unknown, a field or a column is given twice, or a field that
        is needed is missing; of a mapping, it may be a column that has the field's name.
    """
    if isinstance(columns, Mapping):
        _check_names(columns)
        return
    for name in columns:
        if name and name not in FIELDS:
            raise ValueError(f"{name!r} is no field; the fields are {', '.join(FIELDS)}, - to skip")
    if repeated := _repeated([name for name in columns if name]):
        raise ValueError(f"{', '.join(repeated)} is named twice")
    require_usable(columns)


def _check_names(names: Mapping[str, str]) -> None:
    for field, column in names.items():
        if field not in FIELDS:
            turned = f"; it is FIELD=COLUMN: {column}={field}?" if column in FIELDS else ""
            raise ValueError(f"{field!r} is no field; the fields are {', '.join(FIELDS)}{turned}")
        if not isinstance(column, str) or not column:
            raise ValueError(f"the column for {field} is {column!r}, which is no name")
    for column in _repeated(names.values()):
        fields = [field for field, other in names.items() if other == column]
        raise ValueError(f"the column {column!r} is given for {' and '.join(fields)}")


def _repeated(names: Collection[str]) -> list[str]:
    return [name for name, number in Counter(names).items() if number > 1]


def require_usable(fields: Collection[str]) -> None:
    """Check that records of these fields can be pages.

    :raises ValueError: if they cannot.
    """
    if not {"id", "url"} & set(fields):
        raise ValueError("id or url is needed")
    if not set(CONTENT_FIELDS) & set(fields):
        raise ValueError(f"{', '.join(CONTENT_FIELDS[:-1])} or {CONTENT_FIELDS[-1]} is needed")


def find_columns(present: Sequence[str], names: Mapping[str, str]) -> dict[str, int]:
    """Return where the column of each field is.

    Other fields have the column of their name, if there is one that is not another field's, in
    lower case or upper case. If ``names`` has a content (such as ``text``), no other is read.

    :param present: names of the columns that there are.
    :param names: of the columns of fields, by field.
    :raises ValueError: if there is no such column, two have the name, or a field that is needed has
        none.
    """
    found: dict[str, int] = {}
    for field, column in names.items():
        places = _places(present, column)
        if not places:
            raise ValueError(
                f"there is no column {column!r} for {field}{_nearest(column, present)}"
            )
        found[field] = _only(places, column, present)
    for field in FIELDS:
        if field in names or (field in CONTENT_FIELDS and set(CONTENT_FIELDS) & set(names)):
            continue
        if places := [place for place in _places(present, field) if place not in found.values()]:
            found[field] = _only(places, field, present)
    try:
        require_usable(found)
    except ValueError as error:
        raise ValueError(
            f"{error}, but the columns are {listed(present)}; name those to read, such as "
            "--columns url=link,html=body"
        ) from None
    return found


def _places(present: Sequence[str], name: str) -> list[int]:
    exact = [place for place, other in enumerate(present) if other == name]
    lower = name.lower()
    return exact or [place for place, other in enumerate(present) if other.lower() == lower]


def _only(places: Sequence[int], name: str, present: Sequence[str]) -> int:
    if len(places) > 1:
        raise ValueError(f"{name} is named twice: {listed([present[place] for place in places])}")
    return places[0]


def _nearest(name: str, present: Sequence[str]) -> str:
    nearest = get_close_matches(name.lower(), [other.lower() for other in present], 1)
    originals = [other for other in present if other.lower() in nearest]
    question = f" (did you mean {originals[0]!r}?)" if originals else ""
    return f"{question}; there are {listed(present)}"
