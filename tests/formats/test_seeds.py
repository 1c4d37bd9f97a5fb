"""What a stranger says of a link is cut where it is too long, and nothing else is lost of it."""

from archiver.formats.seeds import MOST_TAG_CHARACTERS, bounded
from archiver.model.annotation import Annotation


def test_a_tag_behind_much_white_space_is_still_a_tag():
    given = (" " * 2000 + "otter", "\n" * 2000, "x" * 2000)

    said = bounded(Annotation("https://a.example/", tags=given))

    assert said.tags == ("otter", "x" * MOST_TAG_CHARACTERS)
