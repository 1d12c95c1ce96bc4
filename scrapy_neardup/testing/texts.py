"""Texts that have nothing in common."""

from __future__ import annotations

FERRY = (
    "The ferry to Holm island leaves twice a day from the old pier, at eight in the morning and "
    "at five in the afternoon, except on Sundays, when the crew has a rest and the boat is "
    "scrubbed from stem to stern. A single ticket costs three crowns, a bicycle rides for one "
    "crown more, and dogs travel free as long as they keep off the benches."
)
MUSEUM = (
    "After two years of repairs the museum of weaving opens its doors again on Saturday. "
    "Visitors will find nine looms in working order, the oldest of them from a monastery that "
    "burned down in the great fire, and a new room in which children may try their hand at a "
    "small frame. The curator has collected letters of women who worked the night shift."
)
ORCHARD = (
    "Planting begins behind the school next month, where pupils dug forty holes for apple, pear "
    "and plum saplings before autumn storms arrived. Neighbours lent spades, wheelbarrows and an "
    "elderly tractor; retired gardeners explained pruning, grafting and why moles deserve mercy."
)
BRIDGE = (
    "Engineers reopened Hollow Bridge yesterday after replacing rusted cables, cracked granite "
    "blocks and every lamp along its northern railing. Cyclists now ride apart from lorries, "
    "whose drivers used to wait half an hour whenever somebody's cart lost a wheel midway."
)
