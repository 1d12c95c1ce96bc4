"""Disguises on another site that change the text around the article and the order of its parts."""

from __future__ import annotations

import random
from dataclasses import replace
from html import escape

from ..articles import Article, paragraph
from ..pages import MadePage, elsewhere, made
from ..templates import TEMPLATES, Layout, Markup, linked
from . import restructuring
from .registry import disguise
from .rewriting import words_of


def _copied(article: Article, rng: random.Random) -> MadePage:
    """Return the article on another site, in another template."""
    return made(elsewhere(article, rng), article)


def _marked_up(article: Article, rng: random.Random, markup: Markup) -> MadePage:
    return made(replace(elsewhere(article, rng), markup=markup), article)


def _markup_of(layout: Layout) -> Markup:
    return TEMPLATES[layout.template].markup


@disguise("other-template")
def other_template(article: Article, rng: random.Random) -> MadePage:
    """Return the article on another site, without further changes."""
    return _copied(article, rng)


@disguise("table-layout")
def table_layout(article: Article, rng: random.Random) -> MadePage:
    """Return the article on a site that lays out its pages with tables."""
    return made(replace(elsewhere(article, rng), template="table-layout"), article)


@disguise("static-page")
def static_page(article: Article, rng: random.Random) -> MadePage:
    """Return the article on a hand-written page without any structure."""
    return made(replace(elsewhere(article, rng), template="static-page"), article)


