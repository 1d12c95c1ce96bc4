"""Invented pages: forms, articles and their disguised copies, hostile and made-up pages."""
