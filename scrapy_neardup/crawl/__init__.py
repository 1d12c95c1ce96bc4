"""Services of a running crawl, which the Scrapy components share."""
