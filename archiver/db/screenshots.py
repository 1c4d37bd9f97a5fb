"""Renditions of snapshots: screenshots, thumbnails, icons, preview images and rendered pages."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, delete, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import THESE, among
from archiver.db.schema import capture, rendition, segment, snapshot
from archiver.db.statements import insert_rows
from archiver.http.surt import surt_key
from archiver.model.capture import Capture, Location
from archiver.model.rendering import (
    PREVIEW_KINDS,
    PreviewImages,
    Rendering,
    Rendition,
    RenditionKind,
)

NEAR = 1000
"""Maximum difference of the 14-digit timestamps of a capture and of the rendered capture.

It is about ten minutes. The captures differ if a page requests its own URL while it is rendered,
because that request is stored as another capture.
"""


async def put(
    conn: AsyncConnection, renditions: dict[int, tuple[Rendition, ...]], segments: Mapping[str, int]
) -> None:
    """Replace the renditions of snapshots.

    Args:
        conn: a writing connection.
        renditions: the new renditions by row id of the snapshot.
        segments: row ids of segments by name.
    """
    if not renditions:
        return
    await conn.execute(delete(rendition).where(rendition.c.snapshot_id.in_(among(renditions))))
    rows = [
        {
            "snapshot_id": row_id,
            "kind": each.kind,
            "media_type": each.media_type,
            "segment_id": segments[each.location.segment],
            "offset": each.location.offset,
            "length": each.location.length,
            "digest": each.digest,
        }
        for row_id, many in renditions.items()
        for each in many
    ]
    await insert_rows(conn, rendition, rows)


async def of_snapshots(
    conn: AsyncConnection, row_ids: Sequence[int]
) -> dict[int, tuple[Rendition, ...]]:
    """Return the renditions of snapshots by row id."""
    rows = await conn.execute(
        select(rendition, segment.c.name)
        .join(segment, segment.c.id == rendition.c.segment_id)
        .where(rendition.c.snapshot_id.in_(among(row_ids)))
        .order_by(rendition.c.snapshot_id, rendition.c.kind)
    )
    renditions: dict[int, list[Rendition]] = defaultdict(list)
    for row in rows:
        renditions[row.snapshot_id].append(_rendition(row))
    return {row_id: tuple(many) for row_id, many in renditions.items()}


_PREVIEW_IMAGES = select(rendition.c.snapshot_id, rendition.c.kind, rendition.c.digest).where(
    rendition.c.snapshot_id.in_(THESE), rendition.c.kind.in_(PREVIEW_KINDS)
)


async def preview_images_of(
    conn: AsyncConnection, row_ids: Sequence[int]
) -> dict[int, PreviewImages]:
    """Return icon and preview image of snapshots by row id.

    The preview image is the one that the page declares, or else a thumbnail of the screenshot.
    """
    rows = await conn.execute(_PREVIEW_IMAGES, {"these": row_ids})
    urls: dict[int, dict[str, str]] = defaultdict(dict)
    for row in rows:
        urls[row.snapshot_id][row.kind] = row.digest
    return {
        row_id: PreviewImages(
            page_urls.get(RenditionKind.ICON, ""),
            page_urls.get(RenditionKind.COVER) or page_urls.get(RenditionKind.THUMBNAIL, ""),
        )
        for row_id, page_urls in urls.items()
    }


async def by_digest(conn: AsyncConnection, digest: str) -> Rendition | None:
    """Return the icon or preview image with a digest, if any."""
    query = (
        select(rendition, segment.c.name)
        .join(segment, segment.c.id == rendition.c.segment_id)
        .where(rendition.c.digest == digest, rendition.c.digest != literal_column("''"))
        .limit(1)
    )
    row = (await conn.execute(query)).one_or_none()
    return _rendition(row) if row else None


async def page_of(conn: AsyncConnection, shown: Capture) -> Location | None:
    """Return the location of the rendered page that replay shows instead of a capture, if any."""
    moment = int(shown.timestamp)
    query = (
        select(segment.c.name, rendition.c.offset, rendition.c.length)
        .select_from(capture)
        .join(snapshot, snapshot.c.capture_id == capture.c.id)
        .join(rendition, rendition.c.snapshot_id == snapshot.c.id)
        .join(segment, segment.c.id == rendition.c.segment_id)
        .where(
            capture.c.surt == surt_key(shown.url),
            capture.c.url == shown.url,
            capture.c.timestamp.between(moment - NEAR, moment + NEAR),
            snapshot.c.rendering == Rendering.DONE,
            rendition.c.kind == RenditionKind.PAGE,
        )
        .order_by(func.abs(capture.c.timestamp - moment))
        .limit(1)
    )
    row = (await conn.execute(query)).one_or_none()
    return Location(*row) if row else None


def _rendition(row: Row[*tuple[Any, ...]]) -> Rendition:
    place = Location(row.name, row.offset, row.length)
    return Rendition(RenditionKind(row.kind), row.media_type, place, row.digest)
