"""The way of a crawl to its store, which may be slow, and may fail."""
