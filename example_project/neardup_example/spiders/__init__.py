"""The spiders: one with the default thresholds, one with thresholds of its own."""
