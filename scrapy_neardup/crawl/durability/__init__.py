"""Tracks which stored pages are known to be on disk: in feeds, and over the runs of a job."""
