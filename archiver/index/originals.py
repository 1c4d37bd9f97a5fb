"""Which record holds a payload: the first response of that digest, at any URL or at one."""

from collections.abc import Sequence

from sqlalchemy import CTE, ScalarSelect, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import captures
from archiver.index.digests import to_blob
from archiver.index.schema import capture, capture_table
from archiver.model.capture import Capture, PayloadDigest
from archiver.urls.surt import surt

_PAYLOAD = (capture.c.payload_digest,)
_PAIR = (capture.c.surt, capture.c.url, capture.c.payload_digest)


def _holder(wanted: CTE) -> ScalarSelect[int]:
    """The first response record of each wanted payload."""
    return (
        select(capture.c.id)
        .where(capture.c.payload_digest == wanted.c.payload_digest, capture.c.is_revisit == 0)
        .order_by(capture.c.is_chunked, capture.c.id)
        .limit(1)
        .scalar_subquery()
    )


def _holder_of_url(wanted: CTE) -> ScalarSelect[int]:
    """A response record of each wanted URL and payload."""
    # Many URLs may have one payload. With "< 1" the index of payloads does not apply.
    return (
        select(capture.c.id)
        .where(*(capture.c[each.name] == each for each in wanted.c), capture.c.is_revisit < 1)
        .limit(1)
        .scalar_subquery()
    )


async def original_of(conn: AsyncConnection, digest: PayloadDigest) -> Capture | None:
    """The response record that holds a payload."""
    return (await originals(conn, [digest])).get(digest)


async def holder_of(conn: AsyncConnection, digest: PayloadDigest) -> Capture | None:
    """The response record that holds a payload; a deleted one, if no other does."""
    if found := await original_of(conn, digest):
        return found
    own = capture_table.c
    query = captures.ALL_CAPTURES.where(own.payload_digest == to_blob(digest), own.is_revisit == 0)
    row = (await conn.execute(query.order_by(own.id).limit(1))).one_or_none()
    return captures.to_capture(row) if row else None


async def originals(
    conn: AsyncConnection, digests: Sequence[PayloadDigest]
) -> dict[PayloadDigest, Capture]:
    """For each digest whose payload is stored, the first response record that holds it.

    One without chunk framing goes before one with.
    """
    found = await captures.found_by(
        conn, _PAYLOAD, [_holder], [(to_blob(each),) for each in digests]
    )
    return {each.payload_digest: each for each in found}


async def originals_of_urls(
    conn: AsyncConnection, wanted: Sequence[tuple[str, PayloadDigest]]
) -> dict[tuple[str, PayloadDigest], Capture]:
    """For each URL and digest, a response record of that URL that holds that payload."""
    keys = [(surt(url), url, to_blob(digest)) for url, digest in wanted]
    found = await captures.found_by(conn, _PAIR, [_holder_of_url], keys)
    return {(each.url, each.payload_digest): each for each in found}
