"""Content decoding does not depend on how bytes are split, and is bounded."""

import gzip
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import TooLarge
from archiver.http.content_coding import decode, zstd
from archiver.http.response_parser import dechunk


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CODERS = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "members": ("gzip", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
    "two": ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    "unknown": ("whatever", lambda data: data),
    "none": (None, lambda data: data),
}


def pieces(data, size):
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("name", CODERS)
@given(data=st.binary(max_size=4000).map(lambda data: data * 60), size=st.integers(1, 9000))
def test_content_is_decoded_for_any_chunk_size(name, data, size):
    label, pack = CODERS[name]

    content = b"".join(decode(pieces(pack(data), max(size, 50)), label, limit=1 << 30))

    assert content == data


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw deflate", "br", "zstd"])
def test_a_decompression_bomb_is_detected_before_it_is_decompressed(name):
    label, pack = CODERS[name]
    out = []

    with pytest.raises(TooLarge):
        out.extend(map(len, decode([pack(bytes(20_000_000))], label, limit=1 << 20)))
    assert sum(out) <= 1 << 20


def test_content_with_a_wrong_coding_is_returned_unchanged():
    for label in ["gzip", "deflate", "br", "zstd"]:
        page = b"<!DOCTYPE html><p>plain all along</p>"

        assert b"".join(decode([page], label, limit=1000)) == page


def test_truncated_content_is_decoded_up_to_its_end():
    data = b"so far so good " * 5000

    content = b"".join(decode([gzip.compress(data)[:-60]], "gzip", limit=1 << 30))

    assert content
    assert data.startswith(content)


@given(parts=st.lists(st.binary(min_size=1, max_size=50), max_size=9), size=st.integers(1, 99))
def test_chunk_framing_is_removed_for_any_chunk_size(parts, size):
    framed = (
        b"".join(b"%x;e=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\nT: x\r\n\r\n"
    )

    assert b"".join(dechunk(pieces(framed, size))) == b"".join(parts)
