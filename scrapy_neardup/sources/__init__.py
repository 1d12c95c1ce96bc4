"""Reads stored pages: JSON, CSV, TSV, WARC, folders of HTML files."""
