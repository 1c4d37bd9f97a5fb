"""A snapshot has one rendition of each kind."""

from archiver.model.capture import Location, RecordId
from archiver.model.rendering import Rendition, RenditionKind, RenditionRef, renditions_of

ICON, COVER = RenditionKind.ICON, RenditionKind.COVER


def test_of_two_renditions_of_a_kind_the_first_existing_is_used():
    ids = [RecordId(f"urn:uuid:{number}") for number in range(4)]
    named = [
        RenditionRef(kind, "image/webp", record, "")
        for kind, record in zip([ICON, ICON, COVER, ICON], ids, strict=True)
    ]
    places = {record: Location("a", offset, 1) for offset, record in enumerate(ids)}
    del places[ids[0]]

    found = renditions_of(named, places)

    assert set(found) == {
        Rendition(ICON, "image/webp", places[ids[1]]),
        Rendition(COVER, "image/webp", places[ids[2]]),
    }
    assert len(found) == 2
