"""Changes a text without changing its content; each function returns the changed text."""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Mapping

from . import variants

_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_DASH = re.compile(r"\s+[-–—]\s+|——")


def translated(text: str, table: Mapping[str, str]) -> str:
    """Replace every character that *table* has."""
    return "".join(table.get(character, character) for character in text)


def some_translated(
    text: str, table: Mapping[str, str], share: float, rng: random.Random, *, least: int = 0
) -> str:
    """Replace *share* of the characters of *table* in the text."""
    places = [at for at, character in enumerate(text) if character in table]
    count = min(len(places), max(least, round(share * len(places))))
    characters = list(text)
    for at in rng.sample(places, count):
        characters[at] = table[characters[at]]
    return "".join(characters)


def word_pattern(text: str, table: Mapping[str, str]) -> re.Pattern[str]:
    """Return a pattern of the words of *table*.

    Chinese and Japanese words are found wherever their characters stand together.
    """
    bound = "" if _HAN.search(text) else r"\b"
    return re.compile(bound + "(" + "|".join(map(re.escape, table)) + ")" + bound)


def replaced_words(text: str, table: Mapping[str, str], chance: float, rng: random.Random) -> str:
    """Replace each word of *table* with the probability *chance*."""
    pattern = word_pattern(text, table)
    return pattern.sub(lambda m: table[m[0]] if rng.random() < chance else m[0], text)


def count_words(text: str) -> float:
    """Return the number of words; a Chinese or Japanese word counts 1.6 characters."""
    han = len(_HAN.findall(text))
    return han / 1.6 if han else len(text.split())


def with_typos(text: str, share: float, rng: random.Random) -> str:
    """Put a typing error into *share* of the words."""
    if _HAN.search(text):
        return _with_han_typos(text, _rounded(share * count_words(text), rng), rng)
    words = list(_WORD.finditer(text))
    chosen = rng.sample(words, min(len(words), _rounded(share * count_words(text), rng)))
    for match in sorted(chosen, key=lambda m: m.start(), reverse=True):
        text = text[: match.start()] + _mistyped(match[0], rng) + text[match.end() :]
    return text


