"""Migration of an archive between a folder and servers (database and object store).

Segments are copied and verified one by one. Then the index is rebuilt at the new location
(``reindex``), including the data that no segment contains. Progress is stored in the data
directory, so that an interrupted migration continues when it is run again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from archiver.config import Settings
from archiver.crawl.archive import forget_store, locations_of, open_archive, open_store_alone
from archiver.errors import ConfigurationError
from archiver.services.reindex import OnProgress, ReindexReport, reindex

_NOT_DIRECTLY = (
    "Segments cannot be moved from one store to another, nor while their index stays in the same "
    "database. Move the archive to a folder first: `archiver migrate --to folder`."
)


async def migrate(
    to: Settings,
    *,
    remove: bool = False,
    on_segment: Callable[[str], None] = lambda _: None,
    on_index: OnProgress = lambda _, __: None,
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
    locations = await asyncio.to_thread(locations_of, to.data)
    index, store = (each or None for each in locations[:2])
    if store != to.store and ((store and to.store) or (index and index == to.index)):
        raise ConfigurationError(_NOT_DIRECTLY)
    async with open_archive(replace(to, index=index, store=store)):
        pass  # records of processes that died are indexed
    # Segments that move from a bucket to the folder are read from the bucket.
    during = replace(to, store=to.store or store)
    moved = await _move_segments(during, to, on_segment) if during.store else 0
    built = None if to.index == index else await reindex(during, on_index)
    if during.store:
        await _switch_to(during, to, remove=remove)
    return moved, built


async def _move_segments(
    settings: Settings, to: Settings, on_segment: Callable[[str], None]
) -> int:
    """Copy all segments into the store, or out of it; return their number."""
    async with open_store_alone(settings) as store:
        storage = store.storage
        move, survey = storage.download, storage.survey
        if to.store:
            move, survey = storage.upload, storage.survey_local
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
        if remove:
            storage = store.storage
            await asyncio.to_thread(partial(storage.forget, 0) if to.store else storage.empty)
        if not to.store:
            await asyncio.to_thread(forget_store, settings.data)
