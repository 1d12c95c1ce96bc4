"""Pages of one title that differ in words, each of which is elsewhere one that copies differ in.

Such words are those of times from now on, of bylines and of counters. The rest differ in a common
word of the text: in a negation, a number word, or the spelling of a name; or in the order of words.
"""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, TERMS, ads, page

_TABLE = (
    "<main><article><h1>TITLE</h1>TEXT</article><section><table><tr><th>LABEL</th><td>VALUE</td>"
    "</tr><tr><th>Rooms</th><td>3</td></tr></table></section></main>"
)
_LINES = (
    "<main><article><h1>TITLE</h1>TEXT</article><div class=details><p>VALUE</p>"
    "<p>Admission free</p></div></main>"
)

#: Values by the label that they stand behind.
_BEHIND_LABELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "addresses_in_maebashi": (
        "所在地",
        ("〒371-0026 前橋市大手町1-1", "〒371-0034 前橋市昭和町3-9"),
    ),
    "addresses_at_the_gate": ("地址", ("西城区2号前门西河沿街", "东城区8号前门大街")),
    "what_they_are_now": ("Use", ("now a school", "now a hotel", "now a chapel")),
    "results": ("Results", ("positive", "negative", "inconclusive")),
    "ratings": ("Bewertung", ("bestanden", "nicht bestanden")),
    "opinions": ("Avis", ("favorable", "défavorable")),
    "visiting_teams": ("Visitors", ("Lions", "Bears", "Falcons")),
    "grades": ("評価", ("優", "良", "可")),
}
_DAYS = ("3 May 2024", "9 June 2024", "21 July 2024")
_EARLY_DAYS = ("3 May 1921", "9 June 1921", "21 July 1921")
_BEHIND_LABELS |= {
    "days_of_local_elections": ("Local elections", _DAYS),
    "days_of_viewings": ("Viewing", _DAYS),
    "days_of_registration_before_the_web": ("Registered", _EARLY_DAYS),
}
#: Labels with a word of a counter that say what a page is about.
_BEHIND_LABELS |= {
    "follow_ups": ("Follow-up", ("6 months", "12 months", "24 months")),
    "response_codes": ("Response code", ("404", "410", "500")),
    "share_capital": ("Share capital", ("25,000", "50,000", "100,000")),
    "order_quantities": ("Minimum order quantity", ("10", "25", "50")),
    "votes_for_a_motion": ("Votes for", ("340", "291", "318")),
}
#: Lines without a label.
_ALONE: dict[str, tuple[str, ...]] = {
    "who_lived_here": ("Hier wohnte Anna Katz", "Hier wohnte Ludwig Stern"),
    "date_and_place": ("Sat 14 March 2026 · Town Hall, Leeds", "Sat 21 March 2026 · Swan, Truro"),
    "place_and_date": ("Stadthalle Husum | Sa 14.03.2026", "Theater Zwickau | Sa 28.03.2026"),
    "last_days": tuple(f"Current show until {day}" for day in _DAYS),
    "speaker_and_date": ("Talk by Anna Holt, 14 March 2026", "Talk by Karl Brandt, 21 March 2026"),
}
#: Sentences of a text.
_WITHIN: dict[str, tuple[str, ...]] = {
    "without": ("The room is let with breakfast.", "The room is let without breakfast."),
    "ne_pas": ("Le pont est ouvert aux camions.", "Le pont n'est pas ouvert aux camions."),
    "negations_before_counters": tuple(
        f"Contractors may {word}share the ladder." for word in ("", "not ")
    ),
    "classes_of_shares": tuple(f"The fund offers class {each} shares to all." for each in "ABC"),
    "numbered_visits": tuple(
        f"The card is given out at the {each} visit." for each in ("first", "second", "third")
    ),
    "views_of_a_drawing": tuple(
        f"The drawing shows a {each} view of the house." for each in ("front", "rear")
    ),
    "polish_numbers": tuple(
        f"Rano i wieczorem dwie osoby biorą {each} tabletki." for each in ("dwie", "trzy", "cztery")
    ),
    "chinese_permissions": ("这里能停车。", "这里可以停车。"),
    "chinese_sizes": ("这是大的那个房间。", "这是小的那个房间。"),
    "isnt": ("The bridge is safe for lorries.", "The bridge isn't safe for lorries."),
    "turkish": ("Köprü kamyonlara açık.", "Köprü kamyonlara açık değil."),
    "japanese": ("この橋は車で渡れます。", "この橋は車で渡れません。"),
    "doses": tuple(f"Adults take {number} ml three times daily." for number in (5, 10, 15)),
    "german_doses": tuple(
        f"Nehmen Sie {times} täglich 5 Tropfen ein." for times in ("einmal", "zweimal", "dreimal")
    ),
    "bounds": ("Groups of at least ten people pay.", "Groups of at most ten people pay."),
    # countries and people whose names are common words of their languages
    **{
        f"names_of_{language}": tuple(map(sentence.format, names))
        for language, sentence, names in (
            ("arabic", "مواطنو {} لا يحتاجون إلى تأشيرة.", ("مصر", "سوريا", "العراق", "روسيا")),
            ("persian", "شهروندان {} به روادید نیاز ندارند.", ("ایران", "عراق", "ترکیه", "روسیه")),
            ("hindi", "{} के नागरिकों को वीज़ा की आवश्यकता नहीं है।", ("चीन", "भारत", "अमेरिका")),
            ("vietnamese", "Công dân {} không cần thị thực.", ("Pháp", "Đức", "Trung Quốc", "Anh")),
            (
                "people",
                "Giấy mời này là của {}.",
                ("Nguyễn Văn Hùng", "Trần Thị Lan", "Vũ Đình Nam"),
            ),
        )
    },
    "beds_before_visits": tuple(
        f"The house has {number} beds. Visitors like the quiet garden." for number in (4, 5, 6)
    ),
    "years": (
        "He was sentenced to two years in prison.",
        "He was sentenced to five years in prison.",
    ),
    "rooms": (
        "The flat has three bedrooms and two bathrooms.",
        "The flat has two bedrooms and three bathrooms.",
    ),
    "season": ("The shop is open from May to October.", "The shop is open from October to May."),
    "buyer": (
        "All shares of Brockmann Stahlbau GmbH were bought by Nordlicht Reederei AG.",
        "All shares of Nordlicht Reederei AG were bought by Brockmann Stahlbau GmbH.",
    ),
    "way": (
        "The bus runs from Stratford upon Avon to Newcastle upon Tyne.",
        "The bus runs from Newcastle upon Tyne to Stratford upon Avon.",
    ),
    "guests": ("The cottage is let to four guests.", "The cottage is let to six guests."),
    # numbers in place of names, letters and number words
    **{
        name: tuple(sentence.replace("WHICH", value) for value in values.split())
        for name, sentence, values in (
            ("rooms_and_names", "We meet in room WHICH on the left.", "12 Lincoln 7 Young"),
            ("platforms", "The train stops at platform WHICH of the station.", "4 B 7 C"),
            ("places", "The hall has places for WHICH people.", "nine 40 twelve 35"),
            ("films", "Tonight we show the film WHICH in the hall.", "1984 Vertigo Alien"),
            (
                "hashes",
                "The commit has the hash WHICH in the log.",
                "9f86d08 60303ae 1234567 0000fd",
            ),
            ("decimals", "The part is WHICH inches long.", "1.5 seven"),
            # a name that is a time as well
            ("people", "Please ask for Mrs WHICH at the door.", "Day Henriksen"),
        )
    },
}
#: Sentences with a date behind a word by which the dates of visits and changes are known as well.
_WITH_DATES = {
    "visits": "The Queen will visit the town on {} with her son.",
    "local_elections": "The local elections take place on {} in the town hall.",
    "last_days": "From today until {} the shop is closed.",
    "courses": "The printmaking course begins on {} in the hall.",
    "deliveries": "The speech was delivered on {} by the mayor.",
    "sentences": "All seats were checked. On {} the match begins.",
    "current_shows": "Die aktuelle Ausstellung öffnet am {} im Haus.",
}
_WITHIN |= {
    f"days_of_{name}": tuple(map(sentence.format, _DAYS)) for name, sentence in _WITH_DATES.items()
}
_WITHIN["days_of_changes_before_the_web"] = tuple(
    f"The treaty was modified on {day} in Vienna." for day in _EARLY_DAYS
)
#: Names that are titles as well.
_TITLES: dict[str, tuple[str, ...]] = {
    "sharp_s": ("Frau Weiß", "Frau Weiss", "Maße", "Masse"),
    "arabic_negation": ("صالح للشرب", "غير صالح للشرب"),
    "vietnamese_negation": ("hút thuốc được", "không hút thuốc được"),
    "korean_negation": ("흡연 객실", "비 흡연 객실"),
}


