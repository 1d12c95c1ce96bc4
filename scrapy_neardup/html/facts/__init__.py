"""What a page states beside its main text, or in fields: headings, prices, tables, labels."""
