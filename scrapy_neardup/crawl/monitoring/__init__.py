"""Log lines, warnings, stats and the summary table of a crawl."""
