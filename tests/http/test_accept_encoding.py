import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.http.content_coding import Coding, choose_coding

BOTH = (Coding.BROTLI, Coding.GZIP)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (None, "identity"),
        ("", "identity"),
        ("gzip, deflate, br, zstd", "br"),
        ("gzip, deflate", "gzip"),
        ("X-GZIP", "gzip"),
        ("br;q=0.5, gzip;q=0.8", "gzip"),
        ("br;q=0, gzip;q=0", "identity"),
        ("gzip;q=0.000", "identity"),
        ("*", "br"),
        ("*;q=0", "identity"),
        ("br;q=0, *", "gzip"),
        ("gzip;q=0.5, *;q=0.1", "gzip"),
        ("identity, gzip;q=0.5", "identity"),
        ("identity;q=0.5, gzip;q=0.5", "gzip"),
        ("identity;q=0", "identity"),
        ("identity;q=0, gzip", "gzip"),
        ("deflate, zstd", "identity"),
        ("gzip;q=2", "identity"),
        ("gzip;q=nan, br", "br"),
        ("gzip ; q=1.0 , br ; Q=0.999", "gzip"),
        ("gzip;level=9, é, ,, br;q=0.1", "br"),
    ],
)
def test_the_coding_with_the_highest_weight_is_chosen(field, expected):
    assert choose_coding(field, BOTH) == expected


@given(st.text(max_size=40) | st.from_regex(r"[a-z*]{1,4};q=[0-9.]{1,6}(, *[a-z*;=q0-9.]*)*"))
def test_any_field_value_selects_one_coding(field):
    assert choose_coding(field, BOTH) in Coding
