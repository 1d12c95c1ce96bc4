"""Facts of cells in different columns of a table."""

from __future__ import annotations

import pytest

from scrapy_neardup.html.extraction import read_page
from scrapy_neardup.signatures.facts import packed_facts
from tests.support.texts import FERRY

HEAD = "<tr><th>Medals<th>Gold<th>Silver<th>Bronze"


def packed(rows: str, *, with_lines: bool = False) -> bytes:
    page = (
        "<html><head><title>Club</title></head><body><h1>Club</h1>"
        f"<table>{rows}</table><p>{FERRY}</p></body></html>"
    )
    # Extractors leave empty cells out.
    cells = "Medals | Gold | Silver | Bronze\nTotal | 5\nTotal | 5 | 5\nTotal | X\n"
    found = read_page(page, lambda html, tree: cells + FERRY).facts
    return packed_facts([fact for fact in found if with_lines or not fact.is_line])


@pytest.mark.parametrize("value", ["5", "X", "✓", "5 €", "on request"])
def test_the_column_of_a_value_counts(value):
    places = "  x", " x ", " xx", "x  ", "x x", "xx "
    cells = [[value if place == "x" else "" for place in row] for row in places]
    found = [packed(f"{HEAD}<tr><td>Total<td>{'<td>'.join(row)}") for row in cells]
    assert len(set(found)) == len(found)
    # Each states something that the others do not, so that the order of the pages does not matter.
    assert len({len(codes) for codes in found}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{HEAD}<tr><td>Total<td>5<td><td>", f"{HEAD}<tr><td>Total<td>5"),
        (f"{HEAD}<tr><td>Total<td>5<td><td>", f"{HEAD}<tr><td>Total<td>5<td colspan=2>"),
        (f"{HEAD}<tr><td>Total<td><td><td>5", f"{HEAD}<tr><td>Total<td colspan=2><td>5"),
        (f"{HEAD}<tr><td>Total<td><td>5", f"{HEAD}<tr><td colspan=2>Total<td>5"),
        ("<tr><td>Material<td>steel", "<tr><td>Material<td><td>steel<td>"),
        ("<tr><td>Material<td>steel", "<tr><td colspan=2>Material<td>steel"),
        ("<tr><td>Material<td>steel", "<tr><td>Material<td colspan=99999999>steel"),
        ("<tr><td>Material<td>steel", "<tr><td>Material<td colspan=x>steel"),
    ],
)
def test_tables_of_another_layout_agree(one, other):
    assert packed(one) == packed(other)


def test_other_numbers_in_rows_that_the_text_lacks_count():
    rows = (f"{HEAD}<tr><td>A<td>5<td>6<td>{n}" for n in (7, 8))
    assert len({packed(row, with_lines=True) for row in rows}) == 2


def test_pages_of_cells_only_are_read():
    """None takes time in the square of its size."""
    assert len(packed("<tr><td>x<td><td colspan=99999999>5<td>6</table><table>" * 3000)) <= 64
