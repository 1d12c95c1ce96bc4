from __future__ import annotations

import tracemalloc

import pytest

from scrapy_neardup.html.encoding_detection import decode, encoding_of
from tests.support.texts import BRIDGE, FERRY, TEA

TRADITIONAL = (
    "茶葉博物館位於老城區的南門附近，三層小樓裡陳列著各地收集來的茶壺、茶碗和製茶工具。"
    "館長從小跟著祖父在山上採茶，後來走遍了十幾個省，把快要失傳的製茶手藝一一記錄下來。"
)
JAPANESE = (
    "新しい石の橋が昨日開通しました。川の東に住む人たちは、もう上流の渡し場まで遠回りをして"
    "仕事に行く必要がありません。ライオンの彫刻は地元のマツダさんが一つずつ手で彫ったものです。"
)
KOREAN = (
    "어제 새로 놓은 돌다리가 정식으로 개통되었습니다. 강 동쪽에 사는 주민들은 이제 상류의 "
    "나루터까지 돌아서 출근할 필요가 없습니다. 난간의 사자상은 모두 마을 장인이 손으로 깎았습니다."
)
RUSSIAN = (
    "Вчера открылся новый каменный мост. Жителям восточного берега больше не нужно ездить на "
    "работу в обход, через паром. Львов на перилах вырезали вручную местные мастера."
)
GERMAN = "Die Fähre fährt zweimal täglich über den großen Sund, außer an Sonntagen. Schöne Grüße!"
FRENCH = "Le bac traverse « deux fois par jour » la baie, à huit heures ; l’été, ça suffit déjà."
POLISH = "Prom odpływa dwa razy dziennie ze starego mola, oprócz niedziel, gdy załoga odpoczywa."

#: A text, and the encodings in which it can stand.
TEXTS = {
    "simplified": (TEA + BRIDGE, "gbk gb2312 gb18030"),
    "traditional": (TRADITIONAL, "big5 gbk"),
    "japanese": (JAPANESE, "shift_jis euc-jp"),
    "korean": (KOREAN, "euc-kr"),
    "russian": (RUSSIAN, "windows-1251 koi8-r"),
    "german": (GERMAN, "windows-1252 iso-8859-1 iso-8859-15"),
    "french": (FRENCH, "windows-1252"),
    "polish": (POLISH, "iso-8859-2 windows-1250"),
}
ENCODED = [(name, encoding) for name, (_, all_) in TEXTS.items() for encoding in all_.split()]
MULTI_BYTE = "gbk gb2312 gb18030 big5 shift_jis euc-jp euc-kr".split()


def page(text: str, meta: str = "") -> str:
    label = f'<meta charset="{meta}">' if meta else ""
    return f"<html><head>{label}<title>{text[:9]}</title></head><body><p>{text}</p></body></html>"


def header(label: str) -> str:
    return f"text/html; charset={label}"


@pytest.mark.parametrize(("name", "encoding"), [*ENCODED, *((name, "utf-8") for name in TEXTS)])
def test_a_right_label_stands(name, encoding):
    html = page(TEXTS[name][0])
    assert decode(html.encode(encoding), header(encoding)) == html
    labelled = page(TEXTS[name][0], meta=encoding)
    assert decode(labelled.encode(encoding)) == labelled


@pytest.mark.parametrize(
    ("name", "encoding"),
    [(name, e) for name, e in ENCODED if e in MULTI_BYTE and name != "traditional"],
)
@pytest.mark.parametrize("label", ["utf-8", "iso-8859-1", "windows-1250", "no-such-label", ""])
def test_a_label_that_the_bytes_do_not_bear_out_falls(name, encoding, label):
    html = page(TEXTS[name][0])
    assert decode(html.encode(encoding), header(label)) == html


@pytest.mark.parametrize(
    ("text", "encoding", "label"),
    [
        (TRADITIONAL, "big5", "gbk"),
        (TRADITIONAL, "big5", "utf-8"),
        (TRADITIONAL, "big5", "iso-8859-1"),
        (TRADITIONAL, "big5", "none"),
        (TEA, "gbk", "big5"),
        (TEA, "gbk", "shift_jis"),
        (TEA, "gbk", "euc-kr"),
        (JAPANESE, "shift_jis", "gbk"),
        (JAPANESE, "euc-jp", "gbk"),
        (JAPANESE, "euc-jp", "shift_jis"),
        (KOREAN, "euc-kr", "gbk"),
        (RUSSIAN, "windows-1251", "iso-8859-1"),
        (RUSSIAN, "koi8-r", "windows-1251"),
        (GERMAN, "windows-1252", "utf-8"),
        (GERMAN, "windows-1252", "none"),
    ],
)
def test_another_encoding_that_fits_better_is_taken(text, encoding, label):
    assert decode(page(text).encode(encoding), header(label)) == page(text)


@pytest.mark.parametrize("text", [text for text, _ in TEXTS.values()])
@pytest.mark.parametrize("label", ["gbk", "iso-8859-1", "big5", "koi8-r", "none"])
def test_what_decodes_as_utf_8_is_utf_8(text, label):
    assert decode(page(text, meta=label).encode(), header(label)) == page(text, meta=label)


def test_utf_8_that_was_cut_off_or_has_a_stray_byte_is_utf_8():
    body = page(TEA).encode()
    assert decode(body[:300], header("gbk")).rstrip("\ufffd") in page(TEA)
    stray = body.replace("茶壶".encode(), b"\xb2")
    assert decode(stray, header("iso-8859-1")) == page(TEA).replace("茶壶", "\ufffd")


