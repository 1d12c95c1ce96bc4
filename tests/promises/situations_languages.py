"""Pages of one title that differ in numbers, months and signs of languages that are seldom listed.

The signs stand in a sentence or in the title; some of them are letters or digits to readers alone.
Or names differ that stand in the page in another encoding.
"""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, ads, page
from tests.promises.situations_words import titled

_FLAG = "\U0001f3f4\U000e0067\U000e0062{}\U000e007f"
_FLAGS = tuple(
    _FLAG.format("".join(chr(0xE0000 + ord(letter)) for letter in part))
    for part in ("eng", "sct", "wls")
)
#: Values in a sentence.
_WITHIN: dict[str, tuple[str, tuple[str, ...]]] = {
    "swedish_numbers": ("Kursen har VALUE delar.", ("två", "tre", "fem")),
    "vietnamese_numbers": ("Lớp ở tầng VALUE của nhà.", ("hai", "ba", "năm")),
    "hindi_numbers": ("घर में VALUE कमरे हैं।", ("दो", "तीन", "चार")),
    "korean_numbers": ("방은 VALUE 층에 있습니다.", ("이", "삼", "오")),
    "romanian_ordinals": ("Sala este la etajul VALUE aici.", ("doi", "trei", "patru")),
    "romanian_months": ("Cursul începe pe 3 VALUE în casă.", ("ianuarie", "martie", "mai")),
    "catalan_months": ("El curs és el 3 de VALUE a casa.", ("març", "abril", "juny")),
    "millions": ("The house was sold for two VALUE then.", ("thousand", "million")),
    "ethiopic_digits": ("ክፍሉ ቁጥር VALUE ነው።", ("፩", "፪", "፲፪")),
    "digits_in_black_circles": ("It is part VALUE of our plan.", ("❶", "❷", "⓫")),
    "flags_of_parts_of_a_country": ("The walk is in VALUE this time.", _FLAGS),
    "tones_of_skin": ("Ours is the sign with VALUE on it.", ("👍🏻", "👍🏽", "👍🏿")),
}
#: Values in titles.
_TITLES: dict[str, tuple[str, ...]] = {
    "ethiopic_digits": ("ክፍል ፩", "ክፍል ፪", "ክፍል ፲፪"),
    "flags_of_parts_of_a_country": tuple(f"Walk {flag}" for flag in _FLAGS),
}
#: Names in a page of UTF-8, in the encoding of an old database.
_IN_OTHER_ENCODINGS: dict[str, tuple[str, ...]] = {
    "windows_1252": ("Müller", "Möller", "Mäller"),
    "windows_1251": ("Павел", "Мария", "Борис"),
}


def _encoded(site: Site, encoding: str, names: tuple[str, ...]) -> Any:
    first, second = (f"<p>{part}</p>" for part in DESCRIPTION)
    for n, name in enumerate(names):
        body = f"<main><h1>Каменный мост</h1>{first}<p>Спросите: NAME.</p>{second}</main>"
        before, behind = page("Каменный мост", body).encode().split(b"NAME")
        site.put(f"/{n}", before + name.encode(encoding) + behind, content=str(n))
    site.index()
    return PromiseSpider


def _add_all() -> None:
    for name, (sentence, values) in _WITHIN.items():
        parts = "".join(f"<p>{part}</p>" for part in (DESCRIPTION[0], sentence, DESCRIPTION[1]))

        def build(site: Site, parts: str = parts, values: tuple[str, ...] = values) -> Any:
            return ads(site, f"<main><article><h1>TITLE</h1>{parts}</article></main>", values)

        build.__name__ = f"sentences_that_differ_in_{name}"
        situation(contents=len(values))(build)
    for name, values in _TITLES.items():

        def build_titles(site: Site, values: tuple[str, ...] = values) -> Any:
            return titled(site, values)

        build_titles.__name__ = f"titles_that_differ_in_{name}"
        situation(contents=len(values))(build_titles)
    for encoding, names in _IN_OTHER_ENCODINGS.items():

        def build_encoded(
            site: Site, encoding: str = encoding, names: tuple[str, ...] = names
        ) -> Any:
            return _encoded(site, encoding, names)

        build_encoded.__name__ = f"pages_of_utf_8_with_names_in_{encoding}"
        situation(contents=len(names))(build_encoded)


_add_all()
