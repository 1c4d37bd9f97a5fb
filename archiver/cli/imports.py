"""Commands for imports."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from archiver.app import App, open_app
from archiver.cli.event_loop import run_until_signal
from archiver.cli.terminal import print_undo, progress_bar, write_json, write_row, write_table
from archiver.config import Settings
from archiver.errors import ArchiverError, InputError
from archiver.http.timestamps import write_iso
from archiver.model.imports import (
    CaptureWhen,
    Choices,
    Counted,
    ImportStatus,
    ImportSurvey,
    ImportUndone,
)
from archiver.services.import_reading import kind_of_file, typed_choices
from archiver.services.imports import Imports

SKIPPED = ("not in a chosen folder",)
"""Explanation printed after the number of skipped links."""
_STANDARD_INPUT = Path("-")
_MAX_SHOWN = 40


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open the file of an import; ``-`` is standard input."""
    if file == _STANDARD_INPUT:
        yield sys.stdin.buffer
    else:
        with file.open("rb") as source:
            yield source


def name_of(file: Path) -> str:
    """Return a printable file name, since file names need not be UTF-8."""
    if file == _STANDARD_INPUT:
        return "standard input"
    return os.fsencode(file.name).decode("utf-8", "replace")


async def preview(settings: Settings, file: Path, choices: Choices, *, as_json: bool) -> None:
    """Print a preview of an import."""
    name = name_of(file)

    with opened(file) as source:
        if kind := kind_of_file(source, name):
            raise InputError(
                f"{name} contains captures ({kind}). Only imports of links have a preview."
            )
        async with open_app(settings, reads_only=True) as app:
            survey = await app.surveys.preview(source, name, choices=choices)
    if as_json:
        write_json(survey)
    else:
        _print(survey)
    if choices.only_folders and 0 < survey.left_out == survey.read:
        raise nothing_chosen(choices)


def nothing_chosen(choices: Choices) -> InputError:
    """Return the error for ``only_folders`` that contain no link."""
    folders = ", ".join(f"“{each}”" for each in choices.only_folders)
    return InputError(
        f"No link of the file is in {folders}. Run `archiver import --dry-run` without "
        "--only-folder to list its folders."
    )


def _print(survey: ImportSurvey) -> None:
    write_row("file", f"{survey.name} ({survey.format})")
    if survey.encoding:
        write_row("encoding", survey.encoding)
    for what in ("read", "new", "known", "merged", "unusable"):
        write_row(what, str(getattr(survey, what)))
    write_row("skipped", str(survey.left_out), *(SKIPPED if survey.left_out else ()))
    if survey.lists:
        write_row("lists", str(survey.lists))
    if survey.lists_left_out:
        write_row("lists skipped", str(survey.lists_left_out))
    for name, role in survey.columns:
        write_row("column", f"{role}={name}")
    if survey.earliest and survey.latest:
        write_row("dates", f"{write_iso(survey.earliest)} to {write_iso(survey.latest)}")
    _print_counted("folder", survey.folders, survey.folder_count)
    _print_counted("tag", survey.tags, survey.tag_count)
    _print_counted("field", survey.fields, len(survey.fields))
    _print_counted("other field", survey.kept, len(survey.kept))
    for each in survey.sample:
        write_row("sample", each.title, each.url_given, write_iso(each.saved_at))
    _print_counted("unusable because", survey.reasons, len(survey.reasons))
    for bad in survey.samples:
        write_row("-", str(bad.row), f"{bad.given}: {bad.reason}")
    write_row("Nothing was saved. Run without --dry-run to import it.")


def _print_counted(what: str, names: tuple[Counted, ...], total: int) -> None:
    for each in names[:_MAX_SHOWN]:
        write_row(what, each.name, str(each.count))
    if total > _MAX_SHOWN:
        write_row(what, f"… and {total - _MAX_SHOWN:,} more")


_LINK_COUNTS = {each: each for each in ("read", "added", "known", "merged")}
_LINK_COUNTS |= {"rejected": "unusable", "passed_over": "skipped"}
_CAPTURE_COUNTS = {
    "read": "captures",
    "merged": "new",
    "known": "known",
    "rejected": "unusable",
    "passed_over": "skipped",
    "added": "pages",
}
_EXPLANATIONS = {
    "captures": ("records of HTTP responses",),
    "known": ("captures that were archived already",),
    "skipped": ("records that are not captures, such as requests",),
}
"""Explanations printed after numbers of captures."""
_STOPPED = (
    "Stopped. `archiver crawl` captures the links read so far; "
    "import the file again to read the rest."
)


def import_file(
    settings: Settings,
    *,
    file: Path,
    no_crawl: bool,
    dry_run: bool,
    as_json: bool,
    **chosen: Any,
) -> int:
    """Queue the links of a file, and capture them unless ``no_crawl`` is set."""
    names = ("tags", "only_folders", "columns")
    words = {name: value for name, value in chosen.items() if name not in names}
    choices = typed_choices(words=words, **{name: chosen[name] for name in names})
    if dry_run:
        return run_until_signal(preview(settings, file, choices, as_json=as_json))
    return run_until_signal(_import(settings, file, choices, crawl=not no_crawl), stopped=_STOPPED)


