"""``archiver show``."""

from collections.abc import Iterator

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_json, write_row, write_text
from archiver.config import Settings
from archiver.formats.documents import to_document
from archiver.model.annotation import Annotation
from archiver.model.page import UNREAD
from archiver.model.rendering import Rendering
from archiver.services.entries import EntryDetail, SnapshotDetail
from archiver.wire.moments import in_utc


def run(settings: Settings, *, ref: str, timestamp: str | None, as_json: bool) -> int:
    """Print an entry and its article."""
    return run_until_signal(_show(settings, ref, timestamp, as_json=as_json))


async def _show(settings: Settings, ref: str, timestamp: str | None, *, as_json: bool) -> int:
    async with open_app(settings, reads_only=True) as app:
        entries = app.entries
        detail = await entries.get(ref)
        wanted = detail.snapshots or timestamp
        shown = await entries.snapshot(ref, timestamp) if wanted else None
    if as_json:
        write_json(_document(detail, shown))
        return 0
    for name, value in _rows(detail, shown):
        write_row(name, value)
    if shown and shown.article:
        write_text("\n" + shown.text)
    elif shown and shown.snapshot.extractor == UNREAD:
        write_text("\nIts article was left for later: `archiver extract` reads it.")
    return 0


def _document(detail: EntryDetail, shown: SnapshotDetail | None) -> dict[str, object]:
    """The entry's own fields, its snapshots and twins, and the article of the one that is shown."""
    document: dict[str, object] = to_document(detail.entry)
    return document | {
        "snapshots": to_document(detail.snapshots),
        "timestamp": shown.snapshot.timestamp if shown else None,
        "article": shown.article if shown else "",
        "text": shown.text if shown else "",
        "requisites": to_document(shown.requisites) if shown else [],
        "twins": to_document(detail.twins),
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
        "folders": ", ".join(entry.annotation.folders),
    }
    yield from ((name, value) for name, value in rows.items() if value)
    yield from (("twin", f"{twin.hash_url} {twin.url}") for twin in detail.twins)
    for snapshot in detail.snapshots:
        capture = snapshot.capture
        yield (
            "snapshot",
            f"{snapshot.timestamp} {capture.status} {capture.media_type} {snapshot.final_url}",
        )
    if shown:
        snapshot = shown.snapshot
        yield "shown", snapshot.timestamp
        if snapshot.rendering is Rendering.NEEDED and not snapshot.limits:
            yield "needs", "a browser: it is empty without its scripts, and they were not run"
        for limit in snapshot.limits:
            yield "limit", str(limit.sentence)
        if snapshot.missing_count:
            yield "missing", f"{snapshot.missing_count} of {snapshot.requisite_count} requisites"
        yield "score", str(shown.score)
        for reason in shown.score.reasons:
            yield "lacking", reason.sentence
