"""The names and codes of currencies, and the patterns of prices.

Some codes are also words ("ALL 5", "TOP 10") or have another meaning beside a short number
("PHP 8", "R16", "12 kn"). These count only beside an amount: with cents, thousands, or a dash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, product

import regex

#: Codes of ISO 4217 for money in use.
_CODES = frozenset(
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN "
    "BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL "
    "GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF "
    "KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN "
    "MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD "
    "SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH "
    "UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG".split()
)
#: Codes that are words or makers: only behind an amount with cents.
_WORDS = frozenset("ALL AMD BAM BOB CUP CVE GEL MAD MOP PEN SOS TOP TRY".split())
#: Codes that mean something else beside a short number: only beside an amount.
_OF_OTHERS = frozenset("COP CRC DOP ERN GIP LAK MNT NAD PHP RON SCR SDG SHP SSP STN SVC".split())
#: Codes that are known in any case.
_KNOWN = (
    "aed bdt bgn bhd brl chf clp cny czk dkk dzd egp eur gbp ghs hkd huf idr inr iqd jpy krw kwd "
    "kzt lkr mxn myr ngn nok nzd pkr pln qar rmb rsd sar sgd thb twd uah usd uzs vnd xaf xof zar"
).split()

#: Names behind a number, in lower case.
_NAMES = "|".join(
    (
        "[万億千]?円|[万亿]?(?:元|美元|欧元)|[万億千]?(?:ドル|ユーロ)|[만억천]?원|달러|유로",
        "zł(?:otych|ote)?|kčs?|korun[ay]?|ft|forint|lei|tl|lira(?:sı)?|dinara?|dinars|leva",
        "kr|kron(?:er|or|en|ur)|euros?|pounds?|cents?|pence|fran(?:cs|ken|cos|chi)|shekels?",
        "dollars?|dollari|d[oó]lares|pesos?|reais|rupees?|rupiah|ringgit|yuan|yen|baht|taka|naira",
        "dhs?|dirhams?|riyals?|rials?|tomans?|shillings?|birr|f ?cfa|aud|cad|đồng|vnđ|đ",
        "руб(?:ль|ля|лей)?|євро|евро|доллар(?:а|ов)?|лв|грн|гривень|гривн[яі]|тенге|тг|сум|сўм|сом",
        'дин|динара?|ευρώ|يورو|دولار|ريال|ریال|درهم|دينار|جنيه|ليرة|تومان|[רש]"ח|שקל(?:ים)?',
        "(?:ر[.]س|د[.][إكبجمتأ]|ج[.]م|ر[.][قع]|ل[.]ل)",
        "रुपये|रुपए|টাকা|บาท",
        *_KNOWN,
    )
)
#: Names in front of a number.
_NAMES_IN_FRONT = ("euro", "rs", "kr", "sfr", "dhs", "ksh", "د.إ", "ر.س", "ج.م", *_KNOWN)
#: Names beside an amount only: others are knots, seconds, weekdays, years.
_SHORT = "fr|kn|sek|р"

#: Digits, and what separates thousands and cents.
_DIGITS = r"[\d.,٫٬]"
#: A number in a price; blanks or apostrophes may separate thousands, and a blank the cents. Its
#: length is bounded, so that a long run of digits takes linear time.
_NUMBER = (
    r"(?:\d{1,3}(?:[ '’]\d{3}){1,6}(?!\d)(?:[.,]\d{1,2})?|"
    rf"\d{_DIGITS}{{0,20}}+(?:(?<![.,٫]\d\d) \d\d(?!\w))?)"
)
#: A dash in place of the cents.
_DASH = r"(?:(?<=[.,])[\-–—]{1,2}|:[\-–—]{1,2})"
_NO_MORE = rf"(?!{_DIGITS}?\d)"
#: Not behind a number or a name.
_AFTER_NONE, _AFTER_NO_NAME = rf"(?<!{_DIGITS}|[A-Za-z_])", r"\b(?<![/\-])"
_THOUSANDS = rf"\d{{1,3}}(?:[.,٬ '’]\d{{3}}){{1,4}}{_NO_MORE}"
_WITH_CENTS = rf"\d{{1,9}}+(?:[.,٬ '’]\d{{3}}){{0,4}}[.,٫]\d\d{_NO_MORE}"
#: A number with cents, thousands, or a dash, or a long one that is no year.
_AMOUNT = (
    rf"(?:{_WITH_CENTS}|{_THOUSANDS}|"
    rf"\d{{1,9}}+[.,]?{_DASH}|(?!(?:19|20)\d\d(?!\d))\d{{3,9}}+{_NO_MORE})"
)
#: A price without a name, "19,-", and one in pence.
_NAMELESS = (
    r"(?<![\w.,\-])(?:\d{1,3}(?:[. ]\d{3}){0,2}|\d{1,6}+)[,:][\-–—]{1,2}(?![\w\-])|"
    r"(?<![\w.,\-/])(?:\d\d?|\d{1,3}\.\d)p(?!\w)"
)
#: Not within a longer word of a script that separates words by blanks.
_END = "(?![a-zß-ɏа-џḁ-ỿ])"


def _any(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(names)))


_IN_FRONT = (
    rf"(?:{_any(_NAMES_IN_FRONT)})[.]? ?{_NUMBER}{_DASH}?|fr[.]? ?{_AMOUNT}{_DASH}?|"
    rf"rp[.]? ?{_THOUSANDS}"
)
_BEHIND = (
    rf"(?<!{_DIGITS}){_NUMBER}{_DASH}? ?(?:\p{{Sc}}|(?:{_NAMES}){_END})|"
    rf"{_AFTER_NONE}{_AMOUNT}{_DASH}? ?(?:{_SHORT}){_END}|{_NAMELESS}"
)
#: A price in a text in lower case. What it looks ahead for saves most of the time.
PRICE = (
    rf"\p{{Sc}} ?{_NUMBER}{_DASH}?|"
    rf"{_AFTER_NO_NAME}(?=[^\W\d][\w.]{{0,4}} ?\d)(?:{_IN_FRONT})|(?=\d)(?:{_BEHIND})"
)
_WITH_NUMBER, _WITH_AMOUNT = _any(_CODES - _WORDS - _OF_OTHERS), _any(_OF_OTHERS)
_CODE_IN_FRONT = (
    rf"(?:(?:{_WITH_NUMBER}|RM|Rp[.]?) ?{_NUMBER}|"
    rf"(?:{_WITH_AMOUNT}|R|S/|Bs) ?{_AMOUNT}){_DASH}?(?![A-Za-z_]|-[A-Za-z])"
)
_CODE_BEHIND = (
    rf"(?:{_NUMBER}{_DASH}? ?(?:{_WITH_NUMBER})|{_AMOUNT}{_DASH}? ?(?:{_WITH_AMOUNT}|DA|DT)|"
    rf"{_WITH_CENTS} ?(?:{_any(_WORDS)}))(?![A-Za-z0-9_]|-[A-Za-z])"
)
#: A price with a code, or a name in capital letters, in a text as written.
CODED_PRICE = (
    rf"(?=[A-Z]){_AFTER_NO_NAME}(?=[A-Z][\w/]{{0,2}}[.]? ?\d)(?:{_CODE_IN_FRONT})|"
    rf"(?=\d){_AFTER_NONE}(?:{_CODE_BEHIND})"
)
#: Where prices with codes may be, in a text as written.
_MAY_HAVE_CODE = re.compile(
    r"(?=[A-Z])(?:[A-Z]{3}|RM|Rp\.?|R|S/|Bs) ?\d|"
    r"\d[.,:\-–—]{0,3} ?(?:[A-Z]{3}|D[AT])(?![A-Za-z\d_])"
)
_PRICE, _CODED = (regex.compile(each, regex.VERSION1) for each in (PRICE, CODED_PRICE))
_SIGN = regex.compile(r"\p{Sc} ?\d|\d[ \-–—:.,]{0,4}\p{Sc}", regex.VERSION1)
#: A price extends by fewer characters on either side of its sign or name.
_REACH = 48
#: Marks of the direction of writing stand between numbers and Arabic names.
_OF_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _behind(names: tuple[str, ...]) -> str:
    """Return a pattern of the first digit behind a name, with a look-behind for each width."""
    before = sorted(map("".join, product((*names, "fr", "rp"), ("", "."), ("", " "))), key=len)
    widths = ("|".join(map(re.escape, of)) for _, of in groupby(before, key=len))
    return "|".join(rf"(?<=(?:{of})\d)" for of in widths)


#: Where prices with names may be in a text in lower case, found in a fraction of the time.
NAMED_PRICE = re.compile(
    rf"\d(?:[.,٫٬]{{0,20}}:?[\-–—]{{0,2}} ?(?:{_NAMES}|{_SHORT})|[,:][\-–—]|p\b|"
    rf"(?:(?<=[^\W\d]\d)|(?<=\.\d)|(?<=[^\W\d] \d)|(?<=\. \d))(?:{_behind(_NAMES_IN_FRONT)}))"
)


def without_direction(text: str) -> str:
    """Return a text without marks of the direction of writing."""
    return text if text.isascii() else _OF_DIRECTION.sub("", text)


def price_places(text: str) -> list[tuple[int, int]]:
    """Return where prices begin and end, in ascending order; some may overlap."""
    if not any(map(str.isdigit, text)):
        return []
    folded = _folded(text)
    signs = (match.start() for match in _SIGN.finditer(folded))
    names = (match.start() for match in NAMED_PRICE.finditer(folded))
    found = matches_around(_PRICE, folded, sorted([*signs, *names]))
    coded = [match.start() for match in _MAY_HAVE_CODE.finditer(text)]
    found += matches_around(_CODED, text, coded)
    return sorted({match.span() for match in found})


def matches_around(
    pattern: regex.Pattern[str],
    text: str,
    places: Sequence[int],
    start: int = 0,
    end: int | None = None,
) -> list[regex.Match[str]]:
    """Return the matches of a pattern of prices, looked for around some places of a text alone.

    This takes a fraction of the time.

    :param places: ascending; each match must have one of them within it.
    :param start: of the part of the text that is searched.
    :param end: of the same; ``None`` for the end of the text.
    """
    end = len(text) if end is None else end
    found: list[regex.Match[str]] = []
    first = last = start
    for place in [*places, end + 2 * _REACH]:
        if place - _REACH > last:
            # What reaches the end of what is searched may go on behind it.
            searched = pattern.finditer(text, first, min(last, end))
            found += (match for match in searched if match.end() < last)
            first = place - _REACH
        last = place + _REACH
    return found


def prices_in(text: str) -> list[str]:
    """Return the prices in a text, in lower case."""
    text = without_direction(text)
    return [text[start:end].casefold() for start, end in price_places(text)]


def _folded(text: str) -> str:
    """Fold the case of a text, but for characters of which two would become."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(each if len(each := c.casefold()) == 1 else c for c in text)
