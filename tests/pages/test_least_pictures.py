"""Images that declare a too small size, and only those, are rejected without a worker."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from archiver.model.rendering import RenditionKind
from archiver.pages.icon_candidates import LEAST, is_too_small
from archiver.pages.image_drawing import draw
from archiver.pages.worker_pool import WorkerPool


def picture(wide, high, form):
    out = BytesIO()
    Image.new("RGB", (wide, high), "teal").save(out, form)
    return out.getvalue()


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
