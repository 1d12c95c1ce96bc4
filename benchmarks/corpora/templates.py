"""Site templates, which render an article and the texts around it as HTML."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from re import compile as pattern

from .articles import Block
from .frames import FrameTexts

_LINKED = pattern(r"\w{5,16}")


def linked(text: str) -> str:
    """Return the text as HTML; in every second text, one word is a link."""
    chance = zlib.crc32(text.encode())
    words = list(_LINKED.finditer(text))
    if chance % 2 or len(words) < 8:
        return escape(text)
    word = words[chance // 2 % len(words)]
    before, after = text[: word.start()], text[word.end() :]
    href = f"/tag/{chance % 9973}"
    return f'{escape(before)}<a href="{href}">{escape(word[0])}</a>{escape(after)}'


@dataclass(frozen=True, slots=True)
class Markup:
    """The HTML of each kind of block, with ``{}`` where its content goes."""

    heading: str = "<h2>{}</h2>"
    paragraph: str = "<p>{}</p>"
    list: str = "<ul>{}</ul>"
    item: str = "<li>{}</li>"
    table: str = "<table>{}</table>"
    row: str = "<tr>{}</tr>"
    cell: str = "<td>{}</td>"
    code: str = "<pre><code>{}</code></pre>"
    inline: Callable[[str], str] = linked

    def html(self, block: Block) -> str:
        """Return the HTML of one block."""
        if block.kind == "list":
            return self.list.format(
                "".join(self.item.format(self.inline(r[0])) for r in block.rows)
            )
        if block.kind == "table":
            return self.table.format("".join(map(self._row, block.rows)))
        if block.kind == "code":
            return self.code.format(escape(block.text))
        form = self.heading if block.kind == "heading" else self.paragraph
        return form.format(self.inline(block.text))

    def _row(self, cells: Sequence[str]) -> str:
        return self.row.format("".join(self.cell.format(escape(cell)) for cell in cells))


@dataclass(frozen=True, slots=True)
class Layout:
    """A page around an article's blocks.

    ``banner``, ``lead``, ``tail`` and ``after`` are HTML: in front of everything, before and after
    the article's text within its element, and below the article. ``inserts`` is HTML that stands
    between blocks. ``markup`` replaces the template's own.
    """

    template: str
    url: str
    site: str
    texts: FrameTexts
    head_title: str
    heading: str
    byline: str
    menu: Sequence[str] = ()
    teasers: Sequence[tuple[str, str]] = ()
    comments: Sequence[tuple[str, str]] = ()
    footer: Sequence[str] = ()
    banner: str = ""
    lead: str = ""
    tail: str = ""
    after: str = ""
    inserts: Sequence[str] = ()
    markup: Markup | None = None

    def label(self, key: str) -> str:
        return escape(self.texts.labels[key])


@dataclass(frozen=True, slots=True)
class Template:
    """A page's HTML but for the body, and the markup of its blocks."""

    write: Callable[[Layout, str], str]
    markup: Markup


def page_html(layout: Layout, blocks: Sequence[Block]) -> str:
    """Return the HTML of a page."""
    template = TEMPLATES[layout.template]
    markup = layout.markup or template.markup
    parts = [markup.html(block) for block in blocks]
    step = len(parts) // (len(layout.inserts) + 1) + 1
    for number, insert in reversed(list(enumerate(layout.inserts, start=1))):
        parts.insert(min(number * step, len(parts)), insert)
    body = "\n".join([layout.lead, *parts, layout.tail]).strip("\n")
    return template.write(layout, body)


def comments_html(layout: Layout, form: str, wrap: str) -> str:
    """Return the block of comments: *form* for each of them, *wrap* around all; "" if none."""
    if not layout.comments:
        return ""
    written = (form.format(escape(name), escape(text)) for name, text in layout.comments)
    return wrap.format(layout.label("comments"), "\n".join(written))


def _links(labels: Sequence[str], form: str) -> str:
    return "\n".join(
        form.format(f"/{zlib.crc32(label.encode()) % 99991}/", escape(label)) for label in labels
    )


def _teasers(layout: Layout, form: str) -> str:
    return "\n".join(
        form.format(f"/story/{zlib.crc32(title.encode()) % 99991}", escape(title), escape(text))
        for title, text in layout.teasers
    )


