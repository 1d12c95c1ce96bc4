from __future__ import annotations

import pytest

from scrapy_neardup import InvalidOption
from scrapy_neardup._util.validation import require_number, require_placeholders


@pytest.mark.parametrize(
    ("value", "kind", "bounds"),
    [
        (0, int, (0, 9)),
        (9, int, (0, 9)),
        (10**9, int, (0,)),
        (1, float, (0, 1)),
        (0.5, float, (0, 1)),
    ],
)
def test_what_fits_is_handed_back(value, kind, bounds):
    assert require_number("n", value, kind, *bounds) is value


@pytest.mark.parametrize(
    ("value", "kind", "bounds", "how", "expected"),
    [
        (-1, int, (0,), {}, "a whole number of 0 or more"),
        (10, int, (0, 9), {}, "a whole number from 0 to 9"),
        (1.0, int, (0, 9), {}, "a whole number from 0 to 9"),
        (True, int, (0, 9), {}, "a whole number from 0 to 9"),
        ("1", int, (0, 9), {}, "a whole number from 0 to 9"),
        (None, float, (0,), {}, "a number of 0 or more"),
        (float("nan"), float, (0, 1), {}, "a number from 0 to 1"),
        (float("inf"), float, (0, 1), {}, "a number from 0 to 1"),
        (0, float, (0,), {"above": True}, "a number above 0"),
        (
            0,
            float,
            (0, 9),
            {"above": True, "unit": "m"},
            "a number of m above 0, at most 9",
        ),
        (10, float, (0, 9), {"above": True}, "a number above 0, at most 9"),
    ],
)
def test_what_does_not_fit_is_refused_with_name_value_and_bounds(
    value, kind, bounds, how, expected
):
    with pytest.raises(InvalidOption) as info:
        require_number("n", value, kind, *bounds, **how)
    assert str(info.value) == f"n is {value!r}, but it must be {expected}"
    assert (info.value.option, info.value.expected) == ("n", expected)


@pytest.mark.parametrize("path", ["a.html", "100 %.html", "%(name)s/%(time)s", "%(name)s%(name)s"])
def test_known_placeholders_are_allowed(path):
    require_placeholders("p", path, ("name", "time"))


@pytest.mark.parametrize("path", ["%(nam)s.html", "%(name)s-%(job)s", "%(name).html", "%(%(name)s"])
def test_other_placeholders_are_refused(path):
    with pytest.raises(InvalidOption, match=r"no other placeholders than %\(name\)s and %\(time"):
        require_placeholders("p", path, ("name", "time"))
