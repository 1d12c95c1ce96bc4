"""Pages made from one form: the same words around different names and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from tests.promises.harness import PromiseSpider, Site, full, paragraph, situation, words

_FORM = words(220, "the form's own text")
_NAMES = "Farnsworth Oglethorpe Quimby Ravenscroft Pettigrew Thistlewood Abernathy Winterbourne"
_PLACES = "Zanzibar Samarkand Valparaiso Antananarivo Reykjavik Ouagadougou Vladivostok Tashkent"


def _register(site: Site, folder: str, title: str, *columns: list[str]) -> None:
    """Pages that differ in one value of each column alone."""
    for n, values in enumerate(zip(*columns, strict=True)):
        text = _FORM.split()
        for place, value in enumerate(values):
            text.insert(40 * place + 20, value)
        site.put(f"/{folder}/{n}", full(" ".join(text), title), f"entry {n}")


@situation(contents=8)
def entries_of_a_register_under_one_title(site: Site) -> Any:
    _register(site, "entry", "Register", _NAMES.split(), _PLACES.split())
    site.index()
    return PromiseSpider


@situation(contents=8)
def notices_that_differ_in_a_name_alone(site: Site) -> Any:
    _register(site, "notice", "Notice", _NAMES.split())
    site.index()
    return PromiseSpider


@situation(contents=8)
def strengths_of_one_article_of_a_catalogue(site: Site) -> Any:
    sizes = [str(size) for size in (5, 10, 25, 40, 75, 120, 250, 600)]
    _register(site, "article", "Catalogue", sizes, sizes[::-1])
    site.index()
    return PromiseSpider


@situation(contents=8)
def entries_of_a_register_after_other_pages_of_the_site(site: Site) -> Any:
    for n in range(12):
        site.put(f"/news/{n}", full(words(150, n), f"News of {words(2, n)}"), f"news {n}")
    _register(site, "entry", "Register", _NAMES.split(), _PLACES.split())
    site.index(*(f"/entry/{n}" for n in range(8)))
    return PromiseSpider


@situation(contents=60)
def entries_of_a_large_register(site: Site) -> Any:
    numbers = [[str(start + 37 * n) for n in range(60)] for start in (1000, 5000)]
    _register(site, "lot", "Auction lot", *numbers)
    site.index()
    return PromiseSpider


@situation(contents=6)
def matches_that_differ_in_two_scores(site: Site) -> Any:
    scores = "3:1 (2:0)", "5:4 (1:2)", "0:6 (0:3)", "7:2 (4:1)", "8:9 (5:6)", "4:0 (3:0)"
    _register(site, "match", "Match of the day", list(scores))
    site.index()
    return PromiseSpider


@situation(contents=8)
def plans_that_differ_in_ticks_and_crosses(site: Site) -> Any:
    ticks = [["✓✗"[number >> bit & 1] for number in range(8)] for bit in range(3)]
    _register(site, "plan", "What is in the plan", *ticks)
    site.index()
    return PromiseSpider


@situation(contents=8)
def offers_that_differ_in_a_price_alone(site: Site) -> Any:
    _register(site, "offer", "Offer of the day", [f"${n}.50" for n in range(12, 20)])
    site.index()
    return PromiseSpider


@situation(contents=8)
def prices_in_characters_of_the_sites_own_font(site: Site) -> Any:
    digits = "\ue893\uf123"
    hidden = ["".join(digits[n >> bit & 1] for bit in range(3)) for n in range(8)]
    _register(site, "flat", "Flat to let", hidden)
    site.index()
    return PromiseSpider


def _measured(site: Site, values: list[str], *, is_copy: bool = False) -> None:
    """Pages of one title and one text, with a value of their own in it."""
    for n, value in enumerate(values):
        text = f"{words(80, 'before')} {value} {words(80, 'behind')}"
        page = full("", "Result").replace("<p></p>", f"<p>{text}</p>")
        site.put(f"/result/{n}", page, "result" if is_copy else f"result {n}")
    site.index()


@situation(contents=2)
def numbers_that_differ_in_raised_digits(site: Site) -> Any:
    _measured(site, ["10<sup>2</sup>", "102"])
    return PromiseSpider


@situation(contents=1, finds=1)
def copies_that_write_raised_digits_in_two_ways(site: Site) -> Any:
    _measured(site, ["10<sup>2</sup>", "10²"], is_copy=True)
    return PromiseSpider


@situation(contents=2)
def codes_that_differ_in_case(site: Site) -> Any:
    _measured(site, ["aBcDeF", "AbCdEf"])
    return PromiseSpider


@situation(contents=1, finds=1)
def copies_with_a_headline_in_capitals(site: Site) -> Any:
    headline = "Our new iPhone and eBay guide with LaTeX"
    _measured(site, [headline, headline.upper()], is_copy=True)
    return PromiseSpider


@situation(contents=5)
def programs_that_differ_in_an_operator(site: Site) -> Any:
    operators = "+=", "-=", "*=", "/=", "=="
    _measured(site, [f"total {operator} price * 3" for operator in operators])
    return PromiseSpider


@situation(contents=2)
def numbers_that_differ_in_a_minus(site: Site) -> Any:
    _measured(site, ["-15", "15"])
    return PromiseSpider


@situation(contents=2)
def per_cent_and_per_mille(site: Site) -> Any:
    _measured(site, ["5 %", "5 ‰"])
    return PromiseSpider


def _notices(site: Site, own: list[str], *, is_last: bool) -> None:
    """Pages of one title and one text, above or below which stands something of their own."""
    text = f"<p>{paragraph(words(150, 'notice'))}</p>"
    for n, part in enumerate(own):
        body = f"{text}<p>{part}</p>" if is_last else f"{part}{text}"
        page = f"<html><head><title>Notice</title></head><body><h1>Notice</h1>{body}</body></html>"
        site.put(f"/notice/{n}", page, f"notice {n}")
    site.index()


@situation(contents=8)
def tables_of_measurements_under_one_title(site: Site) -> Any:
    drawn = Random(3)
    rows = [[drawn.randint(100, 999) for _ in range(24)] for _ in range(8)]
    cells = ["".join(f"<td>{number}" for number in row) for row in rows]
    _notices(site, [f"<table><tr>{row}</table>" for row in cells], is_last=False)
    return PromiseSpider


@situation(contents=6)
def timetables_under_one_title(site: Site) -> Any:
    drawn = Random(5)
    hours = (6, 8, 11, 13, 17, 19)
    times = [" ".join(f"{hour:02}:{drawn.randint(0, 59):02}" for hour in hours) for _ in range(6)]
    _notices(site, times, is_last=True)
    return PromiseSpider


@situation(contents=4)
def dealers_whose_addresses_end_one_text(site: Site) -> Any:
    dealers = [
        "Kowalski and Sons, 12 High Street, Harwich CO12 3AB, phone 01255 443221",
        "Banerjee, Unit 9, Dock Yard, Grimsby",
        "Fernández, Calle Mayor 7, Toledo, phone 925 111 222, fax 925 111 223",
        "Lindqvist, Storgatan 3, Uppsala",
    ]
    _notices(site, dealers, is_last=True)
    return PromiseSpider


def _beside(site: Site, boxes: list[str], *, is_copy: bool = False) -> None:
    """Pages of one title and one text, with a box of another content that is not extracted."""
    text = "".join(f"<p>{paragraph(words(60, part))}</p>" for part in range(4))
    for n, box in enumerate(boxes):
        page = (
            "<html><head><title>Garden chair</title></head><body><div class=top><a href=/>Shop</a>"
            f"</div><div class=summary><h1>Garden chair</h1>{box}</div><article class=content>"
            f"{text}</article><footer>Imprint</footer></body></html>"
        )
        site.put(f"/chair/{n}", page, "chair" if is_copy else f"chair {n}")
    site.index()


@situation(contents=6)
def wares_that_differ_in_the_price_beside_their_text(site: Site) -> Any:
    _beside(site, [f"<div class=price>${n}.90</div><button>Buy</button>" for n in range(20, 26)])
    return PromiseSpider


@situation(contents=6)
def wares_that_differ_in_a_table_beside_their_text(site: Site) -> Any:
    rows = [f"<tr><th>Colour</th><td>{word}</td></tr>" for word in _PLACES.split()[:6]]
    _beside(site, [f"<table>{row}<tr><th>Legs</th><td>4</td></tr></table>" for row in rows])
    return PromiseSpider


@situation(contents=6)
def wares_that_differ_in_a_labelled_line_beside_their_text(site: Site) -> Any:
    _beside(site, [f"<ul><li><b>Made by:</b> {name}</li></ul>" for name in _NAMES.split()[:6]])
    return PromiseSpider


@situation(contents=1, finds=5)
def copies_that_differ_in_counters_beside_their_text(site: Site) -> Any:
    counters = (
        "<div>Views: {0}1034</div><div>2024-05-0{0} 12:30, {0}7 comments</div><p>Online: {0}8</p>"
        "<aside>Other chairs from ${0}.50</aside><a href=/tables>Tables from ${0}.70</a>"
    )
    _beside(site, [counters.format(n) for n in range(1, 7)], is_copy=True)
    return PromiseSpider


@situation(contents=6)
def lists_under_one_large_consent_overlay(site: Site) -> Any:
    purposes = f"<p>{words(600, 'purposes')}</p><button>Accept all cookies</button>"
    overlay = f'<div id="onetrust-consent-sdk">{purposes}</div>'
    for n in range(6):
        page = full(words(25, n), "Offers of the week")
        site.put(f"/offers/{n}", page.replace("<main>", f"{overlay}<main>"), f"offers {n}")
    site.index()
    return PromiseSpider


@situation(contents=6)
def categories_whose_wares_come_with_scripts(site: Site) -> Any:
    for n in range(6):
        data = f'{{"component": "List", "text": "Wares: {words(12, n)}"}}'
        script = f'<script type="application/json">{data}</script>'
        page = full(words(60, "benefits"), f"Category {words(2, n)}", head=script)
        site.put(f"/category/{words(1, n)}", page, f"category {n}")
    site.index()
    return PromiseSpider


def _kettles(site: Site, beside: list[str]) -> None:
    """Wares of one title and one description, in which each paragraph has markup."""
    text = "".join(
        f"<p><b>So</b> {paragraph(words(80, ('kettle', part)))}<br>See <a href=/help>here</a>.</p>"
        for part in range(3)
    )
    for n, own in enumerate(beside):
        page = (
            "<html><head><title>Kettle</title></head><body><main><h1>Kettle</h1>"
            f"<div class=buy>{own}</div><div class=text>{text}</div></main></body></html>"
        )
        site.put(f"/kettle/{n}", page, f"kettle {n}")
    site.index()


@situation(contents=6)
def prices_and_colours_beside_a_text_with_markup(site: Site) -> Any:
    prices = [f"<span class=price>{n}9.90 €</span>" for n in (1, 2, 3)]
    colours = [f"<div>Colour: {colour}</div>" for colour in ("red", "blue", "green")]
    _kettles(site, [*prices, *colours])
    return PromiseSpider


@situation(contents=20)
def prices_in_ten_currencies(site: Site) -> Any:
    forms = (
        "{}9,- €|{}99 SEK|DKK {}99|{}9,99 PLN|₱{}99|₦{}900|Rp {}99.000|RM{}9.90|{}99.000đ|AED {}9"
    )
    _kettles(site, [f"<span>{each.format(n)}</span>" for each in forms.split("|") for n in (1, 2)])
    return PromiseSpider


@situation(contents=6)
def medals_in_another_column(site: Site) -> Any:
    head = "<tr><th>Medals<th>Gold<th>Silver<th>Bronze"
    won = [
        ["5" if column in of else "" for column in "abc"]
        for of in ("a", "b", "c", "ab", "bc", "ac")
    ]
    rows = ["".join(f"<td>{cell}</td>" for cell in cells) for cells in won]
    _notices(site, [f"<table>{head}<tr><td>Total</td>{row}</table>" for row in rows], is_last=True)
    return PromiseSpider


_DAYS = [
    ("5 March 2026", "2026-03-05", "Thu, Mar 5"),
    ("12 March 2026", "2026-03-12", "Thu, Mar 12"),
    ("2 April 2026", "2026-04-02", "Thu, Apr 2"),
]


def _stating(site: Site, title: str, stated: Iterable[list[str]], is_copy: bool) -> None:
    """For each list, pages of one title and a text each, which are copies or all differ.

    Their contents are numbers: an item is kept for a text of its own.
    """
    for number, texts in enumerate(stated):
        for n, text in enumerate(texts):
            page = full("", f"{title} {number}").replace("<p></p>", text)
            site.put(f"/{title}/{number}/{n}", page, f"{number}" if is_copy else f"{number}.{n}")
    site.index()


def _recurring(site: Site, *templates: str, is_copy: bool = False) -> None:
    """Classes of one title and description, each with a date of its own, by several templates."""
    stated = [
        [
            template.format(day=day, iso=iso, short=short, n=n)
            for n, (day, iso, short) in enumerate(_DAYS)
        ]
        for template in templates
    ]
    described = [
        f"<p>{paragraph(words(120, number))}</p><p>{paragraph(words(90, (number, 2)))}</p>"
        for number in range(len(templates))
    ]
    classes = zip(stated, described, strict=True)
    _stating(site, "class", ([each + text for each in days] for days, text in classes), is_copy)


@situation(contents=33)
def classes_that_differ_in_their_dates(site: Site) -> Any:
    _recurring(
        site,
        "<p>Date: {day}</p>",
        "<p>When: {short}, 7 pm</p>",
        "<p>{day}</p>",
        "<h2>{iso}</h2>",
        "<p>The next class takes place on {day} in the large hall.</p>",
        "<p>Thursday, 1{n}:30 to 2{n}:00</p>",
        "<dl><dt>Date<dd>{day}<dt>Place<dd>Hall</dl>",
        "<time datetime={iso}T19:00>{day}</time>",
        "<div class=event-date>{short}, 19:00 - 20:30</div>",
        "<div class=schedule><span>{short} @ 7:00 pm</span> - <span>8:30 pm</span></div>",
        "<ul class=meta><li>{day}<li>Large hall</ul>",
    )
    return PromiseSpider


_NUMBERS = (5, 7, 1012)


def _numbered(site: Site, *sentences: str, is_copy: bool = False) -> None:
    """Offers of one title and text, in which one number of one sentence differs."""
    stated = []
    for number, sentence in enumerate(sentences):
        before, behind = (paragraph(words(70, (number, part))) for part in range(2))
        stated.append([f"<p>{before} {sentence.format(n=n)} {behind}</p>" for n in _NUMBERS])
    _stating(site, "offer", stated, is_copy)


@situation(contents=18)
def offers_that_differ_in_one_number_of_a_sentence(site: Site) -> Any:
    _numbered(
        site,
        "This is lot {n} of the auction.",
        "The room has {n} beds.",
        "Das Zimmer hat {n} Betten.",
        "La chambre a {n} lits.",
        "В комнате {n} кроватей.",
        "Paragraph {n} applies.",
    )
    return PromiseSpider


@situation(contents=8, finds=16)
def copies_with_a_counter_in_a_sentence(site: Site) -> Any:
    _numbered(
        site,
        "This page was viewed {n} times.",
        "{n} people have liked this.",
        "You are visitor number {n}.",
        "Updated {n} minutes ago.",
        "Diese Seite wurde {n} mal aufgerufen.",
        "Il y a {n} jours.",
        "Эту страницу просмотрели {n} раз.",
        "本文已被阅读{n}次。",
        is_copy=True,
    )
    return PromiseSpider


@situation(contents=3)
def classes_that_differ_in_a_month_or_in_a_day_of_the_week(site: Site) -> Any:
    for n, day in enumerate(("on Mondays in March", "on Mondays in April", "on Tuesdays in March")):
        text = f"{words(90, 'before')} {day} {words(60, 'behind')}"
        site.put(f"/class/{n}", full(text, "Class"), day)
    site.index()
    return PromiseSpider


@situation(contents=4, finds=8)
def copies_that_show_the_time_of_the_visit(site: Site) -> Any:
    _recurring(
        site,
        "<p>It is now 10:3{n}:07 in our office.</p>",
        "<p>All times are GMT. The time now is 10:3{n} AM.</p>",
        "<p>This page was made in 0.0{n} seconds.</p>",
        "<div class=clock>5 March 2026, 10:32:1{n}</div>",
        is_copy=True,
    )
    return PromiseSpider


@situation(contents=1, finds=3)
def copies_that_write_their_date_in_other_formats(site: Site) -> Any:
    for n, day in enumerate(("5 March 2026", "March 5, 2026", "2026-03-05", "05.03.2026")):
        page = full(words(150, "a class"), "Class").replace("<p>", f"<p>On {day}: ", 1)
        site.put(f"/class/{n}", page, "class")
    site.index()
    return PromiseSpider


_NAMED_ABOVE = (
    "<header><h1>Coast Rooms</h1></header><h2>{name}</h2>",
    "<header><h1>Coast Rooms</h1></header><section class=hero><h2>{name}</h2></section>",
    "<header><h1>Coast Rooms</h1></header><div class=page-header><h3>{name}</h3></div>",
    "<header>Coast Rooms</header><div class=page-header><h2>{name}</h2></div>",
    "<header>Coast Rooms</header><div class=product-name>{name}</div>",
)


@situation(contents=3 * len(_NAMED_ABOVE))
def rooms_of_one_title_whose_names_stand_above_the_article(site: Site) -> Any:
    for number, above in enumerate(_NAMED_ABOVE):
        text = f"<p>{paragraph(words(120, number))}</p><p>{paragraph(words(90, (number, 2)))}</p>"
        for n, name in enumerate(("Harbour view", "Lighthouse", "Room 12")):
            body = f"{above.format(name=name)}<main><article>{text}</article></main>"
            page = f"<html><head><title>Coast Rooms</title></head><body>{body}</body></html>"
            site.put(f"/room/{number}/{n}", page, str(3 * number + n))
    site.index()
    return PromiseSpider
