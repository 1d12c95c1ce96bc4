"""Reads stored pages: JSON Lines, WARC, folders of HTML files."""
