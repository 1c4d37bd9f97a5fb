"""The order of writing, syncing, committing and acknowledging, as seen by the kernel.

Rows contain the record id of each capture, which can be found in the bytes written to the WAL, so
the test can tell which record must be on disk before.
"""

import sqlite3
from contextlib import closing

from tests.system_calls import SYNCS


def captures(recorded):
    """Return (segment, end, record id, URL) of each capture."""
    with closing(sqlite3.connect(recorded.data / "archive.sqlite3")) as conn:
        return conn.execute(
            'SELECT segment.name, "offset" + length, record_id, url FROM capture'
            " JOIN segment ON segment.id = capture.segment_id ORDER BY capture.id"
        ).fetchall()


def first_sync(recorded, path, *, since):
    """Return the first sync of a file or folder that began after the call ``since`` had ended."""
    return next(
        call
        for call in recorded.calls
        if call.name in SYNCS and call.path == str(path) and call.start_line > since.end_line
    )


def first_write(recorded, path, *, marker):
    """Return the first call that wrote the bytes ``marker`` to a file."""
    return next(
        call
        for call in recorded.calls
        if call.name in ("write", "pwrite64") and call.path == str(path) and marker in call.data
    )


def writes_up_to(recorded, path, end):
    """Return the call that wrote the byte before the offset ``end`` of a file."""
    written = 0
    for call in recorded.calls:
        if call.name == "write" and call.path == str(path):
            written += len(call.data)
            if written >= end:
                return call
    raise AssertionError(f"{path} was never {end} bytes long")


def index_log(recorded):
    return recorded.data / "archive.sqlite3-wal"


def a_record_is_on_disk_before_any_row_contains_its_id(served, traced_add):
    for recorded in (served, traced_add):
        rows = captures(recorded)

        assert rows
        for segment, end, record_id, _ in rows:
            path = recorded.data / "warc" / segment
            synced = first_sync(recorded, path, since=writes_up_to(recorded, path, end))
            row = first_write(recorded, index_log(recorded), marker=record_id.encode())
            assert synced.end_line < row.start_line


def a_segment_name_is_on_disk_before_any_row_contains_it(served, traced_add):
    for recorded in (served, traced_add):
        for segment in {segment for segment, *_ in captures(recorded)}:
            path = recorded.data / "warc" / segment
            creation = next(
                call
                for call in recorded.calls
                if call.name == "openat" and call.path == str(path) and "O_CREAT" in call.flags
            )
            row = first_write(recorded, index_log(recorded), marker=segment.encode())
            assert first_sync(recorded, path.parent, since=creation).end_line < row.start_line


def the_folders_of_a_new_archive_are_on_disk_before_any_row(served, traced_add):
    for recorded in (served, traced_add):
        row = first_write(recorded, index_log(recorded), marker=b".warc.gz")
        for folder in (recorded.data, recorded.data / "warc"):
            creation = next(
                c for c in recorded.calls if c.name == "mkdir" and c.path == str(folder)
            )
            assert first_sync(recorded, folder.parent, since=creation).end_line < row.start_line


def rows_are_on_disk_before_they_are_acknowledged(served, traced_add):
    """The WAL is synced at each commit, not only when it is checkpointed.

    The first row with a page's title is that of its snapshot, after its captures.
    """
    for recorded in (served, traced_add):
        for each in recorded.acknowledged:
            title = f"About {each.url.rpartition('/')[2]}"
            expected = title if each.is_saved else each.url
            row = first_write(recorded, index_log(recorded), marker=expected.encode())
            assert (
                first_sync(recorded, index_log(recorded), since=row).end_line < each.call.start_line
            )


def nothing_is_acknowledged_while_the_wal_is_not_synced(served):
    """One page was saved after the other, so nothing else was in progress."""
    log = str(index_log(served))
    for each in served.acknowledged:
        before = [c for c in served.calls if c.end_line < each.call.start_line and c.path == log]
        written = max(c.end_line for c in before if c.name == "pwrite64")
        assert max(c.start_line for c in before if c.name in SYNCS) > written


ORDERS = (
    a_record_is_on_disk_before_any_row_contains_its_id,
    a_segment_name_is_on_disk_before_any_row_contains_it,
    the_folders_of_a_new_archive_are_on_disk_before_any_row,
    rows_are_on_disk_before_they_are_acknowledged,
)
"""Checks of two recorded runs."""
