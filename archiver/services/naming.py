"""Which entry somebody means: by its hash_url, the beginning of one, or its URL."""

import re

from archiver.errors import InputError, NotFound
from archiver.index import entries
from archiver.index.database import AsyncConnection
from archiver.model.capture import HashUrl
from archiver.model.entry import Entry
from archiver.urls.parse import hash_url, is_hash_url, parse_url
from archiver.urls.pasted import with_scheme

_BEGINNING = re.compile("[0-9a-f]{4,31}")


async def find_entry(conn: AsyncConnection, ref: str) -> tuple[int, Entry]:
    """An entry by its hash_url or its URL, with its row id.

    Raises:
        NotFound: there is none.
        InvalidUrl: it is neither a hash_url nor a URL.
    """
    if _BEGINNING.fullmatch(ref):
        return await _begun(conn, ref)
    key = HashUrl(ref) if is_hash_url(ref) else hash_url(parse_url(with_scheme(ref)))
    found = await entries.by_hash(conn, key)
    if found is None:
        raise NotFound("{ref} is not in the archive.", ref=ref)
    return found


async def _begun(conn: AsyncConnection, beginning: str) -> tuple[int, Entry]:
    found = await entries.begun(conn, beginning, limit=2)
    if len(found) > 1:
        raise InputError(
            "More than one hash_url begins with {beginning}. Give more of it.", beginning=beginning
        )
    if not found:
        raise NotFound("No hash_url begins with {beginning}.", beginning=beginning)
    known = await entries.by_hash(conn, found[0])
    if known is None:
        raise NotFound("No hash_url begins with {beginning}.", beginning=beginning)
    return known
