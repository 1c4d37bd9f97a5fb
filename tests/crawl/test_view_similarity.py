"""Similarity of two views of a page, by small screenshots and by words."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.browser.view_similarity import Bitmap, read_png, similarity_of, words_contained
from archiver.errors import BrowserError

WHITE, BLACK, GREY = (255, 255, 255), (0, 0, 0), (245, 245, 245)


def bitmap(*rows: str) -> Bitmap:
    colours = {" ": WHITE, "#": BLACK, ".": GREY}
    return Bitmap(tuple(tuple(colours[each] for each in row) for row in rows))


def png(rows, filters, *, channels=3, depth=8) -> bytes:
    """Return a PNG of these rows, each with this filter (PNG §9.2)."""
    above, raw = bytes(len(rows[0])), b""
    for row, kind in zip(rows, filters, strict=True):
        raw += bytes([kind]) + bytes(
            (value - guess(kind, row, above, at, channels)) & 255 for at, value in enumerate(row)
        )
        above = row
    header = struct.pack(">IIBBBBB", len(rows[0]) // channels, len(rows), depth, 2, 0, 0, 0)
    if channels == 4:
        header = header[:9] + b"\x06" + header[10:]
    pieces = (b"IHDR", header), (b"IDAT", zlib.compress(raw)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in pieces
    )


def guess(kind, row, above, at, channels):
    left, up = (row[at - channels] if at >= channels else 0), above[at]
    corner = above[at - channels] if at >= channels else 0
    if kind == 4:
        near = left + up - corner
        distances = [(abs(near - each), place) for place, each in enumerate((left, up, corner))]
        return (left, up, corner)[min(distances)[1]]
    return (0, left, up, (left + up) >> 1, 0, 0)[kind]


@given(st.data(), st.integers(1, 6), st.integers(1, 6), st.sampled_from([3, 4]))
def test_pngs_of_every_filter_and_depth_are_decoded(data, width, height, channels):
    size = width * channels
    rows = [data.draw(st.binary(min_size=size, max_size=size)) for _ in range(height)]
    filters = [data.draw(st.integers(0, 4)) for _ in rows]

    found = read_png(png(rows, filters, channels=channels))

    expected = [[tuple(row[at : at + 3]) for at in range(0, size, channels)] for row in rows]
    assert [list(row) for row in found.rows] == expected


@given(st.binary(max_size=80), st.booleans())
def test_invalid_pngs_are_refused(data, begins_as_one):
    begun = png([b"abc"], [0])[:40] if begins_as_one else b""

    with pytest.raises(BrowserError, match="Cannot read"):
        read_png(begun + data)


@pytest.mark.parametrize(
    "data",
    [
        png([bytes(3)], [5]),
        png([bytes(6)], [0], depth=16),
        png([bytes(3)], [0]).replace(struct.pack(">II", 1, 1), struct.pack(">II", 60_000, 60_000)),
        png([bytes(3)], [0]).replace(struct.pack(">II", 1, 1), struct.pack(">II", 1, 9)),
    ],
    ids=["an unknown filter", "sixteen bits", "too large", "shorter than it says"],
)
def test_a_screenshot_of_another_size_is_refused(data):
    with pytest.raises(BrowserError):
        read_png(data)


@pytest.mark.parametrize(
    ("before", "after", "hundredths"),
    [
        (["# #", "   "], ["# #", "   "], 100),
        (["# #", "   "], ["#..", "   "], 50),
        (["# #", "   "], ["   ", "   "], 0),
        (["#  ", "   "], ["#  ", "   ", "   "], 100),
        (["#  ", "   "], ["#  ", "   ", "#  "], 50),
        (["#  ", "   ", "#  "], ["#  "], 50),
        (["   "], ["   "], 100),
    ],
)
def test_only_areas_with_content_in_one_view_count(before, after, hundredths):
    assert similarity_of(bitmap(*before), bitmap(*after)) == hundredths


@pytest.mark.parametrize(
    ("before", "after", "hundredths"),
    [("a b b c", "c b a b more", 100), ("a b b c", "a b", 50), ("", "a", 100), ("a", "", 0)],
)
def test_repeated_words_count_each_time(before, after, hundredths):
    assert words_contained(before, after) == hundredths
