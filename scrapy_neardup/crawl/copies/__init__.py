"""Records copies: the content of each, its best URL, and what was dropped."""