@disguise("title-site-in-front")
def title_site_in_front(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with the copying site's name in front of the title."""
    layout = elsewhere(article, rng)
    return made(replace(layout, head_title=f"{layout.site}: {article.title}"), article)


@disguise("title-site-behind")
def title_site_behind(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with a section and the copying site's name behind the title."""
    layout = elsewhere(article, rng)
    section = layout.texts.one("menu", rng)
    return made(replace(layout, head_title=f"{article.title} » {section} » {layout.site}"), article)


@disguise("other-title")
def other_title(article: Article, rng: random.Random) -> MadePage:
    """Return a copy whose title is the first sentence of the text."""
    first = next(block.text for block in article.blocks if block.kind == "paragraph")
    title = article.sentences(first)[0][:90]
    return made(replace(elsewhere(article, rng), head_title=title, heading=title), article)


@disguise("preface")
def preface(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with a preface of the copying site."""
    layout = elsewhere(article, rng)
    text = escape(layout.texts.one("prefaces", rng))
    return made(replace(layout, lead=f"<p><em>{text}</em></p>"), article)


@disguise("source-and-disclaimer")
def source_and_disclaimer(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with a note on the source and a disclaimer at its end."""
    layout = elsewhere(article, rng)
    source = layout.texts.one("sources", rng).format(site=article.site)
    notes = [source, *layout.texts.lines("disclaimers")]
    tail = "\n".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    return made(replace(layout, tail=tail), article)


@disguise("footnotes")
def footnotes(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with marks in the text and footnotes below it."""
    layout = elsewhere(article, rng)
    notes = layout.texts.lines("footnotes")
    marked = restructuring.with_footnote_marks(article, len(notes), rng)
    entries = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return made(replace(layout, tail=f"<ol>{entries}</ol>"), marked)


@disguise("one-paragraph-dropped")
def one_paragraph_dropped(article: Article, rng: random.Random) -> MadePage:
    """Return a copy that lacks one paragraph."""
    return _copied(restructuring.without_paragraphs(article, 1, rng), rng)


@disguise("two-paragraphs-dropped")
def two_paragraphs_dropped(article: Article, rng: random.Random) -> MadePage:
    """Return a copy that lacks two paragraphs."""
    return _copied(restructuring.without_paragraphs(article, 2, rng), rng)


@disguise("last-third-missing")
def last_third_missing(article: Article, rng: random.Random) -> MadePage:
    """Return a copy of the first two thirds that points to the original for the rest."""
    layout = elsewhere(article, rng)
    tail = f"<p><i>{layout.label('continues')}</i></p>"
    part = article.with_blocks(restructuring.first_share(article, 2 / 3))
    return made(replace(layout, tail=tail), part)


@disguise("paragraphs-split")
def paragraphs_split(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with a paragraph for every sentence."""
    return _copied(restructuring.split_paragraphs(article), rng)


@disguise("paragraphs-merged")
def paragraphs_merged(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with one paragraph between two headings."""
    return _copied(restructuring.merged_paragraphs(article), rng)


@disguise("divs-and-breaks")
def divs_and_breaks(article: Article, rng: random.Random) -> MadePage:
    """Return a copy that knows <div> and <br> only."""
    markup = Markup(
        heading="{}<br>",
        paragraph="{}<br><br>",
        list="<div>{}</div>",
        item="* {}<br>",
        table="<div>{}</div>",
        row="{}<br>",
        cell="{} ",
        code="<div>{}</div>",
    )
    return _marked_up(article, rng, markup)


@disguise("text-in-table-cells")
def text_in_table_cells(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with every paragraph in a table of its own."""
    cell = '<table width="100%"><tr><td>{}</td></tr></table>'
    markup = Markup(heading=cell.format("<b>{}</b>"), paragraph=cell, list=cell, item="- {}<br>")
    return _marked_up(article, rng, markup)


@disguise("everything-in-headings")
def everything_in_headings(article: Article, rng: random.Random) -> MadePage:
    """Return a copy that misuses <h4> for its paragraphs."""
    return _marked_up(article, rng, Markup(paragraph="<h4>{}</h4>", item="<li><h5>{}</h5></li>"))


@disguise("folded-sections")
def folded_sections(article: Article, rng: random.Random) -> MadePage:
    """Return a copy whose sections open when their headings are pressed."""
    markup = Markup(
        heading='<button aria-expanded="false" class="fold">{}</button>',
        paragraph='<div class="panel" role="region"><p>{}</p></div>',
    )
    return _marked_up(article, rng, markup)


@disguise("headings-removed", blocks="heading")
def headings_removed(article: Article, rng: random.Random) -> MadePage:
    """Return a copy without subheadings."""
    return _copied(restructuring.without_kind(article, "heading"), rng)


@disguise("tables-lost", blocks="table")
def tables_lost(article: Article, rng: random.Random) -> MadePage:
    """Return a copy without tables."""
    return _copied(restructuring.without_kind(article, "table"), rng)


@disguise("code-lost", blocks="code")
def code_lost(article: Article, rng: random.Random) -> MadePage:
    """Return a copy without blocks of code."""
    return _copied(restructuring.without_kind(article, "code"), rng)


@disguise("code-with-line-numbers", blocks="code")
def code_with_line_numbers(article: Article, rng: random.Random) -> MadePage:
    """Return a copy whose code has numbered lines."""
    return _copied(restructuring.numbered_code(article), rng)


@disguise("lists-flattened", blocks="list")
def lists_flattened(article: Article, rng: random.Random) -> MadePage:
    """Return a copy whose list entries are paragraphs."""
    return _copied(restructuring.lists_as_paragraphs(article), rng)


@disguise("lists-reordered", blocks="list")
def lists_reordered(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with list entries in another order."""
    return _copied(restructuring.shuffled_lists(article, rng), rng)


@disguise("table-as-text", blocks="table")
def table_as_text(article: Article, rng: random.Random) -> MadePage:
    """Return a copy whose table rows are paragraphs, with commas between the cells."""
    return _copied(restructuring.tables_as_paragraphs(article), rng)


@disguise("sentences-inserted")
def sentences_inserted(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with one sentence more in every third paragraph."""
    layout = elsewhere(article, rng)
    blocks = list(article.blocks)
    for at in restructuring.paragraph_places(article)[::3]:
        sentences = article.sentences(blocks[at].text)
        sentences.insert(rng.randint(1, len(sentences)), layout.texts.one("sentences", rng))
        blocks[at] = paragraph(article.joined(sentences))
    return made(layout, article.with_blocks(blocks))


@disguise("source-after-every-paragraph")
def source_after_every_paragraph(article: Article, rng: random.Random) -> MadePage:
    """Return a copy that names its source after every paragraph."""
    layout = elsewhere(article, rng)
    source = layout.texts.lines("sources")[0].format(site=article.site)
    changed = article.mapped(lambda text: article.joined([text, source]), "paragraph")
    return made(layout, changed)


@disguise("sentences-reordered")
def sentences_reordered(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with the sentences of each paragraph in another order."""
    return _copied(restructuring.shuffled_sentences(article, rng), rng)


@disguise("paragraphs-reordered")
def paragraphs_reordered(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with the paragraphs in another order."""
    return _copied(restructuring.shuffled_paragraphs(article, rng), rng)


@disguise("quoted-in-a-post")
def quoted_in_a_post(article: Article, rng: random.Random) -> MadePage:
    """Return a post that quotes the whole article after a few sentences of comment."""
    layout = elsewhere(article, rng)
    remarks = "".join(f"<p>{escape(text)}</p>\n" for text in layout.texts.lines("remarks"))
    lead = f"{remarks}<blockquote>"
    return made(replace(layout, lead=lead, tail="</blockquote>"), article)


@disguise("forum-thread")
def forum_thread(article: Article, rng: random.Random) -> MadePage:
    """Return a thread of a forum: the article as the first post, and eight answers."""
    layout = elsewhere(article, rng)
    remark = f"<p>{escape(layout.texts.one('remarks', rng))}</p>"
    answers = layout.texts.some_pairs("comments", 8, rng)
    return made(replace(layout, template="forum", lead=remark, comments=answers), article)


@disguise("mail-archive")
def mail_archive(article: Article, rng: random.Random) -> MadePage:
    """Return a message of a mailing list that quotes the article with ``>`` before each line."""
    layout = elsewhere(article, rng)
    lead = (
        f"<p>{layout.label('subject')}: {escape(article.title)}</p>"
        f"<p>{escape(article.author)} {layout.label('quoted')}</p>"
    )
    markup = Markup(heading="<p>&gt; {}</p>", paragraph="<p>&gt; {}</p>", inline=escape)
    return made(replace(layout, template="static-page", lead=lead, markup=markup), article)


@disguise("numbered-paragraphs")
def numbered_paragraphs(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with a number in front of every paragraph."""
    return _copied(restructuring.numbered_paragraphs(article), rng)


@disguise("contents-in-front", blocks="heading")
def contents_in_front(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with a list of its headings in front."""
    layout = elsewhere(article, rng)
    headings = [block.text for block in article.blocks if block.kind == "heading"]
    entries = "".join(f'<li><a href="#s{n}">{escape(h)}</a></li>' for n, h in enumerate(headings))
    return made(replace(layout, lead=f'<ul class="toc">{entries}</ul>'), article)


@disguise("links-stripped")
def links_stripped(article: Article, rng: random.Random) -> MadePage:
    """Return a copy without links in its text."""
    layout = elsewhere(article, rng)
    return made(replace(layout, markup=replace(_markup_of(layout), inline=escape)), article)


@disguise("own-furniture")
def own_furniture(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with the copying site's advertisements, captions, comments and buttons."""
    layout = elsewhere(article, rng)
    texts = layout.texts
    inserts = texts.some("advertisements", 3, rng) + texts.some("captions", 3, rng)
    share = "".join(f"<li>{escape(text)}</li>" for text in texts.lines("share"))
    layout = replace(
        layout,
        inserts=[f"<p>{escape(text)}</p>" for text in inserts],
        tail=f"<ul>{share}</ul><p>{escape(texts.one('newsletters', rng))}</p>",
        comments=texts.some_pairs("comments", 10, rng),
        banner=f'<div class="consent">{escape(texts.one("cookies", rng))}</div>',
    )
    return made(layout, article)


@disguise("hidden-keywords")
def hidden_keywords(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with hidden words for search engines in front of its text."""
    layout = elsewhere(article, rng)
    texts = layout.texts
    words = ", ".join(
        escape(f"{p} {m}") for p in texts.lines("places")[:12] for m in layout.menu[:5]
    )
    return made(replace(layout, lead=f'<div style="display:none">{words}</div>'), article)


@disguise("menu-in-another-language", languages="zh de ru ja")
def menu_in_another_language(article: Article, rng: random.Random) -> MadePage:
    """Return a copy on an English site: menus, teasers and labels are English."""
    english = elsewhere(replace(article, language="en"), rng)
    return made(english, article)


@disguise("other-inline-tags")
def other_inline_tags(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with bold, emphasised and linked words."""
    forms = ("<b>{}</b>", "<a href='#'>{}</a>", '<span class="k">{}</span>', "<em>{}</em>")

    def tagged(text: str) -> str:
        words = map(escape, words_of(text))
        return "".join(rng.choice(forms).format(w) if rng.random() < 0.1 else w for w in words)

    layout = elsewhere(article, rng)
    return made(replace(layout, markup=replace(_markup_of(layout), inline=tagged)), article)


@disguise("span-around-every-word")
def span_around_every_word(article: Article, rng: random.Random) -> MadePage:
    """Return a copy with each word in a <span>, as players that read aloud need it."""

    def wrapped(text: str) -> str:
        return "".join(f"<span data-w>{escape(word)}</span>" for word in words_of(text))

    layout = elsewhere(article, rng)
    return made(replace(layout, markup=replace(_markup_of(layout), inline=wrapped)), article)


@disguise("drop-caps")
def drop_caps(article: Article, rng: random.Random) -> MadePage:
    """Return a copy whose paragraphs start with a large letter in an element of its own."""

    def started(text: str) -> str:
        return f'<span class="cap">{escape(text[:1])}</span>{linked(text[1:])}'

    layout = elsewhere(article, rng)
    markup = _markup_of(layout)
    return made(replace(layout, markup=replace(markup, inline=started)), article)
