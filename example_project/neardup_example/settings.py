"""Settings of the example; one line enables the add-on."""

BOT_NAME = "neardup_example"
SPIDER_MODULES = ["neardup_example.spiders"]
NEWSPIDER_MODULE = "neardup_example.spiders"

# The line: items of near-duplicate pages are dropped, by the main text of their page.
ADDONS = {"scrapy_neardup.Addon": 500}

# Not needed for that. It keeps what was stored and dropped for the table of demo.py.
EXTENSIONS = {"neardup_example.extensions.Ledger": 500}

ROBOTSTXT_OBEY = True
TELNETCONSOLE_ENABLED = False
LOG_LEVEL = "INFO"
