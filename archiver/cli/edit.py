"""``archiver edit``."""

from collections.abc import Sequence
from typing import Any

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.annotation_change import AnnotationChange
from archiver.model.listing import ListingQuery
from archiver.runtime import open_runtime


def run(settings: Settings, *, refs: Sequence[str], query: str | None, **wanted: Any) -> int:
    """Change entries, and write that down before it ends; ``wanted`` is an AnnotationChange."""
    if bool(refs) == bool(query):
        raise InputError("Name the entries, or say with --query what finds them.")
    return run_until_signal(_edit(settings, refs, query, AnnotationChange(**wanted)))


async def _edit(
    settings: Settings, refs: Sequence[str], query: str | None, change: AnnotationChange
) -> int:
    async with open_runtime(settings) as runtime:
        editing = runtime.editing
        if query:
            edited = await editing.change_found(ListingQuery(q=query), change)
        else:
            edited = await editing.change(refs, change)
        await runtime.crawling.write_down_changes()
    write_row("found", str(edited.found))
    write_row("changed", str(edited.changed))
    return 0
