"""Character encodings: with byte order mark, declared, or neither."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.source_file import decode_head, looks_like_text, read_text

TEXT = "Äpfel: “Öl” & naïve café\nhttps://a.example/\n"


def text_of(data: bytes) -> str:
    return "".join(read_text(io.BytesIO(data)))


@pytest.mark.parametrize(
    "charset", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
def test_an_encoding_is_detected(charset: str) -> None:
    data = TEXT.encode(charset)

    assert text_of(data) == TEXT
    assert decode_head(data) == TEXT


@pytest.mark.parametrize(
    "declared",
    [
        b"<META charset=windows-1251>\n",
        b'<meta HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=windows-1251">\n',
    ],
)
def test_a_declared_encoding_is_used(declared: bytes) -> None:
    assert text_of(declared + "Жизнь".encode("cp1251")).endswith("Жизнь")


def test_lines_that_are_not_utf_8_are_windows_1252() -> None:
    data = "né 1\n".encode() + "né 2\n".encode("cp1252") + "né 3".encode()

    assert text_of(data) == "né 1\nné 2\nné 3"


@given(st.binary())
def test_any_bytes_are_decoded(data: bytes) -> None:
    text = text_of(data)

    text.encode()
    assert "\0" not in text
    looks_like_text(data)
    decode_head(data)
