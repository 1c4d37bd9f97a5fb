"""Deletion records: what was thrown away, as JSON in a metadata record of ours, and back.

They tell whoever reads the segments what is no part of the archive any more, though its records may
still be there, in this segment or another. Of an entry they hold the hash of its address alone.
"""

import json
from typing import Any

from archiver.errors import InvalidRecord
from archiver.model.capture import HashUrl, RecordId, Timestamp
from archiver.model.deletion import Deletion, Gone, GoneSnapshot, OwnArticle
from archiver.warc.annotation import iso, text
from archiver.warc.entry_record import FORMAT
from archiver.wire.moments import read_iso

DELETION_URI = "urn:archiver:deletion"
"""The WARC-Target-URI of these records: they are told from others without being read."""


def write_deletion(deletion: Deletion) -> dict[str, Any]:
    """The JSON document of a deletion record."""
    return {
        "format": FORMAT,
        "at": iso(deletion.at),
        "deletion": {
            "id": deletion.id,
            "gone": [_write_gone(each) for each in deletion.gone],
            "captures": [*deletion.captures],
            "restores": [*deletion.restores],
        },
    }


def read_deletion(block: bytes) -> Deletion:
    """The deletion in a record's block.

    Raises:
        InvalidRecord: there is none that can be read.
    """
    try:
        document = json.loads(block)
        held = document["deletion"]
        return Deletion(
            id=int(held["id"]),
            at=read_iso(document["at"]),
            gone=tuple(_read_gone(each) for each in held["gone"]),
            captures=tuple(RecordId(text(each)) for each in held["captures"]),
            restores=tuple(int(each) for each in held["restores"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord(f"A deletion record lacks or garbles {error}.") from error


def _write_gone(gone: Gone) -> dict[str, Any]:
    return {
        "hash_url": gone.hash_url,
        "generation": gone.generation,
        "snapshots": [[each.timestamp, each.page] for each in gone.snapshots],
        "articles": [[each.timestamp, each.article] for each in gone.articles],
    }


def _read_gone(held: dict[str, Any]) -> Gone:
    generation = held["generation"]
    return Gone(
        hash_url=HashUrl(text(held["hash_url"])),
        generation=None if generation is None else int(generation),
        snapshots=tuple(
            GoneSnapshot(Timestamp(text(timestamp)), RecordId(text(page)))
            for timestamp, page in held["snapshots"]
        ),
        articles=tuple(
            OwnArticle(Timestamp(text(timestamp)), RecordId(text(article)))
            for timestamp, article in held["articles"]
        ),
    )
