"""Commands for entries: add, show, edit and delete."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import click

from archiver.app import App, open_app
from archiver.cli.event_loop import run_until_signal
from archiver.cli.options import CRAWL_STOPPED
from archiver.cli.terminal import (
    Bar,
    clean,
    confirm_search,
    print_undo,
    progress_bar,
    write_json,
    write_row,
    write_text,
)
from archiver.config import Settings
from archiver.errors import InputError
from archiver.formats.json_output import to_document
from archiver.http.timestamps import in_utc, write_iso
from archiver.model.annotation import Annotation, AnnotationChange
from archiver.model.deletion import Deleted
from archiver.model.job import Job, State
from archiver.model.listing import ListingQuery
from archiver.model.message import counted
from archiver.model.page import UNREAD
from archiver.model.rendering import Rendering
from archiver.model.seed import QueuedSeed
from archiver.services.deletion import Restored
from archiver.services.entries import EntryDetail, SnapshotDetail

MAX_REPORTED = 200
"""Maximum URLs of one command for which duplicates are reported."""


def add(settings: Settings, *, urls: Sequence[str], tags: Sequence[str]) -> int:
    """Capture URLs now; return 1 if any failed."""
    return run_until_signal(_add(settings, _expand_stdin(urls), tags), stopped=CRAWL_STOPPED)


def _expand_stdin(urls: Sequence[str]) -> list[str]:
    """Return the URLs, with "-" replaced by those of standard input."""
    expanded: list[str] = []
    for each in urls:
        expanded += sys.stdin.read().split("\n") if each == "-" else [each]
    return expanded


async def _add(settings: Settings, urls: Sequence[str], tags: Sequence[str]) -> int:
    async with open_app(settings) as crawler:
        render = settings.render == "always"
        result = await crawler.entries.save(urls, tags=tags, source="cli", render=render)
        for rejected in result.rejected:
            write_row("-", "unusable", f"{rejected.given}: {rejected.reason}")
        with progress_bar("Capturing") as bar:
            report = _Report(result.accepted, bar)
            await _capture(crawler, report)
        if len(result.accepted) <= MAX_REPORTED:
            await _warn_of_duplicates(crawler, result.accepted)
    return int(report.failed or bool(result.rejected))


async def _capture(crawler: App, report: "_Report") -> None:
    """Make each job's first attempt, and wait for attempts of other processes."""
    if report.waiting:
        await crawler.crawling.work(only=sorted(report.waiting), on_change=report.note)
    if report.waiting:
        async for change in crawler.change_stream.jobs(report.waiting):
            report.note(change)
            if not report.waiting:
                return


async def _warn_of_duplicates(crawler: App, accepted: Sequence[QueuedSeed]) -> None:
    """Report duplicate URLs of each page on standard error."""
    for each in {received.hash_url: received for received in accepted}.values():
        detail = await crawler.entries.get(each.hash_url)
        for duplicate in detail.duplicates if detail.snapshots else ():
            sys.stderr.write(clean(f"archiver: {each.url} is also saved as {duplicate.url}.\n"))


class _Report:
    """Report that prints a line for each URL when its capture finishes."""

    def __init__(self, accepted: Sequence[QueuedSeed], bar: Bar) -> None:
        self.failed = False
        self.waiting: dict[int, list[QueuedSeed]] = defaultdict(list)
        self._bar = bar
        for each in accepted:
            if each.job_id is None:
                write_row(each.hash_url, "known", each.url)
            else:
                self.waiting[each.job_id].append(each)
        self._total = len(self.waiting)
        self._show("")

    def note(self, job: Job) -> None:
        """Report the result of a job that has finished, or that failed and waits for a retry."""
        ended = job.state in (State.SAVED, State.FAILED) or self._waits_for_retry(job)
        for each in self.waiting.pop(job.id, ()) if ended else ():
            self._write(each, job)
        self._show("" if ended else job.url)

    def _waits_for_retry(self, job: Job) -> bool:
        return job.state is State.QUEUED and job.failure is not None

    def _write(self, received: QueuedSeed, job: Job) -> None:
        if job.state is State.SAVED:
            write_row(received.hash_url, "saved", job.title or received.url)
            return
        self.failed = True
        why = job.failure.message if job.failure else "It could not be captured."
        if self._waits_for_retry(job):
            due = f" after {write_iso(job.not_before)}" if job.not_before else ""
            why += f" `archiver serve` or `archiver crawl` retries it{due}."
        what = "waits" if self._waits_for_retry(job) else "failed"
        write_row(received.hash_url, what, f"{received.url}: {why}")

    def _show(self, now: str) -> None:
        self._bar.show(done=self._total - len(self.waiting), total=self._total, now=now)


async def show(settings: Settings, *, ref: str, timestamp: str | None, as_json: bool) -> None:
    """Print an entry and its article."""
    async with open_app(settings, reads_only=True) as app:
        entries = app.entries
        detail = await entries.get(ref)
        wanted = detail.snapshots or timestamp
        snapshot = await entries.snapshot(ref, timestamp) if wanted else None
    if as_json:
        write_json(_document(detail, snapshot))
        return
    for name, value in _rows(detail, snapshot):
        write_row(name, value)
    if snapshot and snapshot.article:
        write_text("\n" + snapshot.text)
    elif snapshot and snapshot.snapshot.extractor == UNREAD:
        write_text("\nIts article is not extracted yet: run `archiver extract`.")