def _head(layout: Layout, extra: str = "") -> str:
    description = escape(layout.heading)
    return (
        f'<head>\n<meta charset="utf-8">\n<title>{escape(layout.head_title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="description" content="{description}">\n{extra}</head>'
    )


def _document(layout: Layout, head: str, body: str, attributes: str = "") -> str:
    language = layout.texts.language
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"{attributes}>\n{head}\n<body>\n'
        f"{layout.banner}\n{body}\n</body>\n</html>\n"
    )


def _footer(layout: Layout) -> str:
    return " · ".join(map(escape, [*layout.footer, layout.site]))


def _semantic(layout: Layout, body: str) -> str:
    menu = _links(layout.menu, '<li><a href="{}">{}</a></li>')
    teasers = _teasers(layout, '<li><a href="{}">{}</a><p>{}</p></li>')
    comments = comments_html(
        layout,
        '<article class="comment"><h3>{}</h3><p>{}</p></article>',
        '<section id="comments"><h2>{}</h2>\n{}\n</section>',
    )
    return _document(
        layout,
        _head(layout, '<link rel="stylesheet" href="/assets/site.css">\n'),
        f'<header><a class="logo" href="/">{escape(layout.site)}</a>\n<nav><ul>\n{menu}\n</ul>'
        f"</nav></header>\n<main>\n<article>\n<header><h1>{escape(layout.heading)}</h1>\n"
        f'<p class="byline">{layout.byline}</p></header>\n{body}\n</article>\n{layout.after}\n'
        f"{comments}\n</main>\n<aside><h2>{layout.label('related')}</h2><ul>\n{teasers}\n</ul>"
        f"</aside>\n<footer><p>{_footer(layout)}</p></footer>",
    )


def _div_soup(layout: Layout, body: str) -> str:
    menu = _links(layout.menu, '<div class="mi"><a href="{}"><span>{}</span></a></div>')
    teasers = _teasers(
        layout,
        '<div class="box"><div class="bt"><a href="{}">{}</a></div><div class="bx">{}</div></div>',
    )
    comments = comments_html(
        layout,
        '<div class="c-item"><div class="c-user">{}</div><div class="c-text">{}</div></div>',
        '<div class="c-wrap"><div class="c-head">{}</div>\n{}\n</div>',
    )
    return _document(
        layout,
        _head(layout, '<script src="/js/all.js?v=41"></script>\n'),
        f'<div id="wrap"><div id="top"><div id="brand">{escape(layout.site)}</div></div>\n'
        f'<div id="menu">\n{menu}\n</div>\n<div id="cols"><div id="left">\n'
        f'<div class="ttl"><h1>{escape(layout.heading)}</h1></div><div class="inf">'
        f'{layout.byline}</div>\n<div class="cnt" id="content">\n{body}\n</div>\n{layout.after}\n'
        f'{comments}\n</div>\n<div id="right"><div class="rh">{layout.label("related")}</div>\n'
        f'{teasers}\n</div></div>\n<div id="bot">{_footer(layout)}</div></div>',
    )


def _table_layout(layout: Layout, body: str) -> str:
    menu = _links(layout.menu, '<tr><td class="nav"><a href="{}">{}</a></td></tr>')
    teasers = _teasers(
        layout, '<tr><td><a href="{}"><b>{}</b></a><br><font size="1">{}</font></td></tr>'
    )
    comments = comments_html(
        layout,
        '<tr><td width="90"><b>{}</b></td><td>{}</td></tr>',
        '<b>{}</b><table border="0" cellpadding="4">\n{}\n</table>',
    )
    return _document(
        layout,
        _head(layout),
        f'<table width="960" align="center"><tr><td colspan="3"><b>{escape(layout.site)}</b>'
        f'</td></tr>\n<tr><td width="160" valign="top"><table>\n{menu}\n</table></td>\n'
        f'<td valign="top"><h1>{escape(layout.heading)}</h1>\n<font size="2">{layout.byline}</font>'
        f"\n{body}\n{layout.after}\n{comments}\n</td>\n"
        f'<td width="180" valign="top"><table>\n{teasers}\n</table></td></tr>\n'
        f'<tr><td colspan="3" align="center">{_footer(layout)}</td></tr></table>',
    )


