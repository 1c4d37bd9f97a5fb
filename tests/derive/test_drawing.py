"""Strangers' pictures become small ones, or none."""

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from archiver.derive.drawing import COVER_SIDE, ICON_SIDE, MOST_DRAWING, draw
from archiver.model.likeness import LikenessKind

ICON, COVER = LikenessKind.ICON, LikenessKind.COVER


def picture(wide, high, form="PNG", mode="RGB", **more):
    out = BytesIO()
    Image.new(mode, (wide, high), {"RGB": "teal", "RGBA": (0, 99, 99, 80)}[mode]).save(
        out, form, **more
    )
    return out.getvalue()


def opened(drawn):
    return Image.open(BytesIO(drawn.content))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF"])
def test_a_cover_fits_its_box_whatever_it_came_as(form):
    drawn = draw(COVER, picture(1200, 600, form))

    assert drawn.media_type == "image/webp"
    assert opened(drawn).size == (COVER_SIDE, COVER_SIDE // 2)


@pytest.mark.parametrize(("form", "side"), [("ICO", 32), ("PNG", 180), ("GIF", 16)])
def test_an_icon_is_made_small_and_never_large(form, side):
    drawn = draw(ICON, picture(side, side, form))

    assert opened(drawn).size == (min(side, ICON_SIDE),) * 2


def test_what_an_icon_lets_through_stays_so_and_a_cover_stands_on_white():
    clear = picture(300, 300, mode="RGBA")

    assert opened(draw(ICON, clear)).mode == "RGBA"
    assert opened(draw(COVER, clear)).mode == "RGB"


def test_what_a_picture_tells_of_where_it_was_taken_goes():
    exif = Image.Exif()
    exif[0x010E] = "at home"

    drawn = draw(COVER, picture(400, 300, "JPEG", exif=exif))

    assert b"at home" not in drawn.content


@pytest.mark.parametrize(
    ("wide", "high"), [(1, 1), (150, 150), (199, 400), (1200, 100), (1300, 200), (200, 1300)]
)
def test_badges_rules_and_counters_are_no_covers(wide, high):
    assert draw(COVER, picture(wide, high)) is None


def test_a_counting_pixel_is_no_icon():
    assert draw(ICON, picture(1, 1)) is None


def bomb(wide, high):
    """A PNG that says that it is so large, and packs nothing but zeroes."""

    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1 << 20))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", [ICON, COVER])
def test_a_bomb_is_not_unpacked(kind):
    assert draw(kind, bomb(30_000, 30_000)) is None


@pytest.mark.parametrize("kind", [ICON, COVER])
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"<svg ", b"RIFF"]))
def test_nothing_breaks_on_what_is_no_picture(kind, rest, start):
    assert draw(kind, start + rest) is None


def test_a_picture_that_breaks_off_is_none():
    assert draw(COVER, picture(600, 400, "JPEG")[:600]) is None


def drawing(inside, more=""):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"{more}>{inside}</svg>'.encode()
    )


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<a href='https://evil.example/'><path d='M0 0'/></a>",
        "<image href='https://evil.example/x.png'/>",
        "<use href='https://evil.example/x.svg#a'/>",
        "<foreignObject><p>evil</p></foreignObject>",
        "<style>@import 'https://evil.example/x.css';</style>",
        "<rect style='fill: url(https://evil.example/x.svg#a)'/>",
        "<rect onclick='alert(\"evil\")'/>",
        "<!-- evil -->",
    ],
)
def test_a_drawing_keeps_its_shapes_and_nothing_that_runs_or_loads(inside):
    drawn = draw(ICON, drawing(inside + "<circle r='4'/>", " onload='alert(1)'"))

    assert drawn.media_type == "image/svg+xml"
    assert b"circle" in drawn.content
    assert b"evil" not in drawn.content
    assert b"alert" not in drawn.content


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE svg [<!ENTITY a "b">]>' + drawing("&a;"),
        drawing(" " * MOST_DRAWING),
        drawing("<path"),
        b"<p><svg></svg></p>",
    ],
)
def test_a_drawing_that_is_none_or_too_large_is_left_out(content):
    assert draw(ICON, content) is None


def test_a_drawing_is_no_cover():
    assert draw(COVER, drawing("<circle r='4'/>")) is None
