"""Entry lookup by hash or URL."""

import re

from archiver.db import entries
from archiver.db.engine import AsyncConnection
from archiver.errors import InputError, InvalidUrl, NotFound
from archiver.http.urls import hash_url, is_hash_url, parse_url, with_scheme
from archiver.model.capture import HashUrl
from archiver.model.entry import Entry

_FEWEST = 4
_LONGEST_SHOWN = 100
_BEGINNING = re.compile("[0-9a-f]{1,31}")


async def find_entry(conn: AsyncConnection, ref: str) -> tuple[int, Entry]:
    """Return an entry and its row id by hash_url or URL.

    Raises:
        NotFound: there is none.
        InvalidUrl: it is neither a hash_url nor a URL.
    """
    if _BEGINNING.fullmatch(ref):
        return await _begun(conn, ref)
    key = HashUrl(ref) if is_hash_url(ref) else _of_url(ref)
    found = await entries.by_hash(conn, key)
    if found is None:
        raise NotFound("{ref} is not in the archive.", ref=ref)
    return found


def _of_url(ref: str) -> HashUrl:
    try:
        return hash_url(parse_url(with_scheme(ref)))
    except InvalidUrl:
        raise InvalidUrl(
            "{ref} names no entry: give the address of its page (https://…), its hash_url, or the "
            "beginning of that.",
            ref=ref[:_LONGEST_SHOWN],
        ) from None


async def _begun(conn: AsyncConnection, beginning: str) -> tuple[int, Entry]:
    if len(beginning) < _FEWEST:
        raise InputError(
            "{beginning} is too short for the beginning of a hash_url: give {fewest} characters "
            "of it at least, all of it, or the address of the page.",
            beginning=beginning,
            fewest=_FEWEST,
        )
    found = await entries.begun(conn, beginning, limit=2)
    if len(found) > 1:
        raise InputError(
            "More than one hash_url begins with {beginning}, among them {one} and {other}. "
            "Give more of it.",
            beginning=beginning,
            one=found[0],
            other=found[1],
        )
    if not found:
        raise NotFound("No hash_url begins with {beginning}.", beginning=beginning)
    known = await entries.by_hash(conn, found[0])
    if known is None:
        raise NotFound("No hash_url begins with {beginning}.", beginning=beginning)
    return known
