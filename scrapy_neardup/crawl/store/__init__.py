"""Access of a crawl to its store, which may be slow or fail."""
