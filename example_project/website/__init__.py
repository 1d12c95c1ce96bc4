"""A small newspaper's site and a mirror of it, made to be crawled: ``python -m website``."""
