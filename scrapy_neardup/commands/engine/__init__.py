"""``scrapy neardup pairs --engine``: the same search on the workers of a cluster."""
