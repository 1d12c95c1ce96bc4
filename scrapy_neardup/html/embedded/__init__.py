"""Collects what a page contains besides its visible text, so that equal pages are told apart."""
