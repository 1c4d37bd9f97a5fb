"""Exports as files: whole under their name; what is not yet whole is gone on with from there.

While ``NAME`` is written there lie beside it ``.NAME.part``, what there is of it, ``.NAME.plan``,
what a list is of, and ``.NAME.mark``, how far it is written and on disk. Who asks for the same
under the same name goes on behind that; a form that is no list is begun again.
"""

import asyncio
import fcntl
import json
import os
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import IO

from archiver.errors import InputError
from archiver.formats.list_writer import ListForm
from archiver.index.database import Database
from archiver.services.export_kinds import ExportKind
from archiver.services.export_plan import entries_in
from archiver.services.exporting import Exporting, heading_of, noted
from archiver.services.lists import Lists, Written
from archiver.services.manifest import Selected
from archiver.store.segments import SegmentStore
from archiver.wire.moments import read_iso, write_iso

MARK_SECONDS = 2.0
"""So much is written again at most by who goes on after a loss of power."""
OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a list is written.

    Attributes:
        of: what it is of, so that nobody goes on with another.
        begun_at: as it stands in the list.
        done: lines of the plan; -1 before the opening.
        size: bytes.
    """

    of: str
    begun_at: str
    done: int = -1
    size: int = 0


@dataclass(frozen=True, slots=True)
class WholeFile:
    """An export that is done.

    Attributes:
        size: bytes.
        entries: that stand in it.
    """

    size: int
    entries: int


class ExportFiles:
    """Writes exports to files."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._lists = Lists(db)
        self._exporting = Exporting(db, store)

    async def write(
        self,
        kind: ExportKind,
        wanted: Selected,
        path: Path,
        on_progress: OnProgress = lambda _: None,
    ) -> WholeFile:
        """Write an export under a name, or go on with it.

        Args:
            kind: its form.
            wanted: what it is of.
            path: where; what lies there is replaced once all of it is on disk.
            on_progress: told how many bytes there are.

        Raises:
            NotFound: there is nothing of the kind.
            InputError: what is wanted makes no sense, or another process writes that file.
        """
        part = await asyncio.to_thread(_open_alone, path)
        with part:
            wanted_file = _Wanted(kind, wanted, path, part, on_progress)
            if kind.form:
                whole = await self._write_list(wanted_file, kind.form)
            else:
                whole = await self._write_anew(wanted_file)
            await asyncio.to_thread(_settle, part, path)
        return whole

    async def _write_anew(self, file: "_Wanted") -> WholeFile:
        written, counted = 0, [0]
        await asyncio.to_thread(file.part.truncate, 0)
        try:
            pieces = await self._exporting.begin(
                file.kind, file.selected, name=file.path.name, on_count=counted.append
            )
            async with aclosing(pieces):
                async for piece in pieces:
                    await asyncio.to_thread(file.part.write, piece)
                    written += len(piece)
                    file.on_progress(written)
        except BaseException:
            await asyncio.to_thread(forget, file.path)
            raise
        return WholeFile(written, counted[-1])

    async def _write_list(self, file: "_Wanted", form: ListForm) -> WholeFile:
        mark, plan = await self._begun(file, form)
        with plan:
            await asyncio.to_thread(file.part.truncate, mark.size)
            heading = await heading_of(self._db, file.selected, read_iso(mark.begun_at))
            done = mark.done if mark.done >= 0 else None
            marks = _Marks(file, mark)
            try:
                async with aclosing(self._lists.write(plan, form, heading, done=done)) as written:
                    async for each in written:
                        await marks.put(each)
            except BaseException:
                await asyncio.to_thread(marks.write)
                raise
            done = max(marks.mark.done, 0)
            return WholeFile(marks.size, await asyncio.to_thread(entries_in, plan, done))

    async def _begun(self, file: "_Wanted", form: ListForm) -> tuple[Mark, IO[bytes]]:
        """The plan of a list, and how far it is written."""
        of = self._fingerprint(file)
        path = _beside(file.path, "plan")
        mark = await asyncio.to_thread(_read_mark, file, of)
        if mark:
            return mark, await asyncio.to_thread(path.open, "rb")
        plan = await asyncio.to_thread(path.open, "w+b")
        try:
            await noted(self._db, file.selected, form, plan)
        except BaseException:
            plan.close()
            await asyncio.to_thread(forget, file.path)
            raise
        return Mark(of, write_iso(datetime.now(UTC))), plan

    def _fingerprint(self, file: "_Wanted") -> str:
        """What an export is of; rows have other numbers once the index was built again."""
        return json.dumps([file.kind.key, asdict(file.selected), *self._db.identity()])


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An export, where it is to lie, and what there is of it."""

    kind: ExportKind
    selected: Selected
    path: Path
    part: IO[bytes]
    on_progress: OnProgress


class _Marks:
    """What is written of a list, and how far that is on disk."""

    def __init__(self, file: _Wanted, mark: Mark) -> None:
        self._path = _beside(file.path, "mark")
        self._file = file
        self._at = monotonic()
        self.mark = mark
        self.size = mark.size

    async def put(self, some: Written) -> None:
        """Write some more; what ends a list is written again by who goes on there."""
        await asyncio.to_thread(self._file.part.write, some.data)
        self.size += len(some.data)
        if not some.is_end:
            self.mark = replace(self.mark, done=some.done, size=self.size)
            if monotonic() - self._at > MARK_SECONDS:
                await asyncio.to_thread(self.write)
                self._at = monotonic()
        self._file.on_progress(self.size)

    def write(self) -> None:
        """Put what there is on disk, and say how much that is; blocking."""
        self._file.part.flush()
        os.fsync(self._file.part.fileno())
        unfinished = _beside(self._file.path, "new")
        unfinished.write_text(json.dumps(asdict(self.mark)), encoding="utf-8")
        unfinished.replace(self._path)


def forget(path: Path) -> None:
    """Take away what lies beside a file of an export that is not gone on with; blocking."""
    for kind in ("part", "plan", "mark", "new"):
        _beside(path, kind).unlink(missing_ok=True)


def size_so_far(path: Path) -> int:
    """Bytes there are of an export that is being written; blocking."""
    try:
        return _beside(path, "part").stat().st_size
    except FileNotFoundError:
        return 0


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}")


def _open_alone(whole: Path) -> IO[bytes]:
    # Closed by whoever asked for it.
    try:
        part = _beside(whole, "part").open("a+b")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(whole)) from None
    try:
        fcntl.flock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        part.close()
        raise InputError(
            "{name} is being written by another process. Choose another name.", name=whole.name
        ) from None
    return part


def _read_mark(file: _Wanted, of: str) -> Mark | None:
    """How far that very export was written, if so much of it is there."""
    try:
        mark = Mark(**json.loads(_beside(file.path, "mark").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    has_plan, size = _beside(file.path, "plan").exists(), os.fstat(file.part.fileno()).st_size
    return mark if mark.of == of and has_plan and size >= mark.size else None


def _settle(part: IO[bytes], path: Path) -> None:
    """Give a file its name once all of it is on disk."""
    part.flush()
    os.fsync(part.fileno())
    Path(part.name).replace(path)
    forget(path)
