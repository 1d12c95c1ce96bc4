from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup.signatures.signer import Signer

SIGNER = Signer(secret=bytes(32))
#: Scripts with and without blanks, and what tells dates and times from other numbers.
PIECES = [
    "released",
    "on 3/4",
    "at 12:30",
    "2024-05-06",
    "5 月",
    "从这里起",
    "これはペンです",
    "ภาษาไทย",
    "7-8",
    "ー",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join)


@given(st.lists(TEXTS, min_size=1, max_size=5))
@example(["7-8", "2024-05-06"])
@example(["at 7 pm", "at 7 p.m.", "8.", "5"])
def test_a_signature_does_not_depend_on_the_pages_that_are_signed_with_it(
    texts: list[str],
) -> None:
    pages = [
        SIGNER.text_page(f"https://news.example/{number}", text, "Ferry")
        for number, text in enumerate(texts)
    ]
    assert SIGNER.sign(*pages) == [SIGNER.sign(page)[0] for page in pages]
