"""Validation of links from imported rows."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any
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
from archiver.model.entry_list import MAX_PLACE, folder_names, folder_path, is_short
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
_BOUNDED = ("title", "tags", "note", "source", "url_given", "folders", "source_record")
_bounded_fields = attrgetter(*_BOUNDED)


def seed_of(annotation: Annotation, *, now: datetime) -> Seed:
    """Return a seed for a link. Its saving time is ``now`` unless the link has a date.

    Raises:
        InvalidUrl: the URL of the link cannot be archived.
    """
    url = parse_entry_url(unwrapped(annotation.url_given))
    return Seed(hash_url(url), url, host(url), annotation.dated(now))


def bounded(annotation: Annotation) -> Annotation:
    """Limit the lengths of the texts in an untrusted annotation.

    Text that is removed from the title, tags, note and folders is added to the source record, up to
    a maximum length.
    """
    fields = _bounded_fields(annotation)
    title, tags, note, source, url_given, folders, record = fields
    cut = (
        well_formed(title.strip()[:MAX_TITLE]),
        bounded_tags(tags) if tags else (),
        well_formed(note.strip()[:MAX_NOTE]) if note else "",
        well_formed(source[:MAX_SOURCE]),
        url_given[:MAX_URL_GIVEN],
        _bounded_folders(folders) if folders else (),
        _bounded_record(record),
    )
    # Most annotations are unchanged, and creating a copy costs more than the checks above.
    changed: dict[str, Any] = dict(zip(_BOUNDED, cut, strict=True)) if cut != fields else {}
    if changed and (removed := _removed_text(annotation)):
        changed["source_record"] = merged_source_records(cut[-1], removed)
    result = replace(annotation, **changed) if changed else annotation
    return result.in_lists(_bounded_lists(annotation)) if annotation.places else result


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
    both = ((_bounded_folders((path,)), place) for path, place in annotation.lists.items())
    named = [(paths[0], place if 0 <= place <= MAX_PLACE else 0) for paths, place in both if paths]
    return dict(named[:MAX_FOLDERS])


def _bounded_record(record: str) -> str:
    return bounded_source_record(well_formed(record)) if record else ""


def tidy_tag(tag: str) -> str:
    """Normalise the Unicode characters and white space in the name of a tag or list.

    NFC is needed because macOS writes é as two characters. U+0000 is removed, because it would end
    a text in SQLite's JSON.
    """
    return " ".join(normalize("NFC", well_formed(tag)).replace("\0", "").split())


def bounded_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Limit the length and number of untrusted tags, and remove duplicates."""
    bounded = [_bounded_tag(tag.lstrip()[:_MAX_EXAMINED]) for tag in tags[:MAX_TAGS]]
    return unique_tags(filter(None, bounded))


@lru_cache(4096)
def _bounded_tag(tag: str) -> str:
    return tidy_tag(tag)[:MAX_TAG_CHARACTERS]


def _bounded_folders(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Limit the length and number of untrusted folders.

    Results for short folders are cached, because many links are in the same folder.
    """
    return (_cached_folders if is_short(folders) else _tidy_folders)(folders)


def _tidy_folders(folders: tuple[str, ...]) -> tuple[str, ...]:
    paths = (folder_path(map(tidy_tag, folder_names(each))) for each in folders[:MAX_FOLDERS])
    return tuple(dict.fromkeys(filter(None, paths)))


_cached_folders = lru_cache(4096)(_tidy_folders)