async def _import(settings: Settings, file: Path, choices: Choices, *, crawl: bool) -> None:
    with opened(file) as source:
        async with open_app(settings, reads_only=not crawl) as app:
            status = await _read(app.imports, source, name_of(file), choices)
            _summarise(status)
            if choices.only_folders and 0 < status.passed_over == status.read:
                raise nothing_chosen(choices)
            if choices.capture is CaptureWhen.NEVER or status.is_archive:
                await app.crawling.write_pending_records()
            is_crawl = crawl and choices.capture is not CaptureWhen.NEVER
            if is_crawl and (status.counts.open or not status.is_archive):
                from archiver.cli.crawl import work_queue  # noqa: PLC0415 - large

                await work_queue(app.settings, app.crawling, app.articles)
    if status.error:
        raise ArchiverError(status.error)


async def _read(imports: Imports, source: BinaryIO, name: str, choices: Choices) -> ImportStatus:
    total = os.fstat(source.fileno()).st_size or None
    with progress_bar("Reading") as bar:

        def on_progress(status: ImportStatus) -> None:
            what = "captures" if status.is_archive else "links"
            done = source.tell() if source.seekable() else 0
            bar.show(done=done, total=total, now=f"{status.read:,} {what}")

        return await imports.read_file(source, name=name, choices=choices, on_progress=on_progress)


def _summarise(status: ImportStatus) -> None:
    write_row("file", f"{status.name} ({status.format})")
    words = _CAPTURE_COUNTS if status.is_archive else _LINK_COUNTS
    for what, word in words.items():
        number = getattr(status, what)
        explanations = _EXPLANATIONS if status.is_archive else {"skipped": SKIPPED}
        write_row(word, str(number), *(explanations.get(word, ()) if number else ()))
    if status.without_capture:
        write_row("links only", str(status.without_capture))
    if status.lists_left_out:
        write_row("lists skipped", str(status.lists_left_out))
    if status.has_nothing_new:
        write_row("Nothing changed: everything was saved already.")
    for sample in status.rejected_samples:
        write_row("-", "unusable", f"{sample.given}: {sample.reason}")


async def imports(
    settings: Settings, *, action: str | None, number: int | None, as_json: bool, reason: str | None
) -> None:
    """Print the newest imports, or run an action on one."""
    if action is None:
        await _list(settings, as_json=as_json)
        return
    if number is None:
        raise InputError("Give the number of an import. `archiver imports` lists them.")
    async with open_app(settings) as app:
        status, crawl = await app.imports.status(number), app.crawl_status
        if action == "undo":
            await _undo(app, status, as_json=as_json)
        elif action in ("pause", "resume"):
            await crawl.pause_import(number, paused=action == "pause")
            write_row(f"{action}d", str(number))
        elif action == "capture":
            write_row("queued", str(await crawl.capture_links(number)))
        elif action == "again":
            again = crawl.try_again(reason, number) if reason else crawl.try_all_again(number)
            write_row("queued", str(await again))
        elif as_json:
            write_json(await crawl.failures_of(number))
        else:
            for each in await crawl.failures_of(number):
                write_row(str(each.entries), each.reason)


async def _list(settings: Settings, *, as_json: bool) -> None:
    async with open_app(settings, reads_only=True) as app:
        statuses = await app.import_statuses.recent()
    if as_json:
        write_json(statuses)
        return
    rows: list[tuple[str, ...]] = []
    for each in statuses:
        date = write_iso(each.started_at)[:10]
        rows.append((str(each.id), date, each.phase, each.name, _numbers(each)))
        if each.error:
            rows.append(("", "", "", "", each.error))
        if each.undone:
            state = _undo_state(each.undone, is_restored=each.is_restored)
            rows.append(("", "", "", "", state))
    write_table(("number", "date", "phase", "file", "progress"), rows, "no imports.")


async def _undo(app: App, status: ImportStatus, *, as_json: bool) -> None:
    if status.undone and status.undone.is_done and not status.is_restored:
        raise InputError(f"Import {status.id} was already undone.")
    done = await app.import_undo.undo(status.id)
    await app.crawling.write_pending_records()
    if as_json:
        write_json(done)
        return
    write_row("removed", str(done.removed))
    if done.deletion:
        print_undo("delete", done.deletion)


def _undo_state(undone: ImportUndone, *, is_restored: bool) -> str:
    if is_restored:
        return "undone, then restored"
    return "undone" if undone.is_done else "partly undone"


def _numbers(status: ImportStatus) -> str:
    what = "captures" if status.is_archive else "links"
    counts = status.counts
    links = f"{status.without_capture:,} links only, " if status.without_capture else ""
    return (
        f"{status.read:,} {what} read, {status.merged:,} merged, {counts.open:,} waiting, {links}"
        f"{counts.saved:,} saved, {counts.failed:,} failed, {status.rejected:,} unusable"
    )
