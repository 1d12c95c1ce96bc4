"""Validates options with uniform error messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ..exceptions import InvalidOption

T = TypeVar("T")

#: Words for on and off, in lower case.
SWITCH = {"off": False, "on": True, "false": False, "true": True, "0": False, "1": True}


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


def require_field(option: str, value: Any) -> str:
    """Return the value if it is a text that can be the name of a field.

    :raises InvalidOption: if it is none, or is empty.
    """
    if not isinstance(value, str) or not value:
        raise InvalidOption(option, value, "the name of a field")
    return value


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


def parse_switch(option: str, value: Any) -> bool:
    """Return the truth value of a setting, a spider argument or a meta key.

    :raises InvalidOption: when it is neither on nor off.
    """
    switch = SWITCH.get(str(value).strip().lower())
    if switch is None:
        raise InvalidOption(option, value, "'on' or 'off' (or True, False, 1, 0)")
    return switch


def require_choice(
    option: str, value: Any, choices: Sequence[str], shown: str | None = None
) -> None:
    """Check that a value is one of these choices.

    :param shown: the value as the error shows it.
    :raises InvalidOption: when it is none.
    """
    if value not in choices:
        raise InvalidOption(option, shown or value, f"one of {', '.join(map(repr, choices))}")


def parse_number(value: Any) -> Any:
    """Convert a number that is given as a string, as on the command line; return others as is."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value


def require_placeholders(option: str, path: str, names: Sequence[str]) -> None:
    """Check that a path has no other placeholders, as in ``%(name)s``, than these.

    :raises InvalidOption: when it has another one, which would become part of the file's name.
    """
    rest = path
    for name in names:
        rest = rest.replace(f"%({name})s", " ")
    if "%(" in rest:
        allowed = " and ".join(f"%({name})s" for name in names)
        raise InvalidOption(option, path, f"a path with no other placeholders than {allowed}")
