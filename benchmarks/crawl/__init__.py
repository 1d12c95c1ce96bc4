"""Benchmarks of whole crawls: the overhead of the add-on, and the losses of a killed crawl."""
