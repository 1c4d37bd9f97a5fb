"""Of each kind a snapshot has one likeness."""

from archiver.model.capture import Location, RecordId
from archiver.model.rendering import Likeness, LikenessKind, LikenessRef, likenesses_of

ICON, COVER = LikenessKind.ICON, LikenessKind.COVER


def test_a_record_that_names_two_of_a_kind_has_the_first_that_is_there():
    ids = [RecordId(f"urn:uuid:{number}") for number in range(4)]
    named = [
        LikenessRef(kind, "image/webp", record, "")
        for kind, record in zip([ICON, ICON, COVER, ICON], ids, strict=True)
    ]
    places = {record: Location("a", offset, 1) for offset, record in enumerate(ids)}
    del places[ids[0]]

    found = likenesses_of(named, places)

    assert set(found) == {
        Likeness(ICON, "image/webp", places[ids[1]]),
        Likeness(COVER, "image/webp", places[ids[2]]),
    }
    assert len(found) == 2
