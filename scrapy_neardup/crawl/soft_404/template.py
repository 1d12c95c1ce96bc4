"""Compares pages with what a site answers to addresses that do not exist.

A page is a soft 404 only if nothing that it shows or holds is its own: each of its blocks is one of
the answer, and where the answer repeats the address it repeats its own. So a short article within
the same frame is none.

If two answers also differ in numbers, words or blocks, these may be a content: a site may show one
of its pages for any address, or the form of its pages with other values. Then nothing distinguishes
the answers from pages, unless the title or the main heading of both says that the page is missing.
Only under such a notice may pages differ in the same places as the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from urllib.parse import unquote, urlsplit

from ...html.page_outline import FILE, SCRIPT, PageOutline
from .notices import says_missing

#: Stands for the address in a block of an answer.
_ECHO = "\0"
#: Number of characters of the random part that identify it: some sites shorten the address.
_SHORTENED = 8
_TOKEN = re.compile(r"\w+|[^\w\s]|\0")
_NUMBER = re.compile(r"\w*\d\w*")
#: A time of day, or seconds or milliseconds since 1970.
_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d)?|(?<!\d)1\d{9}(?:\d{3})?(?!\d)")
_OTHER_DIGITS = str.maketrans("0123456789", "1234567890")
#: An answer of more blocks is only compared for equality.
_MAX_BLOCKS = 3000
#: Places of one block that may repeat the address, and characters of each.
_MAX_ECHOES, _MAX_ECHO_CHARS = 6, 500
#: Words of a block that stay, at least, for each that differs between two answers.
_FIXED_WORDS = 2
#: Blocks, beside the one that shows the address, that show parts of it: a breadcrumb trail.
_MAX_CRUMBS = 8
#: Blocks after a gap that must fit, as far as the answer has as many.
_ANCHOR = 3
#: Characters within gaps for each one outside: answers that vary more have a content.
_MOST_VARYING = 2
#: An answer that shows fewer characters says nothing itself, unless with one of these words.
_LITTLE = 60


@dataclass(frozen=True)
class _Block:
    """A block of the answer, as the tokens that it must have.

    :ivar text: of one answer, with :data:`_ECHO` for the address.
    :ivar other: of another answer in which some tokens differ; else the same.
    :ivar n_words: number of these that are no numbers.
    """

    text: str
    other: str
    n_words: int = 0

    @cached_property
    def n_echoes(self) -> int:
        return self.text.count(_ECHO)

    @property
    def is_echo(self) -> bool:
        """Whether it shows the address and nothing else."""
        return not re.search(r"\w", self.text.replace(_ECHO, "")) and self.n_echoes > 0

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pieces = []
        pairs = list(zip(_TOKEN.findall(self.text), _TOKEN.findall(self.other), strict=True))
        # A number beside one that differs may be equal by chance, such as the hour of a time.
        has_numbers = any(one != two and _are_numbers(one, two) for one, two in pairs)
        for token, other in pairs:
            if token == _ECHO:
                pieces.append(rf"(.{{0,{_MAX_ECHO_CHARS}}}?)")
            elif _are_numbers(token, other) and has_numbers:
                pieces.append(_NUMBER.pattern)
            else:
                pieces.append(re.escape(token) if token == other else r"\w+")
        return re.compile(r"\s*".join(pieces), re.I | re.S)

    def fits(self, block: str, address: str) -> bool:
        """Return whether a page at an address may have this block in the place of this one."""
        if self.text == self.other and not self.n_echoes:
            return block == self.text
        if self.n_echoes > _MAX_ECHOES:
            return False
        found = self._pattern.fullmatch(block)
        return found is not None and all(
            _alphanumerics_of(echo) in address for echo in found.groups()
        )


@dataclass(frozen=True)
class _Gap:
    """A place in which two answers have other blocks, such as suggestions.

    :ivar places: where these are, see :class:`PageOutline`.
    :ivar blocks: how many blocks the larger one has.
    :ivar chars: how many characters the larger one has.
    :ivar longest: characters of its longest block.
    """

    places: frozenset[str]
    blocks: int
    chars: int
    longest: int

    @classmethod
    def of(cls, *sides: Sequence[tuple[str, str]]) -> _Gap:
        """Return the gap for the blocks of each answer, with their places."""
        texts = [[text for text, _ in side] for side in sides]
        return cls(
            frozenset(place for side in sides for _, place in side),
            max(map(len, texts)),
            max(sum(map(len, each)) for each in texts),
            max(len(text) for each in texts for text in each),
        )

    def with_blocks(self, other: _Gap) -> _Gap:
        """Return this gap and another one beside it as one."""
        return _Gap(
            self.places | other.places,
            self.blocks + other.blocks,
            self.chars + other.chars,
            max(self.longest, other.longest),
        )

    def fits(self, blocks: Sequence[str], places: Sequence[str]) -> bool:
        """Return whether these blocks of a page are about as much, and in such places."""
        return (
            len(blocks) <= 2 * self.blocks + 2
            and self.places.issuperset(places)
            and sum(map(len, blocks)) <= 2 * self.chars + 40
            and all(len(block) <= 2 * self.longest + 20 for block in blocks)
        )


class AnswerTemplate:
    """The common parts of a site's answers to addresses that do not exist.

    :ivar title: of the answers, with :data:`_ECHO` for the address.
    :ivar has_gaps: whether whole blocks of the answers differ.
    :ivar says_missing: whether their title or main heading says that the page is missing.
    :ivar is_shell: whether they show next to nothing, and have scripts.
    """

    def __init__(
        self,
        title: _Block,
        parts: Sequence[_Block | _Gap],
        *,
        says_missing: bool,
        is_shell: bool,
    ) -> None:
        self.title = title
        self.has_gaps = any(isinstance(part, _Gap) for part in parts)
        self.says_missing = says_missing
        self.is_shell = is_shell
        self._parts = parts

    @classmethod
    def of(cls, answers: Sequence[tuple[str, PageOutline]]) -> AnswerTemplate | None:
        """Return the template of two answers; ``None`` if they cannot be told from pages.

        :param answers: the random part of each address, and what it was answered with.
        """
        outlines = [_marked(token, outline) for token, outline in answers]
        first, last = outlines[0], outlines[-1]
        title = _aligned(first.title, last.title)
        if title is None or title.n_words or max(len(first.blocks), len(last.blocks)) > _MAX_BLOCKS:
            return None
        says_so = any(map(says_missing, (first.title, *first.shown)))
        is_shell = first.n_shown < _LITTLE and first.has_scripts and not says_so
        has_notice = bool(_notices(first) & _notices(last))
        parts = _widened(_parts(first, last, times_vary=has_notice or is_shell))
        if first.blocks and not any(isinstance(part, _Block) for part in parts):
            return None
        template = cls(title, parts, says_missing=has_notice, is_shell=is_shell)
        if not template.varies or is_shell:
            return template
        common = sum(_n_shown(part.text) for part in parts if isinstance(part, _Block))
        in_gaps = max(first.n_shown, last.n_shown) - common
        # What differs may be a content.
        return template if has_notice and in_gaps <= _MOST_VARYING * common else None

    @property
    def varies(self) -> bool:
        """Whether the answers differ in more than the address."""
        return any(
            isinstance(part, _Gap) or part.text != part.other for part in (self.title, *self._parts)
        )

    def fits(self, outline: PageOutline, url: str) -> bool:
        """Return whether a page shows and holds only what the answers do."""
        if self.varies and not self.is_shell and not _notices(outline):
            return False
        address = _alphanumerics_of(
            url if not self.has_gaps else urlsplit(url)._replace(query="").geturl()
        )
        return self.title.fits(outline.title, address) and self._fit(outline, address)

    def differs_from(self, outline: PageOutline) -> bool:
        """Return whether a page shows that the answers are of another kind than pages.

        It lacks their notice, or if they have none, a text of theirs.
        """
        if self.says_missing:
            return not _notices(outline)
        shown = set(outline.blocks)
        return not self.title.fits(outline.title, "") or any(
            isinstance(part, _Block)
            and part.text == part.other  # nothing in it differs
            and _ECHO not in part.text
            and not part.text.startswith((SCRIPT, FILE))
            and part.text not in shown
            for part in self._parts
        )

    def _fit(self, outline: PageOutline, address: str) -> bool:
        blocks, places = outline.blocks, outline.places
        at, gap_at, gap = 0, 0, None
        for number, part in enumerate(self._parts):
            if isinstance(part, _Gap):
                gap, gap_at = part, at
                continue
            if gap is not None:
                found = self._find(blocks, at, number, address, 2 * gap.blocks + 2)
                if found is None or not gap.fits(blocks[gap_at:found], places[gap_at:found]):
                    return False
                at, gap = found, None
            if at >= len(blocks) or not part.fits(blocks[at], address):
                return False
            at += 1
            if part.is_echo:
                at = self._after_crumbs(blocks, at, number + 1, address)
        if gap is not None:
            return gap.fits(blocks[gap_at:], places[gap_at:])
        return at == len(blocks)

    def _find(
        self, blocks: Sequence[str], at: int, number: int, address: str, most: int
    ) -> int | None:
        """Return where the next parts fit, behind at most so many blocks."""
        anchor: list[_Block] = []
        for part in self._parts[number : number + _ANCHOR]:
            if isinstance(part, _Gap):
                break
            anchor.append(part)
        for start in range(at, min(at + most, len(blocks) - len(anchor)) + 1):
            if all(
                part.fits(blocks[start + offset], address) for offset, part in enumerate(anchor)
            ):
                return start
        return None

    def _after_crumbs(self, blocks: Sequence[str], at: int, number: int, address: str) -> int:
        """Return where the blocks end that show nothing but other parts of the address."""
        following = self._parts[number] if number < len(self._parts) else None
        for block in blocks[at : at + _MAX_CRUMBS]:
            is_next = isinstance(following, _Block) and following.fits(block, address)
            if (
                is_next
                or block.startswith((SCRIPT, FILE))
                or _alphanumerics_of(block) not in address
            ):
                break
            at += 1
        return at


def _notices(outline: PageOutline) -> set[str]:
    """Return the title and the main headings, as far as they say that the page is missing."""
    headings = {
        block
        for block, place in zip(outline.blocks, outline.places, strict=True)
        if place.startswith("h1 ")
    }
    return {text for text in (outline.title, *headings) if says_missing(text)}


def _n_shown(block: str) -> int:
    """Return how many characters of text a block shows."""
    return 0 if block.startswith((SCRIPT, FILE)) else len(block)


def _marked(token: str, outline: PageOutline) -> PageOutline:
    """Return an answer in which its address is marked."""
    echo = re.compile(rf"{token[:_SHORTENED]}[0-9a-f]*(?:\.[a-z]{{2,5}}\b)?/?", re.I)
    blocks = tuple(echo.sub(_ECHO, block) for block in outline.blocks)
    return outline._replace(title=echo.sub(_ECHO, outline.title), blocks=blocks)


def _alphanumerics_of(text: str) -> str:
    """Return the letters and digits of a text or an address, in one case."""
    return "".join(char for char in unquote(text).casefold() if char.isalnum())


def _are_numbers(token: str, other: str) -> bool:
    return bool(_NUMBER.fullmatch(token) and _NUMBER.fullmatch(other))


def _fixed(text: str) -> _Block:
    """Return a block that two answers have in common; times of day may differ all the same.

    Two answers that come within one second have one time.
    """
    return _Block(text, _TIME.sub(lambda time: time[0].translate(_OTHER_DIGITS), text))


def _aligned(text: str, other: str) -> _Block | None:
    """Return a block for two that differ in numbers or few words; ``None`` if they differ more."""
    tokens, others = _TOKEN.findall(text), _TOKEN.findall(other)
    if len(tokens) != len(others):
        return None
    words = fixed = 0
    for one, two in zip(tokens, others, strict=True):
        if one == two:
            fixed += one.isalnum()
        elif _ECHO in (one, two):
            return None
        elif not _are_numbers(one, two):
            if not (one.isalnum() and two.isalnum()):
                return None
            words += 1
    return _Block(text, other, words) if words * _FIXED_WORDS <= fixed else None


#: A part of an answer, and where it is.
_Placed = tuple["_Block | _Gap", str]


def _parts(first: PageOutline, last: PageOutline, *, times_vary: bool) -> Iterator[_Placed]:
    """Yield the blocks that two answers have in common, and gaps for the others.

    :param times_vary: whether pages may have other times of day where the answers have the same.
    """
    ones, others = (list(zip(each.blocks, each.places, strict=True)) for each in (first, last))
    matcher = SequenceMatcher(None, first.blocks, last.blocks, autojunk=False)
    for what, start, end, other_start, other_end in matcher.get_opcodes():
        left, right = ones[start:end], others[other_start:other_end]
        if what == "equal":
            yield from ((_fixed(text) if times_vary else _Block(text, text), p) for text, p in left)
            continue
        aligned = [_aligned(one, two) for (one, _), (two, _) in zip(left, right, strict=False)]
        blocks = [block for block in aligned if block is not None]
        # Several blocks with other words are a list, such as one of suggestions.
        is_list = len(blocks) > 1 and any(block.n_words for block in blocks)
        if len(blocks) == len(left) == len(right) and not is_list:
            yield from zip(blocks, (place for _, place in left), strict=True)
        else:
            yield _Gap.of(left, right), ""


def _widened(parts: Iterable[_Placed]) -> list[_Block | _Gap]:
    """Return the parts, with blocks beside a gap that are in such a place added to it.

    They are suggestions too, which both answers happen to have.
    """
    widened: list[_Placed] = []
    for each, place in parts:
        part, before = each, widened[-1][0] if widened else None
        if isinstance(part, _Gap):
            while widened and _joins(*widened[-1], part):
                part = _as_gap(*widened.pop()).with_blocks(part)
        elif isinstance(before, _Gap) and _joins(part, place, before):
            widened[-1] = before.with_blocks(_as_gap(part, place)), ""
            continue
        widened.append((part, place))
    return [part for part, _ in widened]


def _joins(part: _Block | _Gap, place: str, gap: _Gap) -> bool:
    """Return whether a part beside a gap belongs to it."""
    if isinstance(part, _Gap):
        return True
    return place in gap.places and _ECHO not in part.text


def _as_gap(part: _Block | _Gap, place: str) -> _Gap:
    return part if isinstance(part, _Gap) else _Gap.of([(part.text, place)])
