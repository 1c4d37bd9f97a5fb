"""Character references, bytes and ends of scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.replay.tag_syntax import BytesText, ScriptEnd, decode_references


@pytest.mark.parametrize(
    ("source", "meaning"),
    [
        ("a&amp;b", "a&b"),
        ("?a&copy=1&copy1&copy;&copy", "?a&copy=1&copy1©©"),
        ("&#106;&#x6A;&#0000000000000106;&#x6a", "jjjj"),
        ("&#99999999;&#x110000;&#0;", "\ufffd\ufffd\ufffd"),
        ("&nosuch;&;&#;&#x;&", "&nosuch;&;&#;&#x;&"),
        ("&notit;&not;", "&notit;¬"),
    ],
)
def test_references_are_decoded_like_in_attributes(source, meaning):
    assert decode_references(source) == meaning


@given(st.text("&#x0123456789abcdefqamp;="))
def test_any_tag_is_parsed(text):
    decode_references(text)


def test_characters_missing_in_an_encoding_are_written_as_references():
    raw = BytesText("windows-1252")

    assert raw.to_text("\xe9\x81") == "é\x81"
    assert raw.from_text("é€\u4e00") == "\xe9\x80&#19968;"


def test_text_is_returned_unchanged():
    assert BytesText().to_text("é") == BytesText().from_text("é") == "é"


def test_invalid_bytes_become_replacement_characters():
    assert BytesText("utf-8").to_text("\xff") == "\ufffd"


@pytest.mark.parametrize(
    ("script", "length"),
    [
        ("x</script>", 1),
        ("x</SCRIPT\n>", 1),
        ("x</scripty></script>", 11),
        ("<!--</script>", 4),
        ("<!--<script></script></script>", 21),
        ("<!--<script>--></script>", 15),
        ("<!--><script></script>", 13),
        ("<!---><script></script>", 14),
        ("<!--<script></script>--></script>", 24),
        ("<script></script>", 8),
    ],
)
def test_scripts_end_like_in_browsers(script, length):
    assert ScriptEnd().find(script, 0) == (length, True)


def test_little_is_buffered_of_an_unclosed_script():
    assert ScriptEnd().find("a < b </scr", 0) == (2, False)
    assert ScriptEnd().find("a < b and then much more", 0) == (24, False)
