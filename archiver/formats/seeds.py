"""Validation of links from imported rows."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import islice
from unicodedata import normalize

from archiver.http.text_decoders import well_formed
from archiver.http.urls import hash_url, host, parse_entry_url, unwrapped
from archiver.model.annotation import (
    Annotation,
    bounded_source_record,
    merged_source_records,
    unique_tags,
    write_source_record,
)
from archiver.model.entry_list import MAX_PLACE, folder_names, folder_path
from archiver.model.seed import Seed

MAX_TAGS = 100
MAX_TAG_CHARACTERS = 100
MAX_TITLE = 2000
MAX_NOTE = 100_000
MAX_SOURCE = 2000
MAX_URL_GIVEN = 64 << 10
MAX_FOLDERS = 100
_MAX_EXAMINED = 1000
"""Maximum number of characters of a tag, and maximum number of tags, that are examined."""
_MAX_CUT_OFF = 50_000
"""Maximum characters of a too long title or note that are stored in the source record."""
_MAX_CACHED = 1_000
"""Maximum characters of a folder path whose tidy form is cached."""


def seed_of(annotation: Annotation, *, now: datetime) -> Seed:
    """Return a seed for a link. Its saving time is ``now`` unless the link has a date.

    Raises:
        InvalidUrl: the URL of the link cannot be archived.
    """
    url = parse_entry_url(unwrapped(annotation.url_given))
    return Seed(hash_url(url), url, host(url), annotation.dated(now))


def bounded(annotation: Annotation, *, source: str = "") -> Annotation:
    """Limit the lengths of the texts in an untrusted annotation.

    Text that is removed from the title, tags, note and folders is added to the source record, up to
    a maximum length.

    Args:
        annotation: the annotation.
        source: the source of an annotation that has none.
    """
    lists = _bounded_lists(annotation)
    record = bounded_source_record(well_formed(annotation.source_record))
    return replace(
        annotation,
        url_given=well_formed(annotation.url_given[:MAX_URL_GIVEN]),
        title=well_formed(annotation.title.strip()[:MAX_TITLE]),
        tags=bounded_tags(annotation.tags),
        note=well_formed(annotation.note.strip()[:MAX_NOTE]),
        source=well_formed((annotation.source or source)[:MAX_SOURCE]),
        folders=tuple(lists),
        places=tuple(lists.values()) if any(lists.values()) else (),
        source_record=merged_source_records(record, _removed_text(annotation)),
    )


def _removed_text(annotation: Annotation) -> str:
    """Return a line for the source record with texts that ``bounded`` removes; empty if none.

    The line has the complete title and tags, but only the removed part of the note and folders.
    All these texts are limited, too.
    """
    title, note = annotation.title.strip(), annotation.note.strip()
    more = {
        "title": title[:_MAX_CUT_OFF] if len(title) > MAX_TITLE else "",
        "tags": [
            each[:_MAX_EXAMINED]
            for place, each in enumerate(annotation.tags[:_MAX_EXAMINED])
            if place >= MAX_TAGS or len(each.strip()) > MAX_TAG_CHARACTERS
        ],
        "note": note[MAX_NOTE:][:_MAX_CUT_OFF],
        "folders": annotation.folders[MAX_FOLDERS:_MAX_EXAMINED],
    }
    texts = {name: each for name, each in more.items() if each}
    return well_formed(write_source_record({"cut off": texts})) if texts else ""


def _bounded_lists(annotation: Annotation) -> dict[str, int]:
    """Return the lists of an annotation: path of each list, with the link's position in the list.

    The length and number of paths are limited. A position out of range becomes 0, which means the
    end of the list.
    """
    lists = {}
    for folder, place in islice(annotation.lists.items(), MAX_FOLDERS):
        if path := tidy_folder(folder):
            lists[path] = place if 0 <= place <= MAX_PLACE else 0
    return lists


def tidy_tag(tag: str) -> str:
    """Normalise the Unicode characters and white space in the name of a tag or list.

    NFC is needed because macOS writes é as two characters. U+0000 is removed, because it would end
    a text in SQLite's JSON.
    """
    return " ".join(normalize("NFC", well_formed(tag)).replace("\0", "").split())


def tidy_folder(path: str) -> str:
    """Normalise the names in a folder path like tags, and limit their length and number."""
    # Many links are in the same folder, so results are cached; long paths would fill the memory.
    return (_cached_folder if len(path) <= _MAX_CACHED else _tidy_folder)(path)


def _tidy_folder(path: str) -> str:
    return folder_path(map(tidy_tag, folder_names(path)))


_cached_folder = lru_cache(4096)(_tidy_folder)


def bounded_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Limit the length and number of untrusted tags, and remove duplicates."""
    bounded = [_bounded_tag(tag.lstrip()[:_MAX_EXAMINED]) for tag in tags[:MAX_TAGS]]
    return unique_tags(filter(None, bounded))


@lru_cache(4096)
def _bounded_tag(tag: str) -> str:
    return tidy_tag(tag)[:MAX_TAG_CHARACTERS]
