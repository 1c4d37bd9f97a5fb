"""``archiver delete``."""

from collections.abc import Sequence

import click

from archiver.app import App, open_app
from archiver.cli.asking import ask_about, tell_undo
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.listing import ListingQuery
from archiver.model.message import counted
from archiver.services.deleting import Deleted, Restored


def run(
    settings: Settings,
    *,
    refs: Sequence[str],
    query: str | None,
    snapshot: str | None,
    undo: int | None,
    yes: bool,
) -> int:
    """Throw away what is named, or put it back, and write that down before it ends."""
    if sum((bool(refs), bool(query), undo is not None)) != 1:
        raise InputError("Name the entries, or say with --query what finds them.")
    if snapshot and len(refs) != 1:
        raise InputError("A snapshot is of one entry; name that alone.")
    if not yes:
        ask_about(settings, query, "Delete")
    return run_until_signal(_delete(settings, refs, query, snapshot, undo))


async def _delete(
    settings: Settings,
    refs: Sequence[str],
    query: str | None,
    snapshot: str | None,
    undo: int | None,
) -> int:
    async with open_app(settings) as runtime:
        if undo is not None:
            done: Deleted | Restored = await runtime.deleting.undo(undo)
        else:
            done = await _throw_away(runtime, refs, query, snapshot)
        await runtime.crawling.write_down_changes()
    write_row("entries", str(done.entries))
    write_row("snapshots", str(done.snapshots))
    if isinstance(done, Restored):
        _name_others(done)
    elif done.entries or done.snapshots:
        tell_undo("delete", done.id)
    return 0


def _name_others(done: Restored) -> None:
    if done.stayed:
        message = counted(
            "{count} entry was not put back: it was saved, or deleted, again since.",
            "{count} entries were not put back: they were saved, or deleted, again since.",
            count=done.stayed,
        )
        click.echo(f"archiver: {message}", err=True)


async def _throw_away(
    runtime: App, refs: Sequence[str], query: str | None, snapshot: str | None
) -> Deleted:
    if query:
        return await runtime.deleting.found(ListingQuery(q=query))
    if snapshot:
        return await runtime.deleting.snapshot(refs[0], snapshot)
    return await runtime.deleting.entries(refs)
