"""Encoding detection of texts without a declaration."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from archiver.http.encoding_detection import SAMPLE_BYTES, detect, is_enough_text
from archiver.http.text_decoders import ENCODINGS, decode_text

NOWHERE = "http://127.0.0.1/"
SENTENCES = {
    encoding: (domain, sentence)
    for encoding, domain, sentence in (
        line.split("\t")
        for line in (Path(__file__).parent / "sentences.txt").read_text("utf-8").split("\n")
        if line
    )
}
PYTHON = {"windows-874": "cp874", "shift_jis": "cp932", "euc-kr": "cp949", "koi8-r": "koi8-r"}


def written(encoding: str) -> bytes:
    name = PYTHON.get(encoding, encoding.replace("windows-", "cp"))
    return SENTENCES[encoding][1].encode(name)


def test_a_sentence_suffices_with_a_country_domain():
    for encoding, (domain, sentence) in SENTENCES.items():
        detected = detect(b"<title>x</title><p>" + written(encoding), f"http://a.{domain}/")

        assert decode_text(written(encoding), detected) == sentence


def test_a_page_suffices_without_a_country_domain():
    for encoding in SENTENCES:
        detected = detect(b"<p>".join([written(encoding)] * 10), NOWHERE)

        assert decode_text(written(encoding), detected) == SENTENCES[encoding][1]


def test_a_few_characters_of_english_are_windows_1252():
    for text in [
        "It\u2019s",
        "\u201cquoted\u201d \u2013 and \u2026",
        "caf\xe9",
        "\xa9 2004",
        "na\xefve, \xe0 la carte",
    ]:
        assert detect(f"<title>{text}</title>".encode("cp1252"), NOWHERE) == "windows-1252"


def test_the_domain_decides_between_equally_likely_encodings():
    hungarian = "Árvíztűrő tükörfúrógép".encode("iso8859-2")

    assert detect(hungarian, "http://a.hu/") == "iso-8859-2"
    assert detect(hungarian, "http://a.hu.:8080/x.fr") == "iso-8859-2"
    assert detect(hungarian, NOWHERE) == "windows-1252"


def test_utf_8_with_a_damaged_character_is_detected():
    for bad in [b"\xff", b"\xe9 ", b"\xc3("]:
        text = "Où était l'été, où était le bœuf ?".encode()

        assert detect(text + bad + text, NOWHERE) == "utf-8"


def test_other_encodings_are_not_mistaken_for_damaged_utf_8():
    for encoding in SENTENCES:
        for length in range(4, 40):
            assert detect(written(encoding)[:length], NOWHERE) != "utf-8"


def test_late_non_ascii_bytes_are_considered():
    ascii_only = b"x" * 3 * SAMPLE_BYTES

    assert detect(ascii_only + "é".encode(), NOWHERE) == "utf-8"
    assert not is_enough_text(ascii_only)
    assert not is_enough_text(ascii_only + b"\xe9" * 10)
    assert is_enough_text(ascii_only + b"\xe9" * SAMPLE_BYTES)


@given(st.binary())
def test_any_bytes_have_a_result(data):
    assert detect(data, NOWHERE) in ENCODINGS
