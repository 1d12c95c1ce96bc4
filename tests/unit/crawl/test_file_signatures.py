from __future__ import annotations

import random
import zlib

import pytest

from scrapy_neardup.crawl.files.signature import FileSignature, keys_of, sign_file, similarity
from scrapy_neardup.methods.manber import Manber
from scrapy_neardup.methods.words import members
from tests.support.texts import article

LEAST = 0.5


def sign(body: bytes) -> FileSignature:
    return sign_file(body, 1 << 30)


def pdf(pages: list[str], date: str = "D:20260101000000Z", *, packed: bool = False) -> bytes:
    """Return a PDF with text on its pages, as simple programs write them."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{5 + 2 * n} 0 R' for n in range(len(pages)))}] "
        f"/Count {len(pages)} >>",
        f"<< /Producer (Report writer 2.1) /CreationDate ({date}) /ModDate ({date}) >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    bodies = [text.encode("latin-1", "replace") for text in objects]
    for number, text in enumerate(pages):
        words = text.split()
        lines = [" ".join(words[i : i + 10]) for i in range(0, len(words), 10)]
        shown = "\n".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 11 Tf 72 720 Td 14 TL\n{shown}\nET".encode("latin-1", "replace")
        stream = zlib.compress(stream) if packed else stream
        bodies.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 4 0 R >> >> >>" % (6 + 2 * number)
        )
        bodies.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
    result, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(bodies, 1):
        places.append(len(result))
        result += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        result
        + (
            f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}trailer\n"
            f"<< /Size {len(bodies) + 1} /Root 1 0 R /Info 3 0 R >>\n"
            f"startxref\n{len(result)}\n%%EOF\n"
        ).encode()
    )


def pages_of(seed: int, number: int = 4) -> list[str]:
    return [" ".join(article(350, seed=seed * 100 + n)) for n in range(number)]


def table_of(seed: int, changed: int = 0) -> bytes:
    made = random.Random(seed)
    rows = [
        f"{made.randrange(10**6)},product {made.randrange(10**4)},{made.random() * 100:.2f}"
        for _ in range(500)
    ]
    for place in random.Random(changed).sample(range(500), changed):
        rows[place] = f"{place},sold out,0.00"
    return "\n".join(rows).encode()


SEEDS = range(12)


@pytest.mark.parametrize("change", ["date", "sentence", "page", "rows"])
def test_nearly_equal_files_are_found(change):
    for seed in SEEDS:
        pages = pages_of(seed)
        if change == "date":
            pair = pdf(pages), pdf(pages, "D:20261231235959Z")
        elif change == "sentence":
            pair = pdf(pages), pdf([pages[0] + " One sentence was added here.", *pages[1:]])
        elif change == "page":
            pair = pdf(pages), pdf([*pages, *pages_of(seed + 50, 1)])
        else:
            pair = table_of(seed), table_of(seed, changed=5)
        new, known = map(sign, pair)
        assert similarity(new, known) >= LEAST, seed
        assert set(keys_of(new)) & set(keys_of(known)), seed


def test_unrelated_files_are_not():
    signed = [sign(pdf(pages_of(seed))) for seed in SEEDS]
    pairs = [(a, b) for n, a in enumerate(signed) for b in signed[:n]]
    assert len(pairs) == 66
    assert max(similarity(a, b) for a, b in pairs) < 0.2


def test_compressed_streams_differ_as_a_whole():
    text = " ".join(pages_of(1))
    pair = [text], [text.replace(text.split()[0], "other", 1)]
    plain, packed = (
        similarity(*(sign(pdf(pages, packed=packed)) for pages in pair)) for packed in (False, True)
    )
    assert packed < LEAST < 0.95 < plain


def test_files_of_different_sizes_are_compared_at_the_coarser_sampling():
    body = random.Random(1).randbytes(120_000)
    small, large = sign(body), sign(body + random.Random(2).randbytes(20_000))
    assert (small.one_in, large.one_in) == (128, 256)
    assert similarity(small, large) == similarity(large, small) > 0.8
    assert len(set(keys_of(small)) & set(keys_of(large))) > 32


def test_a_small_file_within_a_large_one_is_not_nearly_equal():
    body = random.Random(1).randbytes(20_000)
    assert similarity(sign(body), sign(body + random.Random(2).randbytes(60_000))) < LEAST


@pytest.mark.parametrize("body", [b"", b"x", b"x" * 49, b"\0" * 100_000, b"short text " * 20])
def test_little_content_is_compared_for_equality_only(body):
    assert similarity(sign(body), sign(body)) == 0


def test_larger_files_have_no_fingerprints():
    body = random.Random(1).randbytes(5000)
    assert sign_file(body, 4999).fingerprints == b""
    assert sign_file(body, 5000) == sign(body)


def test_windows_across_blocks_are_kept():
    body = random.Random(1).randbytes(700_000)
    method = Manber(one_in=1)
    halves = {
        fingerprint
        for start in (0, 300_000)
        for fingerprint in members(method.value(body[start : start + 400_000 + 49])).tolist()
    }
    assert halves == set(members(method.value(body)).tolist())
