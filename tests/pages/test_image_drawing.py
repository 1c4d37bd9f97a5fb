"""Untrusted images become small ones, or none."""

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from archiver.model.rendering import RenditionKind
from archiver.pages.icon_candidates import LEAST, is_too_small
from archiver.pages.image_drawing import COVER_SIDE, ICON_SIDE, MAX_DRAWING, MAX_SCANS, draw
from archiver.pages.worker_pool import WorkerPool

ICON, COVER = RenditionKind.ICON, RenditionKind.COVER


def picture(wide, high, form="PNG", mode="RGB", **more):
    out = BytesIO()
    Image.new(mode, (wide, high), {"RGB": "teal", "RGBA": (0, 99, 99, 80)}[mode]).save(
        out, form, **more
    )
    return out.getvalue()


def opened(drawn):
    return Image.open(BytesIO(drawn.content))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF"])
def test_a_thumbnail_fits_its_box_from_any_format(form):
    drawn = draw(COVER, picture(1200, 600, form))

    assert drawn.media_type == "image/webp"
    assert opened(drawn).size == (COVER_SIDE, COVER_SIDE // 2)


@pytest.mark.parametrize(("form", "side"), [("ICO", 32), ("PNG", 180), ("GIF", 16)])
def test_an_icon_is_reduced_and_never_enlarged(form, side):
    drawn = draw(ICON, picture(side, side, form))

    assert opened(drawn).size == (min(side, ICON_SIDE),) * 2


def test_icons_stay_transparent_and_thumbnails_get_a_white_background():
    clear = picture(300, 300, mode="RGBA")

    assert opened(draw(ICON, clear)).mode == "RGBA"
    assert opened(draw(COVER, clear)).mode == "RGB"


def test_location_metadata_is_removed():
    exif = Image.Exif()
    exif[0x010E] = "at home"

    drawn = draw(COVER, picture(400, 300, "JPEG", exif=exif))

    assert b"at home" not in drawn.content


@pytest.mark.parametrize(
    ("wide", "high"), [(1, 1), (150, 150), (199, 400), (1200, 100), (1300, 200), (200, 1300)]
)
def test_badges_lines_and_tracking_pixels_are_not_thumbnails(wide, high):
    assert draw(COVER, picture(wide, high)) is None


def test_a_tracking_pixel_is_not_an_icon():
    assert draw(ICON, picture(1, 1)) is None


def bomb(wide, high):
    """Return a PNG that declares this size and contains only zeroes."""

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
def test_a_decompression_bomb_is_not_decoded(kind):
    assert draw(kind, bomb(30_000, 30_000)) is None


@pytest.mark.parametrize("kind", [ICON, COVER])
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"<svg ", b"RIFF"]))
def test_invalid_images_are_none(kind, tail, start):
    assert draw(kind, start + tail) is None


def test_a_truncated_image_is_none():
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
        "<h:script xmlns:h='http://www.w3.org/1999/xhtml'>evil</h:script>",
        "<h:img xmlns:h='http://www.w3.org/1999/xhtml' src='https://evil.example/'/>",
        "<animateTransform attributeName='evil'/>",
        "<style>@\\69mport 'https://evil.example/x.css';</style>",
        "<style><x/>@import 'https://evil.example/x.css';</style>",
        "<style>g{fill: u\\72l(https://evil.example/x)}</style>",
        "<style>g{mask: image-set('https://evil.example/x' 1x)}</style>",
    ],
)
def test_an_svg_keeps_its_shapes_without_scripts_and_references(inside):
    drawn = draw(ICON, drawing(inside + "<circle r='4'/>", " onload='alert(1)'"))

    assert drawn.media_type == "image/svg+xml"
    assert b"circle" in drawn.content
    assert b"evil" not in drawn.content
    assert b"alert" not in drawn.content


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE svg [<!ENTITY a "b">]>' + drawing("&a;"),
        drawing(" " * MAX_DRAWING),
        drawing("<path"),
        b"<p><svg></svg></p>",
    ],
)
def test_invalid_and_too_large_svgs_are_none(content):
    assert draw(ICON, content) is None


