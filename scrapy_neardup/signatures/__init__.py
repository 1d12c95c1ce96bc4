"""Makes the signatures by which pages are compared."""
