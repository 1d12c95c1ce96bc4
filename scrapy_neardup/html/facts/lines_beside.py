"""Finds short lines beside the main text, and rows of two elements.

An address or a size may stand in an element of its own that says what it is by its class only, or
not at all: ``<p class="address">12 High Street</p>``. Copies of a page have the same lines there,
but for counters and the like.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import cast

from lxml.html import HtmlElement

from ...text.counters import names_only_a_counter
from ...text.signs.currencies import prices_in
from ..page_lines import INLINE
from .content import MAX_FACTS, MAX_LINE, Content, Fact, Stated, broken_lines, line_text
from .labels import date_of_event
from .lines_above import is_control, is_date_of_page
from .names import names_of, names_of_line
from .stable_lines import (
    is_few_words,
    is_level,
    is_passage,
    stable_text,
    stable_text_within,
    symbols,
)
from .table_rows import Row

#: Tells whether the main text has a line, which stands in the content or not.
IsInText = Callable[[str, bool], bool]
#: Characters before the first element in another one that has a line, white space included.
_MAX_TEXT = 400
#: Characters of the longest passage within the content, and elements in it.
_MAX_PASSAGE, _MAX_WITHIN = 1000, 50
#: Elements whose lines are searched for in the main text, and of these that are looked at.
_MAX_SEARCHED, _MAX_LOOKED_AT = 5000, 1000
#: Elements of no line, and those that break none.
_ELSEWHERE = frozenset(
    "script style br img svg input tr dt pre code a button option select textarea label h1".split()
)
_WITHIN_LINE = INLINE | {"br", "img", "svg", "picture", "button", "label", "output", "math"}
_OF_ROWS = ("div", "p", "li", "span")
#: Links to somebody, or to a place on a map: their texts say where and who.
_CONTACT = re.compile(
    r"(?:tel|mailto|geo|sms|skype|callto):|https?://(?:[\w-]+\.)*(?:maps?\.|google\.[\w.]+/maps|"
    r"goo\.gl/maps|openstreetmap\.org|bing\.com/maps|map\.baidu\.|amap\.|yandex\.[\w.]+/maps)",
    re.IGNORECASE,
)
#: Words of classes and ids of what is for visitors, and of what is about their visit. Others may
#: be part of a name of what a page is about, such as "user-profile" and "online-event".
FOR_VISITORS = re.compile(
    r"(?<![a-z])(?:login|greeting|share(?![-_](?:class|price|capital|type|series))|sharing|social|"
    r"countdown|timer|breadcrumbs?|crumbs?|"
    r"pagination|toc|toolbar|cookies?|consent|captcha|newsletter|byline|weather|wetter|meteo|pogoda|"
    r"ticker|now-playing|of-the-day|poll|quiz|testimonials?|kommentare?|commentaires?|comentarios?|"
    r"commenti|pinglun|likes|claps|switcher|ship-to|werbung|reklama|publicit[ey]|publicidad|"
    r"pubblicita|guanggao|reading-time)(?![a-z])|"
    r"(?<!\S)[\w-]*[-_]user(?:[-_]?name)?(?!\S)|"
    r"(?<!\S)(?:(?:site|page|header|footer|top|main|widget|post|article|meta|sidebar|current|who-is)"
    r"[-_]+)*"
    r"(?:users?|account|welcome|visitors?|counter|clock|posted|markets|survey|reviews?|replies|answers|"
    r"discussion|votes|availability|stock|statistics|online)"
    r"(?:[-_]+(?:box|bar|links?|menu|names?|area|panel|block|wrapper|container|list|count\w*|items?|"
    r"state|status|text|info|message|on|by|at|date|time|now|level|title|online))*(?!\S)",
    re.IGNORECASE,
)
_OF_AVAILABILITY = re.compile(r"(?<![a-z])availability(?![a-z])", re.IGNORECASE)
#: The same for numbers alone, which are those of counters elsewhere.
_OF_NUMBER = re.compile(
    r"(?<![a-z])(?:years?|scores?|results?|sizes?|floors?|rooms?|bed(?:room)?s?|bath(?:room)?s?|area|"
    r"sq-?(?:ft|m)|grade|lot|edition|volume|issue|chapter|episode|season|model|route|line|track|gate|"
    r"platform|percent|kilometer|mileage|power|jahr|zimmer|flaeche|nummer|"
    r"skus?|isbn|issn|ean|upc|gtin|mpn|asin|barcode|vin|serial|ref(?:erence|erenz)?|docket|"
    r"(?:art(?:icle|ikel)?|item|product|prod|part|order|model|house|catalog(?:ue)?|case|file|shirt|"
    r"stock|ref|job|ad|property|object)[-_]?(?:no|nr|num|number|nummer|id|code)|zip(?:-?code)?|plz|"
    r"post(?:al)?-?code|vintage|jahrgang|baujahr|erstzulassung|ann[eé]e|anno|ano|kms?|odometer|miles|"
    r"kilometerstand|kilomet(?:ers|res|ros)|laufleistung|kilometrage|hp|bhp|ps|kw|cc|ccm|hubraum|"
    r"leistung|puissance|potencia|engine|seats?|doors?|gears?|garages?|parking|stor(?:eys?|ies)|"
    r"abv|ibu|alcohol|carat|karat|weight|gewicht|poids|peso|height|width|length|depth|diameter|"
    r"thickness|hoehe|breite|laenge|tiefe|dose|dosage|strength|voltage|watts?|capacity|sleeps|"
    r"distance|elevation|altitude|surface|superficie|metros|m2|qm|wohnflaeche|pi[eè]ces|chambres|"
    r"camere|locali|habitaciones|dormitorios|ba[nñ]os|quartos|pokoje|balls?|numero|matchday|"
    r"spieltag|round|goals|kcal|calories|servings|yield|pack(?:-size)?)(?![a-z])",
    re.IGNORECASE,
)
#: Classes of icons that stand for a label, and those of counters.
_ICON = re.compile(
    r"(?:fa|bi|mdi|ti|la|ion|ri|bx|uil|icofont|flaticon|dashicons|glyphicon|(?:[\w-]+-)?icons?)-[\w-]+|"
    r"[\w-]+-icon",
    re.IGNORECASE,
)
_ICON_OF_COUNTER = re.compile(
    r"eye|view|comment|chat|message|heart|like|love|thumb|star|rating|download|share|users|people|"
    r"group|bell|cart|basket|bag|fire|flame|bookmark|reply|retweet|signal|chart|trend|clock|time|"
    r"arrow|angle|chevron|caret|search|close|menu|bars|text|list|container|wrapper|box",
    re.IGNORECASE,
)
_OF_PRICE = re.compile(r"price|preis|prix|precio|prezzo|cena|amount|cost|fee|rent", re.IGNORECASE)
#: Words of classes of links that lead on, whatever a page is about.
_OF_LINKS = re.compile(
    r"(?<![a-z])(?:nav\w*|prev\w*|next|back|more|read\w*|btn|button|links?|menu|pager|skip|top|home|"
    r"edit|share|follow|download|reply|tags?|categor\w+|image|img|thumb\w*|logo|author|"
    r"actions?|cta|title|heading|item|active|current|selected)(?![a-z])",
    re.IGNORECASE,
)
_OF_EVENT = re.compile(
    r"(?<![a-z])(?:events?|shows?|concerts?|courses?|termine?|when|start|end)(?![a-z])",
    re.IGNORECASE,
)
#: How many elements around a line are looked at.
_MAX_AROUND = 4


def rows_of_two(content: Content) -> Iterator[tuple[HtmlElement, str, str]]:
    """Yield elements of two others alone, and what these say: a label and a value."""
    rows = (each for each in content.rows_and_rest(*_OF_ROWS) if 2 <= len(each) <= 3)
    for row in islice(rows, MAX_FACTS):
        # There may be an icon, too.
        texts = [text for each in row if (text := line_text(each)) != ""]
        if len(texts) != 2 or None in texts or any(map(_is_used, row[0].iter())):
            continue
        if has_own_text(row) or is_for_visitors(content, row):
            continue
        label, value = (text or "" for text in texts)
        if any(map(str.isalpha, label)):
            yield row, label, value
        else:
            # A number may stand above what is counted.
            yield row, value, label


def rows_beside(content: Content, rows: Iterable[Row], is_in_text: IsInText) -> Iterator[Stated]:
    """Yield rows of tables that the main text has not.

    First cells are lines as well, because they may be what a row is about, and no label. Of each
    table, the rows of numbers alone are one line.
    """
    numbers: defaultdict[HtmlElement, list[str]] = defaultdict(list)
    counted = set()
    for row in rows:
        table = next(row.element.iterancestors("table"), row.element)
        line = f"{row.label} {row.stated}"
        if names_only_a_counter(line):
            counted.add(table)
        elif is_in_text(line, content.is_behind_heading(row.element)):
            continue
        elif not any(map(str.isalpha, line)):
            numbers[table].append(line)
        elif not any(map(_is_used, row.element.iter())):
            yield from _cells(table, row)
    for table, lines in numbers.items():
        if table not in counted:
            for names in names_of_line(table, ""):
                yield line_beside(table, names, " ".join(lines))


def _cells(table: HtmlElement, row: Row) -> Iterator[Stated]:
    """Yield the first cell of a row, and the others if there are several."""
    for names in names_of_line(table, row.label):
        yield line_beside(table, names, row.label)
    if row.n_stated > 1:
        yield line_beside(row.element, row.label, row.stated)


def lines_beside(content: Content, is_in_text: IsInText) -> Iterator[Stated]:
    """Yield lines that the main text has not, and its short ones, under names of their elements."""
    rest = (
        (element, is_within, lines)
        for element, is_within, each in islice(_elements_of_lines(content), _MAX_SEARCHED)
        if (lines := _to_compare(each, is_in_text, is_within=is_within))
    )
    for element, is_within, lines in islice(rest, _MAX_LOOKED_AT):
        if content.is_beside(element):
            continue
        labelled = _with_labels(lines)
        said = (_stable_line(element, line, is_within=is_within) for line in labelled)
        values = [value for value in said if value is not None]
        if values and is_for_visitors(content, element):
            values = _dates_of_availability(content, element, labelled)
        if not values or content.is_of_another(element):
            continue
        for value in values:
            if date_of_event(value) is None or not _has_date_of_page(content, element):
                # Of these a page may have more than are kept.
                is_minor = element is content.surroundings or symbols(value) is not None
                is_minor = is_minor or (is_within and is_few_words(value))
                for names in names_of_line(element, value):
                    yield line_beside(element, names, value, is_minor=is_minor)


def _to_compare(lines: Iterable[str], is_in_text: IsInText, *, is_within: bool) -> list[str]:
    """Return the lines that the main text has not, and its short ones.

    Words in place of common words of a text are edits, but "Full time" alone says what a page is
    about.
    """
    return [
        line
        for line in lines
        if not is_in_text(line, is_within) or is_level(line) or (is_within and is_few_words(line))
    ]


def _stable_line(element: HtmlElement, line: str, *, is_within: bool) -> str | None:
    """Return what a line of an element says in each copy of a page, if anything."""
    if is_within and is_passage(line):
        return stable_text_within(line)
    is_number = any(map(str.isdigit, line)) and not any(map(str.isalpha, line))
    # "Free" may stand in the place of a price, and a picture in that of its currency.
    if (is_number or prices_in(line)) and _is_for(element, _OF_PRICE):
        return line
    is_told = is_number and (_is_for(element, _OF_NUMBER) or _is_behind_icon(element))
    return line if is_told else stable_text(line)


def _dates_of_availability(content: Content, element: HtmlElement, lines: list[str]) -> list[str]:
    """Return the lines that say from when on something is to be had, as a flat is; not a stock."""
    if not _is_named(content, element, _OF_AVAILABILITY):
        return []
    return [line for line in lines if date_of_event(line) and stable_text(line)]


def line_beside(element: HtmlElement, label: str, value: str, *, is_minor: bool = False) -> Stated:
    """Return a line of an element, under a label that tells it from the other lines of a page."""
    fact = Fact(label, value, is_field=True, is_around=True, is_line=True, is_minor=is_minor)
    return Stated(element, "", value, fact, has_place=True)


def _elements_of_lines(content: Content) -> Iterator[tuple[HtmlElement, bool, list[str]]]:
    """Yield elements, whether they are within the content, and their lines.

    Of elements that others break into lines, these are their own text only.
    """
    elements = list(content.elements())
    broken = {each.getparent() for each in elements if each.tag not in _WITHIN_LINE}
    has_text = cache(has_own_text)
    found: set[HtmlElement] = set()
    yield from _lines_around(content)
    for element in elements:
        parent = element.getparent()
        if _is_elsewhere(element) or len(element.text or "") > _MAX_TEXT:
            continue
        # A word in a longer text is no line, nor is a part of one.
        if parent in found or (element.tag in INLINE and has_text(parent)):
            found.add(element)
            continue
        is_within = content.is_before_end(element)
        if element in broken:
            own = _runs(element) if has_text(element) else ()
            lines = [line for _, line in own if len(line) <= MAX_LINE]
        elif is_within and (passage := _passage(element)):
            lines = [passage]
        else:
            lines = broken_lines(element, _is_used) or _only_link(content, element)
        if lines and max(map(len, lines)) <= (_MAX_PASSAGE if is_within else MAX_LINE):
            if element not in broken:
                found.add(element)
            yield element, is_within, lines


def _lines_around(content: Content) -> Iterator[tuple[HtmlElement, bool, list[str]]]:
    """Yield the lines of the outermost element that are in no other: ``<hr>AB-123<hr>``."""
    whole = content.surroundings
    if has_own_text(whole):
        for before, line in islice(_runs(whole), MAX_FACTS):
            if len(line) <= MAX_LINE:
                yield whole, content.is_before_end(before), [line]


def _runs(element: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """Yield the lines between the elements in another one, and the last element before each.

    Words that are marked are parts of a line; lines that begin with a link are left out.
    """
    before, pieces = element, [element.text or ""]
    has_text, is_left_out = bool(pieces[0].strip()), False
    for child in chain(element, [None]):
        if child is not None and child.tag in INLINE:
            is_used = any(map(_is_used, islice(child.iter(), _MAX_WITHIN)))
            is_left_out = is_left_out or (is_used and not has_text)
            pieces.append("" if is_used else line_text(child) or "")
        elif child is None or child.tag not in _WITHIN_LINE or child.tag == "br":
            if (line := " ".join(" ".join(pieces).split())) and not is_left_out:
                yield before, line
            pieces, has_text, is_left_out = [], False, False
        if child is not None:
            before = child
            pieces.append(child.tail or "")
            has_text = has_text or any(map(str.strip, pieces[-2:]))


def _only_link(content: Content, element: HtmlElement) -> list[str]:
    """Return the text of the link that is all that an element has, if a class says what it is."""
    if len(element) != 1 or element[0].tag != "a" or has_own_text(element):
        return []
    names = element.get("class", "")
    if not names or _OF_LINKS.search(names) or _OF_LINKS.search(element[0].get("class", "")):
        return []
    text = line_text(element[0])
    return [text] if text and not content.is_of_links(element) else []


def _passage(element: HtmlElement) -> str:
    """Return the text of an element if it is a sentence or longer than a line, else nothing."""
    if len(element) > _MAX_WITHIN:
        return ""
    text = " ".join("".join(cast("Iterator[str]", element.itertext())).split())
    return text if is_passage(text) else ""


def _is_elsewhere(element: HtmlElement) -> bool:
    """Return whether an element has no line of its own, or is read with others, as cells are."""
    if element.tag in ("td", "th"):
        return element.getnext() is not None or element.getprevious() is not None
    if element.tag == "dd":
        previous = element.getprevious()
        return previous is not None and previous.tag == "dt"
    return element.tag in _ELSEWHERE and not is_contact(element)


def _with_labels(lines: list[str]) -> list[str]:
    """Return lines, those without letters together with the one before, which may be a label."""
    pairs = zip(["", *lines], lines, strict=False)
    return [
        line if any(map(str.isalpha, line)) else f"{before} {line}".strip()
        for before, line in pairs
    ]


def _is_used(element: HtmlElement) -> bool:
    """Return whether an element is a control or a link, other than that of a contact."""
    return is_control(element) and not is_contact(element)


def is_contact(element: HtmlElement) -> bool:
    """Return whether an element is a link to a contact, as ``tel:`` is, or to a map."""
    return element.tag == "a" and _CONTACT.match(element.get("href", "")) is not None


def _own_texts(element: HtmlElement) -> Iterator[str]:
    """Yield the texts of an element outside of the elements in it."""
    texts = chain([element.text], (each.tail for each in element))
    return (text for text in texts if text and not text.isspace())


def has_own_text(element: HtmlElement) -> bool:
    """Return whether an element has text outside of the elements in it."""
    return next(_own_texts(element), None) is not None


def _has_date_of_page(content: Content, element: HtmlElement) -> bool:
    return is_date_of_page(element, "") and not _is_named(content, element, _OF_EVENT)


def is_for_visitors(content: Content, element: HtmlElement) -> bool:
    """Return whether an element is in a control or link, or is for visitors by its names.

    The names of the elements around it count as well.
    """
    around = islice(element.iterancestors(), _MAX_AROUND)
    return _is_named(content, element, FOR_VISITORS) or any(map(_is_used, around))


def _is_named(content: Content, element: HtmlElement, words: re.Pattern[str]) -> bool:
    """Return whether a class or id of an element, or of one around it, has one of these words.

    Elements around all of the content do not count: their names say what kind of page it is.
    """
    around = islice(element.iterancestors(), _MAX_AROUND)
    return any(
        words.search(" ".join(names)) is not None
        for each in chain([element], around)
        if not content.is_around(each) and (names := names_of(each))
    )


def _is_for(element: HtmlElement, words: re.Pattern[str]) -> bool:
    """Return whether a class or id of an element or its parent has one of these words."""
    around = chain([element], islice(element.iterancestors(), 1))
    return any(words.search(name) for each in around for name in names_of(each))


def _is_behind_icon(element: HtmlElement) -> bool:
    """Return whether an icon, in an element or before it, stands in place of its label."""
    icons = chain(islice(element, 1), [element.getprevious()])
    names = chain.from_iterable(names_of(each) for each in icons if each is not None)
    return any(_ICON.fullmatch(name) and not _ICON_OF_COUNTER.search(name) for name in names)
