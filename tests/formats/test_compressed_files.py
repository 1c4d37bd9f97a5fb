"""Compressed files are read as their content; multi-stream, truncated and nested ones and bombs."""

import bz2
import gzip
import io
import json
import lzma
import sys
from functools import partial
from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats import archive_members
from tests.formats.goldens import zipped
from tests.formats.reading import opened as read_in

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

A = "https://a.example/"
LIKES = json.dumps({"type": "OrderedCollection", "orderedItems": [A]})


def opened(data, name="file"):
    form, bookmarks = read_in(data, name)
    return form, [each.annotation.url_given for each in bookmarks]


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}


@pytest.mark.parametrize("kind", PACKERS)
def test_multi_stream_and_truncated_files_are_read_up_to_their_end(kind):
    pack = PACKERS[kind]
    lines = [f"{A}{md5(b'%d' % n).hexdigest()}\n".encode() for n in range(2_000)]
    parts = pack(b"".join(lines[:1_000])) + pack(b"".join(lines[1_000:]))

    assert len(opened(parts)[1]) == 2_000
    assert 1_000 <= len(opened(parts[: len(parts) * 3 // 4])[1]) < 2_000


@pytest.mark.parametrize("kind", PACKERS)
def test_only_the_first_megabytes_of_a_bomb_are_read(kind, monkeypatch):
    monkeypatch.setattr(archive_members, "UNPACKED_ALLOWANCE", 1 << 20)
    bomb = PACKERS[kind](b"https://a.example/\n") + PACKERS[kind](bytes(8 << 20))

    assert len(archive_members.unpacked(io.BytesIO(bomb), bomb).read()) < 4 << 20


@given(
    st.sampled_from(sorted(PACKERS)),
    st.lists(st.binary(max_size=600), max_size=4),
    st.integers(1, 700),
)
def test_any_content_is_decompressed_unchanged(kind, parts, most):
    data = b"".join(map(PACKERS[kind], parts or [b""]))

    content = archive_members.unpacked(io.BytesIO(data), data)

    assert b"".join(iter(partial(content.read, most), b"")) == b"".join(parts)


def test_only_bookmarks_are_read_from_a_data_export_of_a_service():
    reddit = zipped(
        {
            "saved_posts.csv": "id,permalink\n1,https://www.reddit.com/r/a/comments/1/\n",
            "post_votes.csv": "id,permalink,direction\n2,https://www.reddit.com/r/a/2/,up\n",
            "messages.csv": "id,permalink,body\n3,https://www.reddit.com/message/3,x\n",
        }
    )
    mastodon = zipped({"likes.json": LIKES, "outbox.json": LIKES.replace("a.example", "b.example")})
    takeout = zipped(
        {
            "Takeout/Chrome/Bookmarks.html": f"<DL><DT><A HREF={A}>A</A></DL>",
            "Takeout/Chrome/History.json": json.dumps([{"url": "https://b.example/"}]),
            "Takeout/Chrome/SearchEngines.json": json.dumps([{"url": "https://b.example/?q="}]),
        }
    )

    assert opened(reddit)[1] == ["https://www.reddit.com/r/a/comments/1/"]
    assert opened(mastodon)[1] == [A]
    assert opened(takeout)[1] == [A]