def _blog_theme(layout: Layout, body: str) -> str:
    menu = _links(layout.menu, '<li class="menu-item"><a href="{}">{}</a></li>')
    teasers = _teasers(layout, '<li class="recent-post"><a href="{}">{}</a> <span>{}</span></li>')
    comments = comments_html(
        layout,
        '<li class="comment even"><div class="comment-author vcard"><b class="fn">{}</b></div>'
        '<div class="comment-content"><p>{}</p></div></li>',
        '<div id="comments" class="comments-area"><h2 class="comments-title">{}</h2>'
        '<ol class="comment-list">\n{}\n</ol></div>',
    )
    return _document(
        layout,
        _head(layout, '<link rel="stylesheet" href="/content/themes/plain/style.css?ver=6.4">\n'),
        f'<div id="page" class="site"><header id="masthead" class="site-header">'
        f'<p class="site-title"><a href="/">{escape(layout.site)}</a></p>\n'
        f'<ul id="primary-menu" class="menu">\n{menu}\n</ul></header>\n'
        f'<div id="primary" class="content-area"><article class="post type-post hentry">\n'
        f'<h1 class="entry-title">{escape(layout.heading)}</h1>\n'
        f'<div class="entry-meta">{layout.byline}</div>\n<div class="entry-content">\n{body}\n'
        f"</div></article>\n{layout.after}\n{comments}\n</div>\n"
        f'<div id="secondary" class="widget-area"><section class="widget">'
        f'<h2 class="widget-title">{layout.label("related")}</h2><ul>\n{teasers}\n</ul></section>'
        f'</div>\n<footer id="colophon" class="site-footer">{_footer(layout)}</footer></div>',
    )


def _static_page(layout: Layout, body: str) -> str:
    menu = _links(layout.menu, '<a href="{}">{}</a> |')
    teasers = _teasers(layout, '<p><a href="{}">{}</a>: {}</p>')
    comments = comments_html(layout, "<p><i>{}</i>: {}</p>", "<hr>\n<h3>{}</h3>\n{}\n")
    return _document(
        layout,
        _head(layout),
        f"<p>{menu}</p>\n<hr>\n<h1>{escape(layout.heading)}</h1>\n<p><em>{layout.byline}</em></p>\n"
        f"{body}\n{layout.after}\n{comments}\n<hr>\n{teasers}\n<address>{_footer(layout)}"
        f"</address>",
    )


def _news_portal(layout: Layout, body: str) -> str:
    menu = _links(layout.menu, '<a class="nav__link" href="{}">{}</a>')
    teasers = _teasers(
        layout,
        '<div class="card card--small"><a class="card__link" href="{}"><h3 class="card__title">{}'
        '</h3></a><p class="card__lead">{}</p></div>',
    )
    comments = comments_html(
        layout,
        '<div class="talk__post"><span class="talk__name">{}</span><p>{}</p></div>',
        '<section class="talk"><h2 class="talk__title">{}</h2>\n{}\n</section>',
    )
    return _document(
        layout,
        _head(layout, f'<meta property="og:title" content="{escape(layout.heading)}">\n'),
        f'<div class="shell"><div class="shell__bar"><a href="/" class="brand">'
        f'{escape(layout.site)}</a><nav class="nav">\n{menu}\n</nav></div>\n'
        f'<div class="grid"><main class="grid__main"><h1 class="story__title">'
        f'{escape(layout.heading)}</h1>\n<div class="story__meta">{layout.byline}</div>\n'
        f'<div class="story__body" itemprop="articleBody">\n{body}\n</div>\n{layout.after}\n'
        f'{comments}\n</main>\n<aside class="grid__side"><h2>{layout.label("related")}</h2>\n'
        f'{teasers}\n</aside></div>\n<footer class="shell__foot">{_footer(layout)}</footer></div>',
    )


def _print_view(layout: Layout, body: str) -> str:
    return _document(
        layout,
        _head(layout, '<meta name="robots" content="noindex">\n'),
        f'<div class="sheet"><p>{escape(layout.site)}</p>\n<h1>{escape(layout.heading)}</h1>\n'
        f"<p>{layout.byline}</p>\n{body}\n<p>{escape(layout.url)}</p>\n"
        f'<p><a href="javascript:window.print()">{layout.label("print")}</a></p></div>',
    )


