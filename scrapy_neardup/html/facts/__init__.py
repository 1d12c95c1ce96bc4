"""Reads the facts that a page states beside its main text: headings, prices, tables, labels."""
