"""Which stored pages are known to be on disk: feeds, and the runs of a job."""
