"""``archiver edit``."""

from collections.abc import Sequence
from typing import Any

from archiver.app import open_app
from archiver.cli.asking import ask_about, tell_undo
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.annotation_change import AnnotationChange
from archiver.model.listing import ListingQuery


def run(
    settings: Settings,
    *,
    refs: Sequence[str],
    query: str | None,
    undo: int | None,
    yes: bool,
    **wanted: Any,
) -> int:
    """Change entries, or undo that, and write it down before it ends.

    ``wanted`` is an AnnotationChange.
    """
    if sum((bool(refs), bool(query), undo is not None)) != 1:
        raise InputError("Name the entries, or say with --query what finds them.")
    if not yes:
        ask_about(settings, query, "Change")
    return run_until_signal(_edit(settings, refs, query, undo, AnnotationChange(**wanted)))


async def _edit(
    settings: Settings,
    refs: Sequence[str],
    query: str | None,
    undo: int | None,
    change: AnnotationChange,
) -> int:
    async with open_app(settings) as runtime:
        editing = runtime.editing
        if undo is not None:
            edited = await editing.undo(undo)
        elif query:
            edited = await editing.change_found(ListingQuery(q=query), change)
        else:
            edited = await editing.change(refs, change)
        await runtime.crawling.write_down_changes()
    write_row("found", str(edited.found))
    write_row("changed", str(edited.changed))
    if edited.changed and undo is None:
        tell_undo("edit", edited.id)
    return 0
