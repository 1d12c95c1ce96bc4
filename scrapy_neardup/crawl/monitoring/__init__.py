"""Log lines, warnings and the table of stats."""
