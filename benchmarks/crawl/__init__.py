"""What the add-on costs a crawl, and what a killed crawl loses."""
