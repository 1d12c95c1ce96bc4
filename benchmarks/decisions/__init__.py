"""Measures the alternatives to the decisions in docs/design.md."""