def tenfold(levels):
    """Return groups that each reference the previous one ten times."""
    shown = (f"<use href='#a{level}'/>" * 10 for level in range(levels))
    groups = (f"<g id='a{level}'>{each}</g>" for level, each in enumerate(shown, 1))
    return "<path id='a0' d='M0 0h9'/>" + "".join(groups)


@pytest.mark.parametrize(
    "inside",
    [
        tenfold(8),
        "<g id='a'><use href='#a'/></g>",
        "<pattern id='a'><path fill='url(#a)'/></pattern>",
        "<style>.b, .c {mask: url('#a')}</style><mask id='a'><path class='c'/></mask>",
        "<style>path {mask: url(#a)}</style><mask id='a'><path/></mask>",
    ],
)
def test_an_svg_that_expands_too_much_is_none(inside):
    assert draw(ICON, drawing(inside)) is None


@pytest.mark.parametrize(
    "inside",
    [
        tenfold(2),
        "<style>.a{fill:url(#b)}</style><linearGradient id='b'/><path class='a'/>",
        "<style>.a{mask:url(#c)} .b{fill:none}</style><mask id='c' class='b'/><g class='a'/>",
    ],
)
def test_references_within_an_svg_stay(inside):
    assert b"#" in draw(ICON, drawing(inside)).content


def test_entities_are_detected_in_any_encoding():
    text = '<?xml version="1.0" encoding="UTF-16"?><!--{}--><!DOCTYPE svg [<!ENTITY a "b">]>'
    text += drawing("<path d='&a;'/>").decode()
    before, after = (each.encode("utf-16-le") for each in text.split("{}"))

    assert draw(ICON, before + b"<svg" + after) is None


def test_an_image_with_too_many_passes_is_not_decoded():
    whole = picture(400, 300, "JPEG", progressive=True)
    last = whole[whole.rindex(b"\xff\xda") : -2]
    often = whole[:-2] + last * MAX_SCANS + b"\xff\xd9"

    assert draw(COVER, whole) is not None
    assert draw(COVER, often) is None


def test_the_size_of_an_icon_is_limited():
    large = picture(2100, 2100)
    lying = struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(large), 22) + large

    assert draw(ICON, large) is None
    with pytest.warns(UserWarning, match="not the expected size"):
        assert draw(ICON, lying) is None


def test_an_svg_is_not_a_thumbnail():
    assert draw(COVER, drawing("<circle r='4'/>")) is None


@pytest.mark.parametrize("kind", LEAST)
@pytest.mark.parametrize("form", ["PNG", "GIF"])
def test_too_small_images_are_detected_by_their_first_bytes(kind, form):
    wide, high = LEAST[kind]

    assert is_too_small(kind, picture(wide - 1, high, form)[:24])
    assert is_too_small(kind, picture(wide, high - 1, form)[:24])
    assert not is_too_small(kind, picture(wide, high, form))


@given(
    st.sampled_from(sorted(LEAST)),
    st.integers(1, 300),
    st.integers(1, 160),
    st.sampled_from(["PNG", "GIF", "JPEG", "BMP", "WEBP"]),
)
def test_images_detected_as_too_small_are_never_drawn(kind, wide, high, form):
    content = picture(wide, high, form)

    assert not is_too_small(kind, content) or draw(kind, content) is None


@given(st.sampled_from(sorted(LEAST)), st.binary(max_size=40))
def test_images_without_a_declared_size_are_not_rejected(kind, junk):
    for start in (b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff"):
        is_too_small(kind, start + junk)
    assert not is_too_small(kind, b"\xff\xd8\xff" + junk)


async def test_no_worker_is_started_for_a_too_small_image():
    pool = WorkerPool(processes=0, timeout=1, memory_bytes=1 << 30, max_requisites=1)

    assert await pool.draw(RenditionKind.ICON, picture(1, 1, "PNG"), "") is None
