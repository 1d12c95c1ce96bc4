"""Reads the objects and lists that a script assigns, written as JavaScript and not as JSON.

Names may stand without quotes, texts in single ones: ``shed = {wood: 'Alder', legs: 4}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Where an object or a list is assigned.
_ASSIGNED = re.compile(r"(?<![=!<>])=\s{0,99}(?=[\[{])")
#: A part of a literal. A text ends on its line, and a comment is short: so a script with many
#: quotes, none of which is closed, is read in linear time.
_PART = re.compile(
    r"""(?:\s|//[^\n]{0,999}\n|/\*[^*]{0,999}\*/)*
    (?:"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'|`(?P<long>[^`\\$]*)`
    |(?P<word>[-+]?[\w$.]+)|(?P<sign>[\[\]{},:]))""",
    re.X | re.S,
)
#: Behind a part, where it is one of an expression: a call, a sum, a choice, a function.
_EXPRESSION = re.compile(r"\s{0,99}(?:[(+*?&|<>!`]|=>|\.\w|-|/(?![/*])|\w)")
_NUMBER = re.compile(r"[-+]?(?:\d[\w.]*|\.\d\w*)|true|false", re.A)
_QUOTES = ("double", "single", "long")
#: Literals that are read of one script; its data are in few of them.
_MAX_LITERALS = 500


def assigned_literals(script: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the names and values of each object and list that a script assigns.

    Values are texts, numbers and truth values, each with the nearest name before it; empty where
    there is none. What is computed is left out, and nothing is read behind a function or a call.
    """
    place = 0
    for _ in range(_MAX_LITERALS):
        found = _ASSIGNED.search(script, place)
        if found is None:
            return
        literal = _Literal(script, found.end())
        yield literal.pairs
        place = max(literal.end, found.end())


class _Literal:
    """A literal as far as it can be read.

    :ivar pairs: names and values.
    :ivar end: where the reading ended; another one may begin there.
    """

    def __init__(self, script: str, start: int) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.end = start
        #: For each open bracket: whether it is that of an object, and the name before it.
        self._open: list[tuple[bool, str]] = []
        self._name, self._is_value = "", False
        while found := _PART.match(script, self.end):
            is_read = self._take_sign(found["sign"]) if found["sign"] else self._take(found)
            if not is_read:
                break
            self.end = found.end()
            if not self._open:
                break

    def _take_sign(self, sign: str) -> bool:
        if sign in "[{":
            self._open.append((sign == "{", self._name))
            self._is_value = sign == "["
        elif sign in "]}":
            self._open.pop()
        elif sign == ":":
            self._is_value = True
        elif self._open:
            is_object, outer = self._open[-1]
            self._is_value = not is_object
            if not is_object:
                self._name = outer
        return True

    def _take(self, found: re.Match[str]) -> bool:
        """Take a name or a value; false where an expression begins."""
        if _EXPRESSION.match(found.string, found.end()):
            return False
        quoted = next((found[kind] for kind in _QUOTES if found[kind] is not None), None)
        if not self._is_value:
            self._name = found["word"] if quoted is None else quoted
        elif quoted is not None or _NUMBER.fullmatch(found["word"]):
            self.pairs.append((self._name, found["word"] if quoted is None else quoted))
        return True