def _mistyped(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    before, letter = word[:at], word[at]
    following, after = word[at + 1], word[at + 2 :]
    ways = [
        before + following + letter + after,
        before + following + after,
        before + letter + letter + following + after,
        before + rng.choice(word) + following + after,
    ]
    return rng.choice(ways)


def _with_han_typos(text: str, count: int, rng: random.Random) -> str:
    characters = list(text)
    places = [at for at, character in enumerate(characters) if _HAN.match(character)]
    table = variants.SAME_SOUND_KANA if _KANA.search(text) else variants.SAME_SOUND
    alike = [at for at in places if characters[at] in table]
    for number, at in enumerate(rng.sample(places, min(count, len(places)))):
        if number % 3 == 0:
            characters[at] = "" if rng.random() < 0.5 else characters[at] * 2
        elif alike:
            other = alike.pop(rng.randrange(len(alike)))
            characters[other] = table.get(characters[other], characters[other])
    return "".join(characters)


def misread(text: str, share: float, rng: random.Random) -> str:
    """Change *share* of the characters as text recognition does."""
    table = _misreadings(text)
    pattern = re.compile("|".join(sorted(map(re.escape, table), key=len, reverse=True)))
    found = [match.start() for match in pattern.finditer(text)]
    count = _rounded(share * len(text), rng)
    chosen = set(rng.sample(found, min(len(found), count)))
    text = pattern.sub(lambda m: table[m[0]] if m.start() in chosen else m[0], text)
    if count > len(found) and _HAN.search(text):
        text = _with_wrong_han(text, count - len(found), rng)
    return text


def _misreadings(text: str) -> dict[str, str]:
    if _HAN.search(text):
        return variants.MISREAD_HAN
    has_cyrillic = re.search(r"[\u0400-\u04ff]", text)
    return variants.MISREAD_CYRILLIC if has_cyrillic else variants.MISREAD_LATIN


def _with_wrong_han(text: str, count: int, rng: random.Random) -> str:
    characters = list(text)
    places = [at for at, character in enumerate(characters) if _HAN.match(character)]
    pool = sorted(variants.MISREAD_HAN)
    for at in rng.sample(places, min(count, len(places))):
        characters[at] = rng.choice(pool)
    return "".join(characters)


def _rounded(number: float, rng: random.Random) -> int:
    """Return a whole number that is *number* on average, so that short texts get their share."""
    return int(number) + (rng.random() < number % 1)


def with_marks(text: str, mark: str, share: float, rng: random.Random) -> str:
    """Insert *mark* between two letters, at *share* of such places."""
    return "".join(
        character + mark
        if character.isalpha() and text[at + 1 : at + 2].isalpha() and rng.random() < share
        else character
        for at, character in enumerate(text)
    )


def fullwidth(text: str) -> str:
    """Replace ASCII letters and digits with their full-width forms."""
    return "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text)


def mathematical(text: str) -> str:
    """Replace ASCII letters with the bold letters of mathematical notation."""
    return "".join(_bold(character) for character in text)


def _bold(character: str) -> str:
    if not (character.isascii() and character.isalpha()):
        return character
    first, bold = ("A", 0x1D400) if character.isupper() else ("a", 0x1D41A)
    return chr(bold + ord(character) - ord(first))


def blanks_between_han(text: str) -> str:
    """Insert a blank after every Chinese or Japanese character that another one follows."""
    return re.sub(rf"({_HAN.pattern})(?={_HAN.pattern})", r"\1 ", text)


def typographic(text: str, language: str) -> str:
    """Replace quotes, apostrophes, dashes and ellipses with those of another house style."""
    quotes = {"de": ("»", "«"), "ru": ("“", "”"), "en": ("“", "”")}
    opening, closing = quotes.get(language, ("「", "」"))
    text = re.sub(r'(^|[\s(（])["“„«»]', rf"\1{opening}", text)
    text = re.sub(r'["“”«»](?=[\s.,;:!?)]|$)', closing, text)
    text = text.replace("“", opening).replace("”", closing).replace("'", "’")
    return _DASH.sub(" — ", text).replace("...", "…")


def american(text: str) -> str:
    """Replace British spellings and words with American ones."""
    for british, american_form in variants.AMERICAN.items():
        text = text.replace(british, american_form)
        text = text.replace(british.capitalize(), american_form.capitalize())
    return text


def short_months(text: str, months: list[str], short: list[str]) -> str:
    """Abbreviate the names of months."""
    for name, abbreviation in zip(months, short, strict=True):
        text = re.sub(rf"\b{name}\b\.?", abbreviation, text)
    return text


def other_separators(text: str) -> str:
    """Write thousands with thin blanks and decimals with the other separator."""
    text = re.sub(r"(?<=\d)[,.](?=\d{3}(?!\d))", "\u2009", text)
    text = re.sub(r"(?<=\d)([.,])(?=\d)", lambda m: "," if m[1] == "." else ".", text)
    return re.sub(r"(?<![\d.,\u2009])(\d{1,2})(\d{3})(?![\d年])", _grouped, text)


def _grouped(match: re.Match[str]) -> str:
    number = match[1] + match[2]
    is_year = len(number) == 4 and 1500 <= int(number) <= 2100
    return number if is_year else f"{match[1]}\u2009{match[2]}"


def narrow_lines(text: str, width: int, *, hyphens: bool) -> str:
    """Break the text into lines of *width*, within words (with a hyphen) if *hyphens* is set."""
    if _HAN.search(text):
        step = width // 2
        return "\n".join(text[at : at + step] for at in range(0, len(text), step))
    if not hyphens:
        return "\n".join(textwrap.wrap(text, width, break_long_words=False))
    return "\n".join(_hyphenated_lines(text, width))


def _hyphenated_lines(text: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        room = width - len(line) - 1
        if len(word) <= room:
            line = f"{line} {word}".lstrip()
        elif word.isalpha() and len(word) > 6 and 3 <= room - 1 <= len(word) - 3:
            lines.append(f"{line} {word[: room - 1]}-".lstrip())
            line = word[room - 1 :]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def entities(text: str, every: int = 1) -> str:
    """Return HTML with numeric entities for other characters than ASCII and for every n-th one."""
    return "".join(
        f"&#{ord(c)};" if not c.isascii() or c in "&<>\"'" or at % every == 0 else c
        for at, c in enumerate(text)
    )


def words_of(text: str) -> list[str]:
    """Return the words with the blanks after them; in Chinese and Japanese, two characters each."""
    if _HAN.search(text):
        return [text[at : at + 2] for at in range(0, len(text), 2)]
    return re.findall(r"\S+\s*", text)
