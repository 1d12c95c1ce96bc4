from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.hashing import postings
from scrapy_neardup.hashing.postings import Postings

#: Some share their bucket, their upper half or both.
HASHES = st.sets(
    st.sampled_from([a << 32 | b for a in (0, 1, 2**32 - 1) for b in (0, 1, 1 << 17, 2**32 - 1)]),
    max_size=8,
)


def array(hashes):
    return np.array(sorted(hashes), np.uint64)


@pytest.fixture(params=[1 << 10, 16])
def long(request):
    """Make buckets grow in place from so many bytes on, which some reach soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_LONG", request.param)
        yield


@pytest.mark.usefixtures("long")
@given(st.lists(HASHES, max_size=8), st.data())
def test_sharers_are_the_pages_that_were_added_and_not_removed(pages, data):
    index, pages_of = Postings(), defaultdict(set)
    for number, hashes in enumerate(pages):
        index.add(array(hashes), number)
    removed = data.draw(st.sets(st.sampled_from(range(len(pages)))) if pages else st.just(set()))
    for number, hashes in enumerate(pages):
        if number in removed:
            index.remove(array(hashes), number)
            continue
        for one in hashes:
            pages_of[one >> 32, one % (1 << 17)].add(number)
    asked = array(data.draw(HASHES))
    found = index.sharers(asked)
    expected = {
        (place, number)
        for place, one in enumerate(asked.tolist())
        for number in pages_of[one >> 32, one % (1 << 17)]
    }
    assert set(zip(found.places.tolist(), found.numbers.tolist(), strict=True)) == expected
    assert (np.bincount(found.places, minlength=asked.size) <= index.sizes(asked)).all()


def test_a_page_number_of_32_bits_is_found():
    index = Postings()
    index.add(array({7}), 2**32 - 1)
    assert index.sharers(array({7, 8})).numbers.tolist() == [2**32 - 1]