def _document(detail: EntryDetail, snapshot: SnapshotDetail | None) -> dict[str, object]:
    """Return the entry's fields, snapshots and duplicates, and the selected snapshot's article."""
    document: dict[str, object] = to_document(detail.entry)
    return document | {
        "snapshots": to_document(detail.snapshots),
        "timestamp": snapshot.snapshot.timestamp if snapshot else None,
        "article": snapshot.article if snapshot else "",
        "text": snapshot.text if snapshot else "",
        "requisites": to_document(snapshot.requisites) if snapshot else [],
        "duplicates": to_document(detail.duplicates),
    }


def _marks(annotation: Annotation) -> Iterator[str]:
    if annotation.is_read:
        yield "read"
    if annotation.is_starred:
        yield "starred"


def _rows(detail: EntryDetail, shown: SnapshotDetail | None) -> Iterator[tuple[str, str]]:
    entry = detail.entry
    added = in_utc(entry.annotation.saved_at).replace(tzinfo=None)
    rows = {
        "title": entry.title,
        "url": entry.url,
        "hash_url": entry.hash_url,
        "state": entry.state,
        "failure": entry.failure.message if entry.failure else "",
        "marks": ", ".join(_marks(entry.annotation)),
        "tags": ", ".join(entry.annotation.tags),
        "note": entry.annotation.note,
        "added": f"{added} UTC, {entry.annotation.source}",
        "lists": ", ".join(entry.annotation.folders),
    }
    yield from ((name, value) for name, value in rows.items() if value)
    yield from (("duplicate", f"{each.hash_url} {each.url}") for each in detail.duplicates)
    for snapshot in detail.snapshots:
        capture = snapshot.capture
        yield (
            "snapshot",
            f"{snapshot.timestamp} {capture.status} {capture.media_type} {snapshot.final_url}",
        )
    if shown:
        snapshot = shown.snapshot
        yield "details of snapshot", snapshot.timestamp
        if snapshot.rendering is Rendering.NEEDED and not snapshot.limits:
            yield "needs", "a browser: it is empty without JavaScript, and was saved without it"
        for limit in snapshot.limits:
            yield "limit", str(limit.sentence)
        if snapshot.missing_count:
            yield "missing", f"{snapshot.missing_count} of {snapshot.requisite_count} files"
        yield "quality", str(shown.score)
        for reason in shown.score.reasons:
            yield "problem", reason.sentence


def edit(
    settings: Settings,
    *,
    refs: Sequence[str],
    query: str | None,
    undo: int | None,
    yes: bool,
    **options: Any,
) -> int:
    """Change entries, or undo a change, and write it to WARC.

    ``options`` holds the fields of an AnnotationChange.
    """
    if sum((bool(refs), bool(query), undo is not None)) != 1:
        raise InputError("Give the URL or hash_url of entries, or use --query.")
    if not yes:
        confirm_search(settings, query, "Change")
    return run_until_signal(_edit(settings, refs, query, undo, AnnotationChange(**options)))


async def _edit(
    settings: Settings,
    refs: Sequence[str],
    query: str | None,
    undo: int | None,
    change: AnnotationChange,
) -> None:
    async with open_app(settings) as runtime:
        editing = runtime.editing
        if undo is not None:
            edited = await editing.undo(undo)
        elif query:
            edited = await editing.change_matching(ListingQuery(q=query), change)
        else:
            edited = await editing.change(refs, change)
        await runtime.crawling.write_pending_records()
    write_row("found", str(edited.found))
    write_row("changed", str(edited.changed))
    if edited.changed and undo is None:
        print_undo("edit", edited.id)


def delete(
    settings: Settings,
    *,
    refs: Sequence[str],
    query: str | None,
    snapshot: str | None,
    undo: int | None,
    yes: bool,
) -> int:
    """Delete or restore entries or a snapshot, and write that to WARC."""
    if sum((bool(refs), bool(query), undo is not None)) != 1:
        raise InputError("Give the URL or hash_url of entries, or use --query.")
    if snapshot and len(refs) != 1:
        raise InputError("--snapshot requires exactly one entry.")
    if not yes:
        confirm_search(settings, query, "Delete")
    return run_until_signal(_delete(settings, refs, query, snapshot, undo))


async def _delete(
    settings: Settings,
    refs: Sequence[str],
    query: str | None,
    snapshot: str | None,
    undo: int | None,
) -> None:
    async with open_app(settings) as runtime:
        if undo is not None:
            done: Deleted = await runtime.deleting.undo(undo)
        else:
            done = await _delete_selected(runtime, refs, query, snapshot)
        await runtime.crawling.write_pending_records()
    write_row("entries", str(done.entries))
    write_row("snapshots", str(done.snapshots))
    if isinstance(done, Restored):
        _report_not_restored(done)
    elif done.entries or done.snapshots:
        print_undo("delete", done.id)


def _report_not_restored(done: Restored) -> None:
    if done.not_restored:
        message = counted(
            "{count} entry was not restored: it was saved or deleted again since.",
            "{count} entries were not restored: they were saved or deleted again since.",
            count=done.not_restored,
        )
        click.echo(f"archiver: {message}", err=True)


async def _delete_selected(
    runtime: App, refs: Sequence[str], query: str | None, snapshot: str | None
) -> Deleted:
    if query:
        return await runtime.deleting.matching(ListingQuery(q=query))
    if snapshot:
        return await runtime.deleting.snapshot(refs[0], snapshot)
    return await runtime.deleting.entries(refs)
