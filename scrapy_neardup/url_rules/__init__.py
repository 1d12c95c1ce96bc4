"""Learns which URLs of a site lead to duplicates.

Content decides, never the look of a URL. Compared are addresses of which one is left when a
component is left out of both ("Do Not Crawl in the DUST", Bar-Yossef, Keidar, Schonfeld, WWW 2007,
mines such rules from logs).
"""
