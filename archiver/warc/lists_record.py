"""The records of lists: which there are, in which order, and what is searched for by some.

What lies in a list is said by the entry records (``Annotation.folders``); these hold what no entry
can say: lists without entries, saved searches, and the order of all.
"""

import json
from typing import Any

from archiver.errors import InvalidRecord
from archiver.model.entry_list import Arrangement, EntryList
from archiver.warc.annotation import iso, text
from archiver.warc.entry_record import FORMAT
from archiver.wire.moments import read_iso

LISTS_URI = "urn:archiver:lists"
"""The WARC-Target-URI of these records."""
LISTS = "lists"


def write_arrangement(arrangement: Arrangement) -> dict[str, Any]:
    """The JSON document of such a record."""
    return {
        "format": FORMAT,
        "at": iso(arrangement.at),
        "revision": arrangement.revision,
        LISTS: [
            {"path": each.path, **({"query": each.query} if each.query else {})}
            for each in arrangement.lists
        ],
    }


def read_arrangement(block: bytes) -> Arrangement:
    """The arrangement in a record's block.

    Raises:
        InvalidRecord: there is none that can be read.
    """
    try:
        document = json.loads(block)
        lists = tuple(
            EntryList(text(each["path"]), text(each.get("query", "")))
            for each in document[LISTS]
            if each["path"]
        )
        return Arrangement(int(document["revision"]), read_iso(document["at"]), lists)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord(f"A record of lists lacks or garbles {error}.") from error
