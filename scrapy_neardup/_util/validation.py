"""Validates options with uniform error messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ..exceptions import InvalidOption

T = TypeVar("T")


def require_number(
    option: str,
    value: T,
    kind: type[int] | type[float],
    least: float,
    most: float | None = None,
    *,
    above: bool = False,
    unit: str = "",
) -> T:
    """Return the value if it is a number of this kind within the bounds; booleans are rejected.

    :param option: the user's name for it.
    :param kind: ``int`` for whole numbers, ``float`` for any.
    :param least: lower bound.
    :param most: upper bound, inclusive; ``None`` for none.
    :param above: whether *least* itself is too low.
    :param unit: what is counted, for the message.
    :raises InvalidOption: if the value is no such number; NaN never is.
    """
    number = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
    if not (
        number
        and (value > least if above else value >= least)  # type: ignore[operator]
        and (most is None or value <= most)  # type: ignore[operator]
    ):
        noun = f"a {'whole ' if kind is int else ''}number{unit and f' of {unit}'}"
        raise InvalidOption(option, value, f"{noun} {_bounds(least, most, above=above)}")
    return value


def _bounds(least: float, most: float | None, *, above: bool) -> str:
    if above:
        return f"above {least}" if most is None else f"above {least}, at most {most}"
    return f"of {least} or more" if most is None else f"from {least} to {most}"


def require_names(option: str, value: Any, keys: Sequence[str]) -> Mapping[str, str]:
    """Check that a value is a dict from some of these keys to different names, and return it.

    :param value: may also be the JSON of such a dict, as on the command line.
    :raises InvalidOption: when it is none.
    """
    names = value
    if isinstance(value, str):
        try:
            names = json.loads(value)
        except ValueError:
            names = None
    is_valid = (
        isinstance(names, Mapping)
        and set(names) <= set(keys)
        and all(isinstance(name, str) and name for name in names.values())
        and len(set(names.values())) == len(names)
    )
    if not is_valid:
        known = ", ".join(map(repr, keys))
        raise InvalidOption(option, value, f"a dict from some of {known} to different names")
    return dict(names)
