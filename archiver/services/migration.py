"""Migration of an archive between a folder and servers (database and object store).

Segments are copied and verified one by one. Then the index is rebuilt at the new location
(``reindex``), including the data that no segment contains. Progress is stored in the data
directory, so that an interrupted migration continues when it is run again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from archiver.config import Settings
from archiver.crawl.archive import forget_store, locations_of, open_archive, open_store_alone
from archiver.errors import ConfigurationError
from archiver.services.reindex import ReindexProgress, ReindexReport, reindex

_ONE_AT_A_TIME = (
    "The database of the index belongs to the current store. Move the index to a file first: "
    "`archiver migrate --to {}`."
)


async def migrate(
    to: Settings,
    *,
    remove: bool = False,
    on_segment: Callable[[str], None] = lambda _: None,
    on_index: Callable[[ReindexProgress], None] = lambda _: None,
) -> tuple[int, ReindexReport | None]:
    """Move an archive to another location; can be interrupted and repeated.

    Args:
        to: settings of the archive with its new location.
        remove: whether to remove segments from the old location afterwards.
        on_segment: called with the name of each segment before it is moved.
        on_index: called with the progress of rebuilding the index.

    Returns:
        The number of copied segments, and the rebuilt index or None.

    Raises:
        ConfigurationError: another process uses the archive, or a location can't be used.
        StoreError: a segment can't be moved.
    """
    index, store = await asyncio.to_thread(locations_of, to.data)
    now = replace(to, index=index, store=store)
    _refuse_impossible(now, to)
    async with open_archive(now):
        pass  # records of processes that died are indexed
    # Segments that move from a bucket to the folder are read from the bucket.
    during = replace(to, store=to.store or store)
    moved = await _move_segments(during, to, on_segment) if during.store else 0
    built = None if to.index == index else await reindex(during, on_index)
    if during.store:
        await _switch_to(during, to, remove=remove)
    return moved, built


def _refuse_impossible(now: Settings, to: Settings) -> None:
    if to.index and to.index == now.index and to.store != now.store:
        raise ConfigurationError(_ONE_AT_A_TIME.format(now.store or "folder"))
    if now.store and to.store and now.store != to.store:
        raise ConfigurationError(
            "An archive cannot be moved from one store to another directly. Move it to a folder "
            "first."
        )


async def _move_segments(
    settings: Settings, to: Settings, on_segment: Callable[[str], None]
) -> int:
    """Copy all segments into the store, or out of it; return their number."""
    async with open_store_alone(settings) as store:
        storage = store.storage
        move, survey = (
            (storage.upload, storage.survey_local)
            if to.store
            else (storage.download, storage.survey)
        )
        files = (await asyncio.to_thread(survey)).segments
        # Segments written by other programs stay in the folder and are read there.
        names = [each.name for each in files if each.writer]
        for name in names:
            on_segment(name)
            await asyncio.to_thread(move, name)
        return len(names)


async def _switch_to(settings: Settings, to: Settings, *, remove: bool) -> None:
    """Switch the archive to its new location."""
    async with open_store_alone(settings) as store:
        storage = store.storage
        if to.store:
            await asyncio.to_thread(storage.forget, 0 if remove else settings.uploaded_bytes)
            return
        if remove:
            await asyncio.to_thread(storage.empty)
        await asyncio.to_thread(forget_store, settings.data)
