"""Disguises on another site that change characters, spellings and words."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape

from ..articles import Article
from ..pages import MadePage, elsewhere, made
from ..templates import TEMPLATES, Markup
from . import rewriting, variants
from .registry import disguise

Change = Callable[[str], str]


def _rewritten(article: Article, rng: random.Random, change: Change, *kinds: str) -> MadePage:
    """Return the article on another site, its text changed by *change*."""
    return made(elsewhere(article, rng), article.mapped(change, *kinds))


def _with_inline(article: Article, rng: random.Random, inline: Change) -> MadePage:
    """Return the article on another site, its text turned into HTML by *inline*."""
    layout = elsewhere(article, rng)
    markup = replace(TEMPLATES[layout.template].markup, inline=inline)
    return made(replace(layout, markup=markup), article)


@disguise("typographic-signs", pattern=r"[\"'“”‘’–—]|\s-\s")
def typographic_signs(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with other quotes, dashes and ellipses."""
    return _rewritten(article, rng, lambda text: rewriting.typographic(text, article.language))


@disguise("upper-case-headings", languages="en de ru", blocks="heading")
def upper_case_headings(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with its title and headings in capitals."""
    layout = elsewhere(article, rng)
    shouted = replace(layout, heading=article.title.upper(), head_title=article.title.upper())
    return made(shouted, article.mapped(str.upper, "heading"))


@disguise("upper-case-text", languages="en de ru")
def upper_case_text(article: Article, rng: random.Random) -> MadePage:
    """Return a copy in capitals."""
    return _rewritten(article, rng, str.upper)


@disguise("lower-case-text", languages="en de ru")
def lower_case_text(article: Article, rng: random.Random) -> MadePage:
    """Return a copy without capitals."""
    return _rewritten(article, rng, str.lower)


@disguise("entities")
def entities(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with numeric entities for a third of its characters."""
    return _with_inline(article, rng, lambda text: rewriting.entities(text, every=3))


def _marked(article: Article, rng: random.Random, mark: str, share: float) -> MadePage:
    return _rewritten(article, rng, lambda text: rewriting.with_marks(text, mark, share, rng))


@disguise("zero-width-spaces")
def zero_width_spaces(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with invisible blanks between a tenth of its letters."""
    return _marked(article, rng, "\u200b", 0.1)


@disguise("zero-width-joiners")
def zero_width_joiners(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with invisible joiners between a quarter of its letters."""
    return _marked(article, rng, "\u200d", 0.25)


@disguise("soft-hyphens", languages="en de ru")
def soft_hyphens(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with soft hyphens in its words."""
    return _marked(article, rng, "\u00ad", 0.2)


@disguise("word-break-elements")
def word_break_elements(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with <wbr> between a fifth of its letters."""
    marked = "\ufdd0"  # a code point that no text has
    return _with_inline(
        article,
        rng,
        lambda text: escape(rewriting.with_marks(text, marked, 0.2, rng)).replace(marked, "<wbr>"),
    )


@disguise("tatweel", languages="en de ru")
def tatweel(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with Arabic lengthening marks in its words, as spam has them."""
    return _marked(article, rng, "\u0640", 0.03)


@disguise("direction-marks")
def direction_marks(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with marks of the text's direction around words."""

    def directed(text: str) -> str:
        words = rewriting.words_of(text)
        return "".join(
            f"\u200e{word}\u200e" if number % 4 == 0 else word for number, word in enumerate(words)
        )

    return _rewritten(article, rng, directed)


@disguise("no-break-blanks", languages="en de ru")
def no_break_blanks(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with no-break blanks, as editors of rich text insert them."""
    return _with_inline(article, rng, lambda text: escape(text).replace(" ", "&nbsp;"))


@disguise("decomposed-letters", languages="de ru ja")
def decomposed_letters(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with letters and their marks as characters of their own."""
    return _rewritten(article, rng, lambda text: unicodedata.normalize("NFD", text))


@disguise("full-width-letters", languages="zh ja", pattern="[0-9A-Za-z]")
def full_width_letters(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with full-width letters and digits."""
    return _rewritten(article, rng, rewriting.fullwidth)


@disguise("full-width-latin", languages="en")
def full_width_latin(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with all letters of an English text in full width."""
    return _rewritten(article, rng, rewriting.fullwidth)


@disguise("mathematical-letters", languages="en")
def mathematical_letters(article: Article, rng: random.Random) -> MadePage:
    """Return a copy in the bold letters of mathematical notation."""
    return _rewritten(article, rng, rewriting.mathematical)


@disguise("blanks-between-characters", languages="zh ja")
def blanks_between_characters(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with blanks between the characters."""
    return _rewritten(article, rng, rewriting.blanks_between_han)


@disguise("line-breaks-between-characters", languages="zh ja")
def line_breaks_between_characters(article: Article, rng: random.Random) -> MadePage:
    """Return a copy whose source has a line break after every thirty characters."""
    return _rewritten(article, rng, lambda text: rewriting.narrow_lines(text, 60, hyphens=False))


@disguise("partly-traditional", languages="zh")
def partly_traditional(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with half of the characters that differ in their traditional form."""
    table = variants.TRADITIONAL
    return _rewritten(article, rng, lambda text: rewriting.some_translated(text, table, 0.5, rng))


@disguise("all-traditional", languages="zh")
def all_traditional(article: Article, rng: random.Random) -> MadePage:
    """Return a copy in traditional characters, its menus too."""
    page = _rewritten(article, rng, lambda text: text)
    html = rewriting.translated(page.html, variants.TRADITIONAL)
    return replace(page, html=html.replace('lang="zh"', 'lang="zh-Hant"'))


@disguise("half-width-punctuation", languages="zh ja")
def half_width_punctuation(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with the punctuation of Latin script."""
    return _rewritten(article, rng, lambda text: rewriting.translated(text, variants.HALF_WIDTH))


@disguise("punctuation-lost")
def punctuation_lost(article: Article, rng: random.Random) -> MadePage:
    """Return a copy without punctuation, as speech recognition writes it."""
    between = " " if article.spaced else ""
    return _rewritten(article, rng, lambda text: re.sub(r"[^\w\s]+", between, text))


@disguise("homoglyphs", languages="en de")
def homoglyphs(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with one Cyrillic letter in 1 % of its words."""

    def mixed(text: str) -> str:
        return "".join(
            rewriting.some_translated(word, variants.HOMOGLYPHS, 0, rng, least=1)
            if rng.random() < 0.01
            else word
            for word in rewriting.words_of(text)
        )

    return _rewritten(article, rng, mixed)


@disguise("many-homoglyphs", languages="en")
def many_homoglyphs(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with a fifth of the letters that have one replaced by a Cyrillic double."""
    table = variants.HOMOGLYPHS
    return _rewritten(article, rng, lambda text: rewriting.some_translated(text, table, 0.2, rng))


def _mistyped(share: float) -> Callable[[Article, random.Random], MadePage]:
    def make(article: Article, rng: random.Random) -> MadePage:
        """Return a copy with typing errors in a share of its words."""
        return _rewritten(article, rng, lambda text: rewriting.with_typos(text, share, rng))

    return make


def _misread(share: float) -> Callable[[Article, random.Random], MadePage]:
    def make(article: Article, rng: random.Random) -> MadePage:
        """Return a copy as text recognition reads it, with a share of wrong characters."""
        return _rewritten(article, rng, lambda text: rewriting.misread(text, share, rng))

    return make


for _percent in (2, 5, 10):
    disguise(f"typos-{_percent}-percent")(_mistyped(_percent / 100))
for _percent in (2, 5):
    disguise(f"misread-{_percent}-percent")(_misread(_percent / 100))


@disguise("hyphenated-lines", languages="en de ru")
def hyphenated_lines(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with hyphenated line breaks, as in text from a PDF file."""

    def broken(text: str) -> str:
        return rewriting.narrow_lines(text, 62, hyphens=True)

    return _rewritten(article, rng, broken, "paragraph")


@disguise("preformatted-lines")
def preformatted_lines(article: Article, rng: random.Random) -> MadePage:
    """Return a copy in <pre>, with lines of at most 70 characters."""

    def wrapped(text: str) -> str:
        return escape(rewriting.narrow_lines(text, 70, hyphens=False))

    markup = Markup(
        heading="<pre>== {} ==</pre>", paragraph="<pre>{}</pre>", list="<pre>{}</pre>",
        item="* {}\n", inline=wrapped,
    )  # fmt: skip
    return made(replace(elsewhere(article, rng), markup=markup), article)


@disguise("synonyms")
def synonyms(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with synonyms for 3 % of its words."""
    table = variants.SYNONYMS[article.language]
    found = rewriting.word_pattern(article.text, table).findall(article.text)
    chance = 0.03 * rewriting.count_words(article.text) / max(1, len(found))
    return _rewritten(
        article, rng, lambda text: rewriting.replaced_words(text, table, chance, rng), "paragraph"
    )


@disguise("american-spelling", languages="en", pattern="our|metre|litre|centre|per cent|grey")
def american_spelling(article: Article, rng: random.Random) -> MadePage:
    """Return a copy in American spelling."""
    return _rewritten(article, rng, rewriting.american)


#: Names of months that another name shortens, English and German.
_MONTHS = r"\b(Janu|Febru|March|April|June|July|Juli|Aug|Sept|Octo|Okto|Novem|Decem|Dezem|März)"


@disguise("short-months", languages="en de", pattern=_MONTHS)
def short_months(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with abbreviated names of months, in the line of the author too."""
    layout = elsewhere(article, rng)
    months, short = layout.texts.months(), layout.texts.short_months()

    def shortened(text: str) -> str:
        return rewriting.short_months(text, months, short)

    return made(replace(layout, byline=shortened(layout.byline)), article.mapped(shortened))


@disguise("other-number-format", pattern=r"\d[.,]\d")
def other_number_format(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with other separators in its numbers."""
    return _rewritten(article, rng, rewriting.other_separators)


@disguise("readings-above", languages="zh ja")
def readings_above(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with the readings of common words above them."""
    table = variants.PINYIN if article.language == "zh" else variants.KANA
    return _with_inline(article, rng, lambda text: _annotated(text, table))


def _annotated(text: str, table: Mapping[str, str]) -> str:
    words = sorted(map(re.escape, table), key=len, reverse=True)
    return re.sub(
        "|".join(words),
        lambda m: f"<ruby>{m[0]}<rp>(</rp><rt>{table[m[0]]}</rt><rp>)</rp></ruby>",
        escape(text),
    )


@disguise("emoji")
def emoji(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with an emoji in front of headings and behind paragraphs."""
    signs = "👉 🔥 📌 ✅ 💡 🌿".split()
    layout = elsewhere(article, rng)
    decorated = article.mapped(lambda text: f"{rng.choice(signs)} {text}", "heading", "list")
    return made(layout, decorated.mapped(lambda text: f"{text} {rng.choice(signs)}", "paragraph"))


@disguise("ascii-only", languages="de")
def ascii_only(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with German umlauts written in two letters."""
    table = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
    return _rewritten(article, rng, lambda text: rewriting.translated(text, table))


@disguise("without-yo", languages="ru", pattern="ё")
def without_yo(article: Article, rng: random.Random) -> MadePage:
    """Return a copy of a Russian text that writes е for ё."""
    return _rewritten(article, rng, lambda text: rewriting.translated(text, {"ё": "е", "Ё": "Е"}))
