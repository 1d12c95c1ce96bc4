"""Makes the signature of a page."""