def _amp_view(layout: Layout, body: str) -> str:
    extra = (
        '<script async src="https://cdn.amp.example/v0.js"></script>\n'
        "<style amp-boilerplate>body{visibility:visible}</style>\n"
    )
    menu = _links(layout.menu[:10], '<li><a href="{}">{}</a></li>')
    return _document(
        layout,
        _head(layout, extra),
        f'<amp-sidebar id="side" layout="nodisplay"><ul>\n{menu}\n</ul></amp-sidebar>\n'
        f'<header class="amp-header">{escape(layout.site)}</header>\n<article class="amp-article">'
        f"<h1>{escape(layout.heading)}</h1>\n"
        f'<amp-img src="/img/lead.jpg" width="640" height="360" layout="responsive"></amp-img>\n'
        f'<div class="amp-meta">{layout.byline}</div>\n{body}\n</article>\n{layout.after}\n'
        f'<footer class="amp-footer">{_footer(layout)}</footer>',
        " amp",
    )


def _mobile_view(layout: Layout, body: str) -> str:
    menu = _links(layout.menu[:8], '<a class="tab" href="{}">{}</a>')
    teasers = _teasers(
        replace(layout, teasers=layout.teasers[:3]), '<a href="{}">{}</a><!-- {} -->'
    )
    return _document(
        layout,
        _head(layout, '<meta name="format-detection" content="telephone=no">\n'),
        f'<div class="m-bar"><b>{escape(layout.site)}</b>{menu}</div>\n'
        f'<div class="m-page"><h1>{escape(layout.heading)}</h1><small>{layout.byline}</small>\n'
        f'{body}\n</div>\n{layout.after}\n<div class="m-more">{teasers}</div>\n'
        f'<div class="m-foot">{_footer(layout)}</div>',
    )


def _forum_thread(layout: Layout, body: str) -> str:
    menu = _links(layout.menu, '<li><a href="{}">{}</a></li>')
    replies = "\n".join(
        f'<div class="post"><div class="poster">{escape(name)}</div><div class="postbody">'
        f'{escape(text)}</div><a class="reply" href="#reply">{layout.label("reply")}</a></div>'
        for name, text in layout.comments
    )
    return _document(
        layout,
        _head(layout),
        f'<div class="forum-head">{escape(layout.site)}<ul>\n{menu}\n</ul></div>\n'
        f'<div class="thread"><h1>{escape(layout.heading)}</h1>\n<div class="post"><div '
        f'class="poster">{layout.byline}</div><div class="postbody">\n{body}\n</div></div>\n'
        f'{layout.after}\n{replies}\n</div>\n<div class="forum-foot">{_footer(layout)}</div>',
    )


#: The templates of ordinary sites, of which extractors find the article.
SITE_TEMPLATES = {
    "semantic": Template(_semantic, Markup()),
    "div-soup": Template(
        _div_soup,
        Markup(heading='<div class="h2">{}</div>', paragraph='<div class="txt">{}</div>'),
    ),
    "blog-theme": Template(
        _blog_theme,
        Markup(
            heading='<h2 class="wp-block-heading">{}</h2>',
            list='<ul class="wp-block-list">{}</ul>',
            table='<figure class="wp-block-table"><table><tbody>{}</tbody></table></figure>',
            code='<pre class="wp-block-code"><code>{}</code></pre>',
        ),
    ),
    "news-portal": Template(
        _news_portal,
        Markup(
            heading='<h2 class="story__sub">{}</h2>',
            paragraph='<p class="story__text">{}</p>',
            list='<ol class="story__list">{}</ol>',
        ),
    ),
}

#: All templates. A table layout and a page without any structure are disguises by themselves.
TEMPLATES = {
    **SITE_TEMPLATES,
    "table-layout": Template(
        _table_layout,
        Markup(
            heading='<p><font size="4"><b>{}</b></font></p>', paragraph='<p align="left">{}</p>'
        ),
    ),
    "static-page": Template(
        _static_page, Markup(heading="<h3>{}</h3>", table='<table border="1">{}</table>')
    ),
    "print": Template(_print_view, Markup()),
    "amp": Template(_amp_view, Markup()),
    "mobile": Template(_mobile_view, Markup(paragraph='<p class="m-p">{}</p>')),
    "forum": Template(_forum_thread, Markup()),
}
