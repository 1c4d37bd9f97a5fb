"""What imports look up: which record ids are taken, and payloads by the digests others state.

Imports alone fill both tables, as far as they need them: an index over the record id of every
capture would cost each crawled URL what only an import asks for. Both are lost with the index, and
filled again by the next import and by ``ledger.rebuild``.
"""

from collections.abc import Mapping, Sequence
from hashlib import md5

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import counters, tombstones
from archiver.index.bulk import Clash, among, among_texts, insert_rows
from archiver.index.digests import from_blob, to_blob
from archiver.index.schema import capture, counter, record_id_seen, stated_digest
from archiver.model.capture import PayloadDigest, RecordId

STRETCH = 20_000
_LAST_SEEN = "record ids seen"


async def note_record_ids(conn: AsyncConnection) -> bool:
    """Note the record ids of some captures that are new in the index; whether there may be more."""
    last = await conn.execute(select(counter.c.value).where(counter.c.name == _LAST_SEEN))
    found = await conn.execute(
        select(capture.c.id, capture.c.record_id)
        .where(capture.c.id > (last.scalar() or 0))
        .order_by(capture.c.id)
        .limit(STRETCH)
    )
    rows = found.all()
    if rows:
        keys = sorted({(_key(row.record_id),) for row in rows})
        await insert_rows(conn, record_id_seen, ("id",), keys, Clash.STAYS)
        await counters.put(conn, {_LAST_SEEN: rows[-1].id})
    return len(rows) == STRETCH


async def taken(conn: AsyncConnection, record_ids: Sequence[RecordId]) -> set[RecordId]:
    """Which of these record ids captures have, as far as they were noted, or had."""
    keys = {_key(each): each for each in record_ids}
    rows = await conn.execute(
        select(record_id_seen.c.id).where(record_id_seen.c.id.in_(among(keys)))
    )
    return {keys[key] for key in rows.scalars()} | await tombstones.captures(conn, record_ids)


async def note_stated_digests(conn: AsyncConnection, digests: Mapping[str, PayloadDigest]) -> None:
    """Note that payloads have other digests too: by those, such as ``sha1:`` and hex digits."""
    rows = [(stated, to_blob(ours)) for stated, ours in digests.items()]
    await insert_rows(conn, stated_digest, ("digest", "payload_digest"), sorted(rows), Clash.GOES)


async def by_stated_digest(
    conn: AsyncConnection, digests: Sequence[str]
) -> dict[str, PayloadDigest]:
    """The payloads that have these digests, of those that were noted."""
    rows = await conn.execute(
        select(stated_digest.c.digest, stated_digest.c.payload_digest).where(
            stated_digest.c.digest.in_(among_texts(digests))
        )
    )
    return {row.digest: from_blob(row.payload_digest) for row in rows}


def _key(record_id: str) -> int:
    """63 bits of an id: two that share them by chance only cost one of them its name."""
    return int.from_bytes(md5(record_id.encode(), usedforsecurity=False).digest()[:8]) >> 1
