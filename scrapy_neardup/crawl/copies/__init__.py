"""Records copies: which content each is of, where else it is, and what was dropped for it."""
