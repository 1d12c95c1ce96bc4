"""Disguised copies: pages with the content of an article and another appearance.

``DISGUISES`` has every disguise by its name; ``disguised_page(name, article)`` makes a copy of the
article's ``original_page``, the same at every call.
"""

from __future__ import annotations

# They register the disguises, in this order: a digest of all copies depends on it.
from . import letters, same_site, structure  # noqa: F401
from .registry import DISGUISES, disguised_page

__all__ = ["DISGUISES", "disguised_page"]
