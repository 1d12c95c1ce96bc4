"""Disguised copies: pages with one article's content that look different.

``DISGUISES`` has every disguise by its name; ``disguised_page(name, article)`` makes a copy, and
``original_page(article)`` the page that it is a copy of. Both return the same at every call.
"""

from __future__ import annotations

from . import foreign_letters, foreign_structure, same_site
from .articles import Article, read_article, read_articles
from .pages import DISGUISES, Disguise, MadePage, disguised_page, original_page

__all__ = [
    "DISGUISES",
    "Article",
    "Disguise",
    "MadePage",
    "disguised_page",
    "original_page",
    "read_article",
    "read_articles",
]

#: The modules that register disguises.
MODULES = (same_site, foreign_structure, foreign_letters)
