"""Tracks items: from which page each comes, and whether it was stored."""
