"""Exports that are kept in the archive's folder under a name, written one after another.

Each is a file ``NAME`` beside ``NAME.wanted``, which says what it is of; who stops goes on with it.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from archiver.errors import ArchiverError, InputError, NotFound
from archiver.kept_file import UNFINISHED, KeptFile
from archiver.logs import get_log
from archiver.model.listing import ListingQuery
from archiver.services.export_files import ExportFiles, WholeFile, forget, size_so_far
from archiver.services.export_kinds import BY_KEY, ExportKind
from archiver.services.manifest import Selected

MOST_KEPT = 20
NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z0-9-]{1,40}\.[a-z.]{2,20}")
_WANTED = ".wanted"
_MOST_WANTED = 64 << 10
_OTHERS = re.compile("[^a-z0-9]+")
_UNFORESEEN = "It could not be written; the log says why. Delete it, and ask for another form."

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class KeptExport:
    """One export.

    Attributes:
        name: of the file.
        kind: its form.
        query: what it is of.
        begun_at: when it was asked for (aware, UTC).
        size: bytes so far.
        is_ready: all of it is there.
        problem: why it can't be written; empty if nothing is in the way.
        entries: that stand in it; None before it is there.
    """

    name: str
    kind: ExportKind
    query: ListingQuery
    begun_at: datetime
    size: int
    is_ready: bool
    problem: str
    entries: int | None = None


class KeptExports:
    """Keeps exports in a directory of their own."""

    def __init__(self, directory: Path, files: ExportFiles) -> None:
        self._directory = directory
        self._files = files
        self._wake = asyncio.Event()
        self._writing: tuple[str, asyncio.Task[WholeFile]] | None = None

    async def begin(self, kind: ExportKind, query: ListingQuery) -> str:
        """Ask for an export; returns its name.

        Raises:
            InputError: there are too many already.
        """
        name = await asyncio.to_thread(self._note, kind, query)
        self._wake.set()
        return name

    async def listing(self) -> list[KeptExport]:
        """All of them, the newest first."""
        found = await asyncio.to_thread(lambda: [*self._all()])
        return sorted(found, key=lambda each: each.name, reverse=True)

    async def file(self, name: str) -> tuple[Path, ExportKind]:
        """Where an export lies, and its form.

        Raises:
            NotFound: there is none of that name, or not all of it yet.
        """
        found = await asyncio.to_thread(self._read, name) if NAME.fullmatch(name) else None
        if found is None or not found.is_ready:
            raise NotFound("There is no such export, or it is not written yet.")
        return self._directory / name, found.kind

    async def delete(self, name: str) -> None:
        """Delete an export, also while it is written.

        Raises:
            NotFound: there is none of that name.
        """
        if not NAME.fullmatch(name) or not await asyncio.to_thread(self._wanted(name).path.is_file):
            raise NotFound("There is no such export.")
        await asyncio.to_thread(self._wanted(name).path.unlink)
        if self._writing and self._writing[0] == name:
            self._writing[1].cancel()
            await asyncio.wait([self._writing[1]])
        await asyncio.to_thread(self._take_away, self._directory / name)

    async def work(self) -> None:
        """Write what is asked for, for ever."""
        await asyncio.to_thread(self._tidy)
        while True:
            self._wake.clear()
            await self.write_waiting()
            await self._wake.wait()

    async def write_waiting(self) -> None:
        """Write what waits now, the oldest first."""
        for each in reversed(await self.listing()):
            if not (each.is_ready or each.problem):
                await self._write(each)

    async def _write(self, export: KeptExport) -> None:
        path = self._directory / export.name
        if not await self._is_wanted(export.name):
            return  # deleted while another was written
        writing = asyncio.create_task(
            self._files.write(export.kind, Selected(export.query), path), name="export"
        )
        self._writing = (export.name, writing)
        problem, count = "", None
        try:
            await asyncio.wait([writing])
            if not writing.cancelled() and (error := writing.exception()):
                problem = _problem(export.name, error)
            elif not writing.cancelled():
                count = writing.result().entries
        finally:
            writing.cancel()
            await asyncio.wait([writing])
            self._writing = None
        if not await self._is_wanted(export.name):
            await asyncio.to_thread(self._take_away, path)
        elif problem or count is not None:
            await asyncio.to_thread(self._say, export, problem, count)

    async def _is_wanted(self, name: str) -> bool:
        return await asyncio.to_thread(self._wanted(name).path.is_file)

    def _all(self) -> Iterator[KeptExport]:
        for each in self._directory.glob(f"*{_WANTED}") if self._directory.is_dir() else ():
            if found := self._read(each.name.removesuffix(_WANTED)):
                yield found

    def _read(self, name: str) -> KeptExport | None:
        path = self._directory / name
        try:
            wanted = json.loads(self._wanted(name).read(_MOST_WANTED) or b"")
            query = ListingQuery(**wanted["query"])
            begun_at = datetime.strptime(name[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
            kind, problem = BY_KEY[wanted["form"]], str(wanted["problem"])
            count = wanted.get("entries")
            is_ready = path.is_file()
            size = path.stat().st_size if is_ready else size_so_far(path)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return KeptExport(name, kind, query, begun_at, size, is_ready, problem, count)

    def _note(self, kind: ExportKind, query: ListingQuery) -> str:
        if len([*self._all()]) >= MOST_KEPT:
            raise InputError("{most} exports are kept at most. Delete one first.", most=MOST_KEPT)
        asked = _OTHERS.sub("-", f"{query.q} {query.tag} {query.host} {query.status}".lower())
        stem = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{asked.strip('-')[:36] or 'everything'}"
        names = (f"{stem}{n or ''}.{kind.suffix}" for n in range(MOST_KEPT + 1))
        name = next(each for each in names if not self._wanted(each).path.exists())
        self._wanted(name).write(_order(kind, query, ""))
        return name

    def _say(self, export: KeptExport, problem: str, count: int | None) -> None:
        self._wanted(export.name).write(_order(export.kind, export.query, problem, count))

    def _wanted(self, name: str) -> KeptFile:
        self._directory.mkdir(exist_ok=True)
        return KeptFile(self._directory / f"{name}{_WANTED}")

    def _tidy(self) -> None:
        """Take away what a process that was killed left of what it said."""
        for each in self._directory.glob(f".*{_WANTED}{UNFINISHED}"):
            self._wanted(each.name[1:].removesuffix(_WANTED + UNFINISHED)).forget_unfinished()

    def _take_away(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        forget(path)


def _order(kind: ExportKind, query: ListingQuery, problem: str, count: int | None = None) -> bytes:
    order = {"form": kind.key, "query": asdict(query), "problem": problem, "entries": count}
    return json.dumps(order).encode()


def _problem(name: str, error: BaseException) -> str:
    """Why an export can't be written; one that no one foresaw must not keep the others waiting."""
    if isinstance(error, ArchiverError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    log.error("an export broke off", name=name, exc_info=error)
    return _UNFORESEEN
