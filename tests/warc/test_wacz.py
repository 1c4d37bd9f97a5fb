"""Indexes and digests of a package conform to WACZ 1.1.1."""

import gzip
import hashlib
import json

from archiver.warc.wacz import LINES_A_BLOCK, index_blocks, package_digest


def test_every_pointer_refers_to_a_block_that_begins_with_its_key():
    lines = [
        f"example,a)/{n:05} 20240101000000 {{}}\n".encode() for n in range(2 * LINES_A_BLOCK + 1)
    ]

    blocks = list(index_blocks(lines))

    whole = b"".join(block.packed for block in blocks)
    assert gzip.decompress(whole) == b"".join(lines)
    for block in blocks:
        key, timestamp, said = block.pointer.split(" ", 2)
        place = json.loads(said)
        packed = whole[place["offset"] : place["offset"] + place["length"]]
        assert gzip.decompress(packed).startswith(f"{key} {timestamp} ".encode())
        assert place["digest"] == f"sha256:{hashlib.sha256(packed).hexdigest()}"


def test_the_package_digest_matches_its_bytes():
    said = json.loads(package_digest(b"{}"))

    assert said["hash"] == f"sha256:{hashlib.sha256(b'{}').hexdigest()}"
