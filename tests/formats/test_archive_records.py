"""Imported renditions are limited to what their kind allows, even if the file declares more."""

import pytest

from archiver.formats.archive_records import MAX_STORED, ForeignRendition, StoredRenditions
from archiver.model.capture import RecordId
from archiver.model.rendering import PAGE_TYPE, NewRendition, RenditionKind, RenditionRef

ONE, TWO = RecordId("urn:uuid:1"), RecordId("urn:uuid:2")


def ref(kind: RenditionKind, media_type: str, record_id: RecordId = ONE) -> RenditionRef:
    return RenditionRef(kind, media_type, record_id)


@pytest.fixture
def stored_renditions():
    with StoredRenditions() as renditions:
        renditions.note(ForeignRendition(ONE, b"first"))
        renditions.note(ForeignRendition(TWO, b"second"))
        yield renditions


def test_one_named_rendition_of_each_kind_is_imported(stored_renditions):
    picture, page = RenditionKind.PICTURE, RenditionKind.PAGE
    named = [
        ref(picture, "image/webp", TWO),
        ref(picture, "image/jpeg"),
        ref(page, "text/html; charset=shift_jis"),
        ref(RenditionKind.PRINT, "application/pdf", RecordId("urn:uuid:3")),
    ]

    assert stored_renditions.of(named) == (
        NewRendition(picture, "image/webp", b"second"),
        NewRendition(page, PAGE_TYPE, b"first"),
    )


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        (RenditionKind.PICTURE, "text/html"),
        (RenditionKind.PICTURE, "image/svg+xml"),
        (RenditionKind.PRINT, "image/webp"),
        (RenditionKind.PAGE, "application/xhtml+xml"),
        (RenditionKind.THUMBNAIL, "image/webp\r\nX-Header: 1"),
        (RenditionKind.THUMBNAIL, ""),
        (RenditionKind.ICON, "image/svg+xml"),
        (RenditionKind.COVER, "image/webp"),
    ],
)
def test_invalid_renditions_are_left_out(stored_renditions, kind, media_type):
    assert stored_renditions.of([ref(kind, media_type)]) == ()


def test_the_number_of_list_places_is_limited(stored_renditions, monkeypatch):
    monkeypatch.setattr("archiver.formats.archive_records.MAX_STORED", 2)

    stored_renditions.note(ForeignRendition(RecordId("urn:uuid:3"), b"third"))

    assert (
        stored_renditions.of([ref(RenditionKind.PRINT, "application/pdf", RecordId("urn:uuid:3"))])
        == ()
    )
    assert MAX_STORED > 10_000
