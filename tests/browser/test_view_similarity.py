"""Similarity of two views of a page, by small screenshots and by words."""

from io import BytesIO

import pytest
from PIL import Image

from archiver.browser.view_similarity import read_png, similarity_of, words_contained
from archiver.errors import BrowserError

COLOURS = {" ": (255, 255, 255), "#": (0, 0, 0), ".": (245, 245, 245)}


def png(*rows: str, form: str = "PNG") -> bytes:
    image = Image.new("RGB", (len(rows[0]), len(rows)))
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            image.putpixel((x, y), COLOURS[sign])
    out = BytesIO()
    image.save(out, form)
    return out.getvalue()


def test_only_areas_with_content_in_one_view_count():
    for before, after, percent in [
        (["# #", "   "], ["# #", "   "], 100),
        (["# #", "   "], ["#..", "   "], 50),
        (["# #", "   "], ["   ", "   "], 0),
        (["#  ", "   "], ["#  ", "   ", "   "], 100),
        (["#  ", "   "], ["#  ", "   ", "#  "], 50),
        (["#  ", "   ", "#  "], ["#  "], 50),
        (["   "], ["   "], 100),
    ]:
        assert similarity_of(read_png(png(*before)), read_png(png(*after))) == percent


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG\r\n\x1a\n", png("#")[:40], png("#", form="BMP"), png("#" * 500, *["#"] * 401)],
    ids=["empty", "signature", "truncated", "another format", "too large"],
)
def test_an_image_that_is_no_small_png_is_refused(data):
    with pytest.raises(BrowserError, match="Cannot read"):
        read_png(data)


def test_repeated_words_count_each_time():
    for before, after, percent in [
        ("a b b c", "c b a b more", 100),
        ("a b b c", "a b", 50),
        ("", "a", 100),
        ("a", "", 0),
    ]:
        assert words_contained(before, after) == percent
