"""Invented pages: forms, articles and disguised copies of them, hostile and generated pages."""
