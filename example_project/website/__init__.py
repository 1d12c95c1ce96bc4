"""The example site, a small newspaper and its mirror: ``python -m website``."""
