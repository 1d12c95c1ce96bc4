"""Prices, symbols and operators: what says something in a text and is no word."""
