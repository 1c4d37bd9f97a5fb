"""Health of an archive's files, and notifications about problems."""

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from pydantic import TypeAdapter

from archiver.db import segment_rows
from archiver.db.engine import Database
from archiver.errors import ArchiverError
from archiver.helpers import AtomicFile
from archiver.logs import get_log
from archiver.model.message import Message, counted
from archiver.warc.segment_inventory import Survey
from archiver.warc.segment_versions import is_replaced
from archiver.warc.segments import SegmentStore

log = get_log(__name__)

VERIFIED = "verified"
_MAX_BYTES = 4096
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class LastCheck:
    """Result of the last verification.

    Attributes:
        at: when it finished (aware, UTC).
        records: number of verified records.
        problems: number of wrong or missing records.
    """

    at: datetime
    records: int
    problems: int


_STORED = TypeAdapter(LastCheck)


async def store_check(data: Path, *, records: int, problems: int) -> None:
    """Store the result of a verification in the data directory; disk errors are ignored."""
    check = LastCheck(datetime.now(UTC).replace(microsecond=0), records, problems)
    file = AtomicFile(data / VERIFIED, mode=_MODE)
    with suppress(OSError):
        await asyncio.to_thread(file.write, _STORED.dump_json(check))


async def last_check(data: Path) -> LastCheck | None:
    """Return the result of the last verification; None if there is none or it can't be read."""
    file = AtomicFile(data / VERIFIED, mode=_MODE)
    try:
        content = await asyncio.to_thread(file.read, _MAX_BYTES)
        return _STORED.validate_json(content or b"")
    except (OSError, ValueError):
        return None


LEAST_FREE_BYTES = 64 << 20
"""Minimum free space in bytes; with less, the disk counts as full."""
KEPT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Health:
    """State of an archive's files.

    Attributes:
        missing: number of indexed segments whose file is missing, unusable or too short.
        unusable_files: number of other unusable files among the segments.
        damaged: number of problems that the last verification found.
        free_bytes: free bytes on the disk of the data directory.
        is_read_only: whether the data directory can't be written, or could not be when the archive
            was opened.
    """

    missing: int = 0
    unusable_files: int = 0
    damaged: int = 0
    free_bytes: int = 0
    is_read_only: bool = False

    @property
    def is_full(self) -> bool:
        """Whether the disk is full."""
        return self.free_bytes < LEAST_FREE_BYTES

    @property
    def warnings(self) -> tuple[Message, ...]:
        """Sentences for the user about what needs attention."""
        messages = []
        if self.missing:
            messages.append(
                counted(
                    "{count} segment of the archive is missing, so some pages can't be opened. "
                    "Mount its disk or restore it from a backup. `archiver verify` names it.",
                    "{count} segments of the archive are missing, so some pages can't be opened. "
                    "Mount their disk or restore them from a backup. `archiver verify` names them.",
                    count=self.missing,
                )
            )
        if self.is_full:
            messages.append(
                Message("The disk is full, so nothing new can be stored. Free some space.")
            )
        if self.is_read_only:
            messages.append(
                Message(
                    "The data directory is read-only, so nothing new can be stored. Make it "
                    "writable, then restart archiver."
                )
            )
        if self.damaged:
            messages.append(
                counted(
                    "The last verification found {count} problem. `archiver verify` lists it.",
                    "The last verification found {count} problems. `archiver verify` lists them.",
                    count=self.damaged,
                )
            )
        return tuple(messages)


