"""Disguised copies: pages with the content of an article and another appearance.

``DISGUISES`` has every disguise by its name; ``disguised_page(name, article)`` makes a copy, and
``original_page(article)`` the page that it is a copy of. Both return the same at every call.
"""

from __future__ import annotations

from . import foreign_letters, foreign_structure, same_site
from .pages import DISGUISES, disguised_page, original_page

__all__ = ["DISGUISES", "disguised_page", "original_page"]

#: The modules that register disguises.
MODULES = (same_site, foreign_structure, foreign_letters)
