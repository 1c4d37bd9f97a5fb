"""``archiver imports``."""

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_json, write_row
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.importing import ImportStatus, ImportUndone
from archiver.wire.moments import write_iso


def run(
    settings: Settings, *, action: str | None, number: int | None, as_json: bool, reason: str | None
) -> int:
    """Print the newest imports, or do something about one."""
    if action is None:
        return run_until_signal(_list(settings, as_json=as_json))
    if number is None:
        raise InputError("Say which import: `archiver imports` prints their numbers.")
    if action == "undo":
        return run_until_signal(_undo(settings, number, as_json=as_json))
    if action == "failed":
        return run_until_signal(_failed(settings, number, as_json=as_json))
    if action == "capture":
        return run_until_signal(_capture(settings, number))
    return run_until_signal(_again(settings, number, reason))


async def _list(settings: Settings, *, as_json: bool) -> int:
    async with open_app(settings, reads_only=True) as app:
        statuses = app.import_statuses
        found = await statuses.recent()
    if as_json:
        write_json(found)
        return 0
    for each in found:
        write_row(
            str(each.id), write_iso(each.started_at)[:10], each.phase, each.name, _numbers(each)
        )
        if each.error:
            write_row("", "", "", "", each.error)
        if each.undone:
            write_row("", "", "", "", _how_undone(each.undone, is_put_back=each.is_put_back))
    return 0


async def _undo(settings: Settings, number: int, *, as_json: bool) -> int:
    async with open_app(settings) as runtime:
        status = await runtime.imports.status(number)
        if status.undone and status.undone.is_done and not status.is_put_back:
            raise InputError(f"Import {number} is undone already.")
        done = await runtime.import_undo.undo(number)
        await runtime.crawling.write_down_changes()
    if as_json:
        write_json(done)
        return 0
    write_row("removed", str(done.removed))
    if done.deletion:
        write_row("undo", str(done.deletion))
    return 0


async def _failed(settings: Settings, number: int, *, as_json: bool) -> int:
    async with open_app(settings) as runtime:
        await runtime.imports.status(number)
        found = await runtime.oversight.failures_of(number)
    if as_json:
        write_json(found)
        return 0
    for each in found:
        write_row(str(each.entries), each.reason)
    return 0


async def _again(settings: Settings, number: int, reason: str | None) -> int:
    async with open_app(settings) as runtime:
        await runtime.imports.status(number)
        failed = await runtime.oversight.failures_of(number)
        wanted = [reason] if reason else [each.reason for each in failed]
        queued = [await runtime.oversight.try_again(each, number) for each in wanted]
    write_row("queued", str(sum(queued)))
    return 0


async def _capture(settings: Settings, number: int) -> int:
    async with open_app(settings) as runtime:
        await runtime.imports.status(number)
        queued = await runtime.oversight.capture_links(number)
    write_row("queued", str(queued))
    return 0


def _how_undone(undone: ImportUndone, *, is_put_back: bool) -> str:
    if is_put_back:
        return "undone, and put back"
    return "undone" if undone.is_done else "undone in part"


def _numbers(status: ImportStatus) -> str:
    what = "captures" if status.is_archive else "links"
    counts = status.counts
    links = f"{status.without_capture:,} without capture, " if status.without_capture else ""
    return (
        f"{status.read:,} {what} read, {status.merged:,} merged, {counts.open:,} waiting, {links}"
        f"{counts.saved:,} saved, {counts.failed:,} failed, {status.rejected:,} unusable"
    )
