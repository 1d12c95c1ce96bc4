"""How well near-duplicates are found, in all and by other packages."""