@pytest.mark.parametrize(
    ("name", "encoding", "expected"),
    [
        ("Müller", "cp1252", "Müller"),
        ("Möller", "cp1252", "Möller"),
        ("café", "cp1252", "café"),
        ("it’s", "cp1252", "it’s"),
        ("5 m²", "cp1252", "5 m²"),
        ("Павел", "cp1251", "Ïàâåë"),
        ("Мария", "cp1251", "Ìàðèÿ"),
        ("\x81", "latin-1", "\x81"),
    ],
)
@pytest.mark.parametrize("label", ["utf-8", "none"])
def test_a_field_in_another_encoding_is_read_as_windows_1252(name, encoding, expected, label):
    before, behind = page(TEA + " NAME. " + RUSSIAN).encode().split(b"NAME")
    body = b"%s%s%s" % (before, name.encode(encoding, "ignore"), behind)
    assert decode(body, header(label)) == page(f"{TEA} {expected}. {RUSSIAN}")
    marked = b"\xef\xbb\xbf" + body
    assert decode(marked) == decode(body, encoding="utf8") == decode(body, header(label))


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ("茶壶".encode()[:-1] + b"...", "茶\ufffd..."),
        ("茶壶".encode()[:-2] + b"...", "茶\ufffd..."),
        ("мост".encode()[:-1] + b" ", "мос\ufffd "),
        ("茶壶".encode()[1:], "\ufffd壶"),
        ("茶壶".encode()[2:], "\ufffd壶"),
        ("мост".encode()[1:], "\ufffdост"),
    ],
)
def test_a_character_that_was_cut_off_is_no_letter(cut, expected):
    before, behind = page(f"{TEA} | NAME | {RUSSIAN}").encode().split(b"NAME")
    assert decode(before + cut + behind) == page(f"{TEA} | {expected} | {RUSSIAN}")


@pytest.mark.parametrize("piece", [b"\xff", b"a\xff", b"\xe6\xbc", b"\xe6 ", b"\xb0\xd0\xb0"])
def test_invalid_bytes_leave_no_surrogates(piece):
    body = page(TEA).encode() + piece * 100 + page(TEA).encode() * 20
    assert decode(body).encode()


@pytest.mark.parametrize(
    "text",
    [
        "A ferry – “twice a day” – and a café…",
        "next »» previous «« next",
        "one\u00a0\u00a0\u00a0\u00a0two\u00a0\u00a0\u00a0three\u00a0\u00a0four",
        "20 °C, 5 £, ½ pint, § 3, © 2020",
        "ÅÄÖ, ÉTÉ À L’ÉCOLE",
        "¡¿Qué?! ÑANDÚ",
    ],
)
@pytest.mark.parametrize("label", ["windows-1252", "none", "utf-8"])
def test_ascii_with_a_few_western_letters_and_signs(text, label):
    assert decode(page(text).encode("cp1252"), header(label)) == page(text)


def test_a_few_characters_follow_their_label():
    html = page("Copyright 茶 museum")
    assert decode(html.encode("gbk"), header("gbk")) == html
    assert decode(html.encode("big5"), header("big5")) == html


def test_the_header_goes_before_the_page_where_both_are_as_likely():
    html = page("naïve café", meta="iso-8859-2")
    assert decode(html.encode("cp1252"), header("cp1252")) == html


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("label", ["utf-16", "utf-8", "none"])
def test_utf_16_needs_no_mark(encoding, label):
    html = "\r\n" * 999 + page(TEA + FERRY)
    assert decode(html.encode(encoding), header(label)) == html


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_white_space_before_a_page_takes_no_more_memory_than_its_text(encoding):
    body = ("\n" * 1_000_000 + page(TEA)).encode(encoding)
    tracemalloc.start()
    try:
        assert decode(body, "text/html; charset=utf-16")
        assert tracemalloc.get_traced_memory()[1] < 10 * len(body)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_goes_before_everything(encoding):
    assert decode(page(TEA).encode(encoding), header("gbk"), "big5") == page(TEA)


def test_what_somebody_said_goes_before_header_and_bytes():
    body = page("café").encode()
    assert decode(body, header("utf-8"), "windows-1252") == page("cafÃ©")
    assert decode(body, header("utf-8"), "no such encoding") == page("café")


@pytest.mark.parametrize("label", ["hex", "utf-7", "rot13", "idna", "utf-16", "cp037", "\udcff"])
def test_labels_that_are_no_encodings_of_a_page_are_passed_over(label):
    body = page("café +ADw-b").encode()
    assert decode(body, header(label), label) == page("café +ADw-b")


def test_ascii_follows_a_label_that_gives_it_another_meaning():
    body = page(JAPANESE).encode("iso-2022-jp")
    assert body.isascii()
    assert decode(body, header("iso-2022-jp")) == page(JAPANESE)


@pytest.mark.parametrize("body", [b"", b"\x80", b"\xff" * 999, b"\xff\x00" * 99, bytes(99)])
def test_rubbish_is_decoded_somehow(body):
    assert isinstance(decode(body, header("gbk")), str)
    assert isinstance(decode(body), str)


def test_a_page_without_high_bytes_is_ascii():
    assert encoding_of(page(FERRY).encode()) == "utf-8"
