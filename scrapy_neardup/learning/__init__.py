"""Learns, per site, which URLs bring nothing new, from the verdicts on pages that were fetched.

Content decides, never the look of a URL. Compared are addresses of which one is left when a
component is left out of both ("Do Not Crawl in the DUST", Bar-Yossef, Keidar, Schonfeld, WWW 2007,
mines such rules from logs).
"""
