import gzip
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.http.content_coding import Coding, new_packer, pack, pack_once

UNPACK = {Coding.BROTLI: brotli.decompress, Coding.GZIP: gzip.decompress}
CODED = pytest.mark.parametrize("coding", UNPACK)


@CODED
@given(body=st.binary(max_size=3000))
def test_a_compressed_body_decompresses_to_the_original(coding, body):
    assert UNPACK[coding](pack(body, coding)) == body
    assert UNPACK[coding](pack_once(body, coding)) == body


@CODED
@given(pieces=st.lists(st.binary(max_size=500), max_size=8))
def test_every_chunk_of_a_stream_is_readable_when_sent(coding, pieces):
    packer = new_packer(coding)
    reader = brotli.Decompressor() if coding is Coding.BROTLI else zlib.decompressobj(31)
    read = reader.process if coding is Coding.BROTLI else reader.decompress

    for piece in pieces:
        assert read(packer.pack(piece)) == piece
    assert read(packer.finish()) == b""
    assert reader.is_finished() if coding is Coding.BROTLI else reader.eof
