"""Indexes and digests of a package conform to WACZ 1.1.1."""

import gzip
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.warc.request_queries import query_of_request
from archiver.warc.temporary_lines import SortedLines
from archiver.warc.wacz import LINES_PER_BLOCK, index_blocks, package_digest


def test_every_pointer_refers_to_a_block_that_begins_with_its_key():
    lines = [
        f"example,a)/{n:05} 20240101000000 {{}}\n".encode() for n in range(2 * LINES_PER_BLOCK + 1)
    ]

    blocks = list(index_blocks(lines))

    whole = b"".join(block.packed for block in blocks)
    assert gzip.decompress(whole) == b"".join(lines)
    for block in blocks:
        key, timestamp, fields = block.pointer.split(" ", 2)
        place = json.loads(fields)
        packed = whole[place["offset"] : place["offset"] + place["length"]]
        assert gzip.decompress(packed).startswith(f"{key} {timestamp} ".encode())
        assert place["digest"] == f"sha256:{hashlib.sha256(packed).hexdigest()}"


def test_the_package_digest_matches_its_bytes():
    digest = json.loads(package_digest(b"{}"))

    assert digest["hash"] == f"sha256:{hashlib.sha256(b'{}').hexdigest()}"


@pytest.mark.parametrize(
    ("kind", "body", "query"),
    [
        ("application/x-www-form-urlencoded; charset=UTF-8", "q=a+b&n=%20", "q=a b&n= "),
        ("application/json", '{"q": {"a": [1, true], "b": null}}', "a=1&a.2_=true&b=null"),
        ("text/plain;charset=UTF-8", '{"a": "b c"}', "a=b c"),
        ("text/plain", "hello", "__wb_post_data=aGVsbG8="),
        ("application/octet-stream", "\0", "__wb_post_data=AA=="),
        ("application/json", "[" * 9_000, ""),
        (
            "multipart/form-data; boundary=x",
            '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
            "a=1",
        ),
    ],
)
def test_the_body_of_a_request_becomes_a_query_as_webrecorder_writes_it(kind, body, query):
    request = f"POST /a HTTP/1.1\r\nHost: a.example\r\ncontent-type: {kind}\r\n\r\n{body}"

    result = query_of_request(request.encode())

    url = result.added_to("https://a.example/a?b")
    assert url == f"https://a.example/a?b&__wb_method=POST{'&' if query else ''}{query}"
    assert query_of_request(b"GET / HTTP/1.1\r\n\r\n") is None


@given(st.lists(st.binary(max_size=5).filter(lambda line: b"\n" not in line)), st.integers(1, 40))
def test_lines_are_sorted_and_unique_with_any_memory_limit(given_, run_bytes):
    with SortedLines(run_bytes) as lines:
        lines.add_all(line + b"\n" for line in given_)

        assert list(lines) == sorted({line + b"\n" for line in given_})