class HealthCheck:
    """Check of an archive's files; results are cached for some seconds."""

    def __init__(self, db: Database, store: SegmentStore, data: Path) -> None:
        self._db = db
        self._store = store
        self._data = data
        self._found = Health()
        self._read_at = -KEPT_SECONDS

    async def current(self) -> Health:
        """Return the current state.

        Raises:
            ArchiverError, OSError: the index or data directory was removed or can't be read.
        """
        now = time.monotonic()
        if now - self._read_at > KEPT_SECONDS:
            self._found = await self._read_state()
            self._read_at = now
        return self._found

    async def warnings(self) -> tuple[Message, ...]:
        """Return sentences about what needs attention."""
        try:
            return (await self.current()).warnings
        except ArchiverError as error:
            return (error.sentence,)
        except OSError as error:
            return (Message("The data directory cannot be read: {error}.", error=error),)

    async def _read_state(self) -> Health:
        await asyncio.to_thread(self._db.require_present)
        async with self._db.read() as conn:
            indexed = await segment_rows.indexed_sizes(conn)
        usage = await asyncio.to_thread(shutil.disk_usage, self._data)
        is_writable = await asyncio.to_thread(os.access, self._data, os.W_OK)
        is_read_only = self._db.is_read_only or not is_writable
        checked = await last_check(self._data)
        storage = self._store.storage
        missing: dict[str, str] = {}
        if not storage.is_uploaded:
            survey = await asyncio.to_thread(storage.survey_local)
            missing = dict(missing_segments(indexed, survey))
        unusable = [each for each in storage.unusable_files if each.name not in missing]
        damaged = checked.problems if checked else 0
        return Health(len(missing), len(unusable), damaged, usage.free, is_read_only)


def missing_segments(indexed: Mapping[str, int], survey: Survey) -> Iterator[tuple[str, str]]:
    """Yield (name, reason) of indexed segments that are missing, unusable or too short."""
    sizes = {each.name: each.size for each in survey.segments}
    unusable = {each.name: each.problem for each in survey.unusable_files}
    for name, end in indexed.items():
        if not end or name in survey.superseded:
            continue
        if name in sizes:
            if sizes[name] < end:
                yield name, f"It has {sizes[name]:,} bytes of at least {end:,}."
        elif name in unusable:
            yield name, unusable[name]
        elif not is_replaced(name, sizes):
            yield name, "It is missing."


CHECK_SECONDS = 60.0
MAX_CHECK_SECONDS = 3600.0
POST_SECONDS = 10.0
TITLE = "archiver"


class ProblemNotifier:
    """Notifier that posts a text to a URL of the user when problems begin or end.

    The text is the whole body, and its title is the header field ``Title``, as ntfy expects. The
    URL is not checked by the address guard, because only the owner of the archive can set it.
    """

    def __init__(self, url: str, read: Callable[[], Awaitable[Sequence[Message]]]) -> None:
        """Create a notifier; ``read`` returns the present problems."""
        self._url = url
        self._read = read
        self._sent: dict[str, str] = {}

    async def watch(self) -> None:
        """Check for problems once a minute, forever; after a failed request, less often."""
        seconds = CHECK_SECONDS
        while True:
            is_sent = await self.check()
            seconds = CHECK_SECONDS if is_sent else min(2 * seconds, MAX_CHECK_SECONDS)
            await asyncio.sleep(seconds)

    async def check(self) -> bool:
        """Post the problems that began or ended since the last successful request.

        Returns:
            False if the request failed.
        """
        try:
            problems = {each.text: str(each) for each in await self._read()}
        except (ArchiverError, OSError) as error:
            problems = {"": f"The archive cannot be read: {error}"}
        lines = [text for key, text in problems.items() if key not in self._sent]
        lines += [f"Solved: {text}" for key, text in self._sent.items() if key not in problems]
        if lines and not await self._post("\n".join(lines)):
            return False
        self._sent = problems
        return True

    async def _post(self, text: str) -> bool:
        timeout = aiohttp.ClientTimeout(total=POST_SECONDS)
        body = text.encode("utf-8", "replace")  # names of files can have surrogates
        headers = {"Title": TITLE, "Content-Type": "text/plain; charset=utf-8"}
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                # A redirect could lead into the private network.
                session.post(
                    self._url, data=body, headers=headers, allow_redirects=False
                ) as response,
            ):
                reason = "" if response.ok and response.status < 300 else f"HTTP {response.status}"
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            reason = type(error).__name__
        if reason:
            log.warning("the notification was not delivered", reason=reason)
        return not reason
