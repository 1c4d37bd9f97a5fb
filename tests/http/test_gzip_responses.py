"""Gzip of responses: accepted or not, and readable piece by piece."""

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from archiver.http.content_coding import GzipStream, accepts_gzip, gzipped

ACCEPTED = """gzip, deflate, br, zstd | gzip, deflate | X-GZIP | br;q=0.5, gzip;q=0.8 | *
br;q=0, * | gzip;q=0.5, *;q=0.1 | identity;q=0.5, gzip;q=0.5 | identity;q=0, gzip
gzip ; q=1.0 , br ; Q=0.999 | gzip;q=nan, * | gzip;level=9, *"""
REFUSED = """br, deflate, zstd | br;q=0, gzip;q=0 | gzip;q=0.000 | *;q=0 | identity, gzip;q=0.5
identity;q=0 | gzip;q=2 | gzip;level=9, é, ,, br;q=0.1"""


def test_gzip_is_used_unless_the_client_refuses_it_or_prefers_none():
    for fields, expected in ((ACCEPTED, True), (REFUSED, False)):
        for field in fields.replace("\n", " | ").split(" | "):
            assert accepts_gzip(field) is expected, field
    assert not accepts_gzip("")


@given(st.text(max_size=40) | st.from_regex(r"[a-z*]{1,4};q=[0-9.]{1,6}(, *[a-z*;=q0-9.]*)*"))
def test_any_field_value_is_accepted_or_refused(field):
    assert accepts_gzip(field) in (True, False)


@given(body=st.binary(max_size=3000))
def test_a_compressed_body_decompresses_to_the_original(body):
    assert gzip.decompress(gzipped(body)) == body


@given(pieces=st.lists(st.binary(max_size=500), max_size=8))
def test_every_chunk_of_a_stream_is_readable_when_sent(pieces):
    packer, reader = GzipStream(), zlib.decompressobj(31)

    for piece in pieces:
        assert reader.decompress(packer.pack(piece)) == piece
    assert reader.decompress(packer.finish()) == b""
    assert reader.eof
