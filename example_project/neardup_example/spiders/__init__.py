"""The spiders: one with the default thresholds, one with its own."""
