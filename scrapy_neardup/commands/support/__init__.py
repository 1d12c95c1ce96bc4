"""Helpers of the sub-commands."""
