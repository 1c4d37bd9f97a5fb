"""Bytes are decoded as in browsers, whole or in pieces."""

import base64
import json
from itertools import pairwise, product

from hypothesis import example, given
from hypothesis import strategies as st

from archiver.http.text_decoders import (
    ASCII_TRANSPARENT,
    ENCODINGS,
    SINGLE_BYTE,
    decode_part,
    decode_text,
    decoder,
    encode_part,
    encode_query,
    lookup,
    well_formed,
)
from tests.chromium import new_page

NAMES = st.sampled_from(sorted(ENCODINGS))
LEADS, TRAILS = range(0x7F, 0x100), range(0x20, 0x100)
PAIRS = [bytes(pair) for pair in product(LEADS, TRAILS)]
TRIPLES = [b"\x8f" + bytes(pair) for pair in product(range(0xA1, 0xFF), range(0x40, 0xFF))]
QUADRUPLES = [
    bytes((first, 0x30 + second, third, 0x30 + second))
    for first, second, third in product(range(0x81, 0xFF), range(10), (0x81, 0xA0, 0xFE, 0xFF))
]
KANJI = [
    b"\x1b" + mode + bytes(pair) + b"\x1b(B"
    for mode in (b"$B", b"$@", b"(I", b"(J")
    for pair in product(range(0x20, 0x80), range(0x20, 0x80))
    if pair != (0x24, 0x1B)
]
INPUTS = {
    **{name: [bytes([byte]) for byte in range(256)] for name in SINGLE_BYTE},
    **dict.fromkeys(("big5", "euc-kr", "shift_jis", "utf-8", "utf-16le", "utf-16be"), PAIRS),
    "euc-jp": [*PAIRS, *TRIPLES],
    "gbk": [*PAIRS, *QUADRUPLES, b"\x80", b"\x84\x31", b"\x84\x31\x82", b"\x81\x35\xf4\x37"],
    "gb18030": [*PAIRS, *QUADRUPLES],
    "iso-2022-jp": [*KANJI, b"\x1b(B\x1b(Ba", b"\x1b(Bx\x1b$Ba", b"\x1b", b"\x1b$", b"\x0e\x80"],
}
LOOK_ALIKES = {"big5": {b"\xa2\x41", b"\xa2\x42"}, "euc-jp": {b"\x8f\xa2\xb7"}}
"""Characters that we decode to a similar one."""
MISREAD = {b"\x88\x62", b"\x88\x64", b"\x88\xa3", b"\x88\xa5"}
"""Bytes that Chromium, against the standard, decodes to lone surrogates (Ê and ê with accents)."""
READ = """([name, inputs]) => JSON.stringify(inputs.split(",").map((each) => {
  const bytes = Uint8Array.from(atob(each), (one) => one.charCodeAt(0));
  return new TextDecoder(name, {ignoreBOM: false}).decode(bytes);
}))"""
"""One string per result, because the browser driver is slow with lists."""


async def every_byte_and_pair_is_decoded_like_in_chromium(browser):
    """Run by ``test_encoding_detection``, in one browser."""
    differences = {}
    page = await new_page(browser)
    for name, inputs in INPUTS.items():
        given_ = ",".join(base64.b64encode(each).decode() for each in inputs)
        theirs = json.loads(await page.evaluate(READ, [name, given_]))
        differences[name] = {
            each
            for each, text in zip(inputs, theirs, strict=True)
            if decode_text(each, name) != text and each not in MISREAD
        }

    assert {name: result for name, result in differences.items() if result} == LOOK_ALIKES


@given(NAMES, st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_chunks_of_any_size_give_the_same_text(name, data, cuts):
    reading = decoder(name)
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})

    pieces = [reading.decode(data[a:b]) for a, b in pairwise(places)]

    assert "".join(pieces) + reading.decode(b"", True) == decode_text(data, name)


@given(st.sampled_from(sorted(ASCII_TRANSPARENT)), st.text())
def test_characters_missing_in_an_encoding_are_written_as_references(name, text):
    written = encode_part(text.encode("utf-8", "replace").decode(), name)

    assert written.isascii() or name != "euc-jp"
    assert decode_part(encode_part("é€一<", name), name).endswith("<")


def test_text_in_markup_uses_the_encoding_of_the_markup():
    for name, text, written in [
        ("windows-1252", "é€\u4e00\x81", b"\xe9\x80&#19968;\x81"),
        ("koi8-u", "ў╝", b"\xae&#9565;"),
        ("utf-8", "é", "é".encode()),
        ("euc-jp", "é日", b"&#233;&#26085;"),
    ]:
        assert encode_part(text, name) == written


def test_a_query_is_encoded_as_browsers_do():
    for name, query, encoded in [
        ("windows-1252", "†&é", "%86&%E9"),
        ("big5", "†", "%26%238224%3B"),
        ("euc-kr", "†", "%A2%D3"),
        ("shift_jis", "表", "%95\\"),
        ("iso-2022-jp", "a日本", "a%1B$BF|K\\%1B(B"),
        ("koi8-r", "Слово=%D0", "%F3%CC%CF%D7%CF=%D0"),
        ("utf-8", "é", "é"),
        ("utf-16le", "é", "é"),
        ("replacement", "é", "é"),
    ]:
        assert encode_query(f"/é?{query}#é", name) == f"/é?{encoded}#é"


def test_unsafe_encodings_are_not_decoded():
    assert decode_text(b"<script>", "replacement") == "\ufffd"
    assert decode_text(b"", "replacement") == ""


# WHATWG Encoding §4.2 has this many; detects a library that omits or adds one.
ENCODINGS_OF_THE_STANDARD = 40


def test_every_encoding_has_its_name_as_a_label():
    assert len(ENCODINGS) == ENCODINGS_OF_THE_STANDARD
    assert {lookup(name) for name in ENCODINGS - {"replacement"}} == ENCODINGS - {"replacement"}
    assert lookup("replacement") == "replacement"


def test_labels_map_to_the_encodings_of_the_web_standard():
    for label, encoding in [
        (" \t\n\f\rUTF8\r", "utf-8"),
        ("ISO-8859-1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("latin5", "windows-1254"),
        ("tis-620", "windows-874"),
        ("gb2312", "gbk"),
        ("ks_c_5601-1987", "euc-kr"),
        ("x-sjis", "shift_jis"),
        ("unicode", "utf-16le"),
        ("utf-16", "utf-16le"),
        ("hz-gb-2312", "replacement"),
        ("x-user-defined", "x-user-defined"),
        ("logical", "iso-8859-8-i"),
    ]:
        assert lookup(label) == encoding


def test_encodings_known_only_to_python_are_not_labels():
    for label in [
        *("idna", "rot13", "zip", "utf-7", "utf-32", "utf-8-sig", "cp775", "utf_8", "mbcs"),
        *("unicode_escape", "undefined", "punycode", "\x0butf-8", "\u212aoi8-r", "utf-8\0", ""),
    ]:
        assert lookup(label) is None


@given(st.text(st.characters()))
@example("a\ud800\udfffb")
def test_any_text_can_be_written(text):
    written = well_formed(text)

    written.encode()
    assert len(written) == len(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_valid_text_is_unchanged(text):
    assert well_formed(text) == text