def titled(site: Site, values: tuple[str, ...]) -> Any:
    text = "".join(f"<p>{part}</p>" for part in DESCRIPTION)
    for n, name in enumerate(values):
        body = f"<main><article><h1>{name}</h1>{text}</article></main>"
        site.put(f"/{n}", page(f"{name} | Market", body), content=str(n))
    site.index()
    return PromiseSpider


def _add_all() -> None:
    for name, (label, values) in _BEHIND_LABELS.items():

        def build(site: Site, label: str = label, values: tuple[str, ...] = values) -> Any:
            return ads(site, _TABLE.replace("LABEL", label), values, "Entry")

        build.__name__ = f"entries_whose_rows_differ_in_{name}"
        situation(contents=len(values))(build)
    for name, values in _ALONE.items():

        def build_line(site: Site, values: tuple[str, ...] = values) -> Any:
            return ads(site, _LINES, values, "Evening")

        build_line.__name__ = f"entries_whose_lines_differ_in_{name}"
        situation(contents=len(values))(build_line)
    layout = "<p>VALUE</p>".join(
        f"<p>{part}</p>" for part in (f"{DESCRIPTION[0]} {DESCRIPTION[1]}", TERMS)
    )
    for name, values in _WITHIN.items():

        def build_text(site: Site, values: tuple[str, ...] = values) -> Any:
            return ads(site, f"<main><article><h1>TITLE</h1>{layout}</article></main>", values)

        build_text.__name__ = f"entries_whose_texts_differ_in_{name}"
        situation(contents=len(values))(build_text)
    for name, values in _TITLES.items():

        def build_titles(site: Site, values: tuple[str, ...] = values) -> Any:
            return titled(site, values)

        build_titles.__name__ = f"entries_whose_titles_differ_in_{name}"
        situation(contents=len(values))(build_titles)


_add_all()
