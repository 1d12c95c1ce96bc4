"""A Scrapy project that stores each content once."""
