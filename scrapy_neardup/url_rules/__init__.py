"""Learns which URLs of a site lead to duplicates.

Content decides, never the look of a URL. Two URLs are compared when leaving a component out of
both makes them one ("Do Not Crawl in the DUST", Bar-Yossef, Keidar, Schonfeld, WWW 2007,
mines such rules from logs).
"""
