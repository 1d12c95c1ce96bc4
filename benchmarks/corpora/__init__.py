"""Written test pages: articles, and copies of them that look different."""
