"""Compares what two pages of a site have of their own: their texts without its boilerplate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..hashing.minhash import Sketch, resemblance
from ..signatures.quick_sketch import bins_of, overlap
from ..signatures.signature import PageSignature
from .site_boilerplate import SiteBoilerplate, TextBoilerplate

#: Least resemblance of two texts without the site's boilerplate.
MIN_OWN_SIMILARITY = 0.5
#: Least share of the shorter of two texts that is in the other one, both as they were read quickly
#: and without boilerplate: that of two equally long texts of the resemblance above.
MIN_OWN_OVERLAP = 2 / 3
#: Bins of a quick sketch that must be left without boilerplate, or they say too little.
_MIN_OWN_BINS = 4
#: A text is boilerplate when less than this part of it is the page's own.
MIN_OWN_SHARE = 0.1


def only_boilerplate_alike(
    page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate
) -> bool:
    """Return whether the texts of two pages of a site are alike by the site's boilerplate alone.

    In lazy extraction few texts of a site were read in full, and some can no longer be read, so
    their boilerplate may be unknown. What was read quickly is known of all pages.
    """
    if page.text_digest == other.text_digest:
        return False
    texts = page.sketch_values, other.sketch_values
    counts = _own_bins(*texts, boilerplate.texts)
    # Bins that are empty on both sides do not count.
    if counts.any() and resemblance(*(text * counts for text in texts)) < MIN_OWN_SIMILARITY:
        return True
    return _only_boilerplate_alike_at_a_glance(page, other, boilerplate.quick_texts)


def _only_boilerplate_alike_at_a_glance(
    page: PageSignature, other: PageSignature, boilerplate: TextBoilerplate
) -> bool:
    """Return the same by the texts that were read quickly; false if one of them is not known.

    They have more around them, such as comments, so that it is enough if most of what one page has
    of its own is on the other page.
    """
    if not (page.quick_sketch and other.quick_sketch):
        return False
    counts = _own_bins(bins_of(page.quick_sketch), bins_of(other.quick_sketch), boilerplate)
    own = overlap(page.quick_sketch, other.quick_sketch, counts)
    if own is None or np.count_nonzero(counts) < _MIN_OWN_BINS:
        return False
    return own.containment < MIN_OWN_OVERLAP


def is_all_boilerplate(page: PageSignature, boilerplate: SiteBoilerplate) -> bool:
    """Return whether nearly all of a page's text is boilerplate of its site."""
    own = boilerplate.texts.own(page.sketch_values)
    return bool(np.count_nonzero(own) < MIN_OWN_SHARE * np.count_nonzero(page.sketch_values))


def _own_bins(text: Sketch, other: Sketch, boilerplate: TextBoilerplate) -> npt.NDArray[np.bool_]:
    """Return the bins of two sketches without shared boilerplate, shape ``(n_bins,)``.

    Bins that differ always count, even if both values are boilerplate: what a site teaches can
    remove similarities of two pages, but never differences.
    """
    own: npt.NDArray[np.bool_] = boilerplate.own(text) | boilerplate.own(other)
    own |= text != other
    return own
