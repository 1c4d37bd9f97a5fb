import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.replay.tag_syntax import decode_references


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
