"""Export files stored in the archive.

Next to each file `NAME` is `NAME.wanted`, a JSON object with the request and its state. A job
interrupted by a restart is started again.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from archiver.errors import ArchiverError, InputError, NotFound
from archiver.helpers import AtomicFile
from archiver.logs import get_log
from archiver.model.capture import HashUrl
from archiver.model.export_kinds import BY_KEY, ExportKind
from archiver.model.listing import ListingQuery
from archiver.model.message import marked
from archiver.services.export_selection import Report, Selected
from archiver.services.exports import PART, EntryExports

MAX_JOBS = 20
MAX_STARTS = 3
"""Maximum number of starts of a job, because a job may cause the crashes that interrupt it."""

NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z0-9-]{1,40}\.[a-z.]{2,20}")
_JOB = ".wanted"
_MAX_BYTES = 64 << 10
_OTHERS = re.compile("[^a-z0-9]+")
_UNEXPECTED = marked("An internal error occurred. See the log for details, or try another format.")
_INTERRUPTED = marked(
    "It was interrupted three times, perhaps because this computer has too little memory. Export "
    "fewer entries at a time."
)

_DAMAGED = marked("Damaged records were skipped. Run `archiver verify` to list them.")
DAMAGED_DOWNLOAD = marked(
    "Damaged records, and articles that have not been extracted yet, are missing from this "
    "download. Run `archiver verify` to list the damaged records, then download again."
)

log = get_log(__name__)


class ExportState(StrEnum):
    """States of an export job."""

    WAITING = "waiting"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ExportJob:
    """An export.

    Attributes:
        name: name of the file.
        kind: format of the file.
        query: query that selects the entries, unless they are in ``only``.
        title: title of a book or page; empty for the default.
        state: state of the job.
        size: size of the file in bytes, so far.
        entries: number of exported entries; None until the export is complete.
        problem: why the job failed, or what a complete export lacks; else empty.
        starts: number of starts.
        only: the selected entries; empty if ``query`` selects them.
    """

    name: str
    kind: ExportKind
    query: ListingQuery
    state: ExportState = ExportState.WAITING
    size: int = 0
    entries: int | None = None
    problem: str = ""
    starts: int = 0
    title: str = ""
    only: tuple[HashUrl, ...] = ()

    @property
    def created_at(self) -> datetime:
        """When the export was requested (aware, UTC)."""
        return datetime.strptime(self.name[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)

    @property
    def is_download(self) -> bool:
        """Whether the file was streamed to the user and is not stored here."""
        return self.problem == DAMAGED_DOWNLOAD

    @property
    def is_open(self) -> bool:
        """Whether the job is waiting or running."""
        return self.state in (ExportState.WAITING, ExportState.RUNNING)


class ExportJobs:
    """Export jobs, run one after another in a separate directory."""

    def __init__(self, directory: Path, exporting: EntryExports) -> None:
        self._directory = directory
        self._exporting = exporting
        self._wake = asyncio.Event()
        self._running: tuple[str, asyncio.Task[Report]] | None = None

    async def create(self, kind: ExportKind, selection: Selected) -> str:
        """Create a job; return the name of its file.

        Raises:
            InputError: there are too many exports.
        """
        name = await asyncio.to_thread(self._create, kind, selection)
        self._wake.set()
        return name

    async def note_damaged_download(self, kind: ExportKind, selected: Selected) -> None:
        """Add a streamed download to the list of exports, because it left out damaged parts.

        It replaces an earlier one of the same format and selection.
        """
        same = kind, selected.query, selected.entries
        for each in await self.all():
            if each.is_download and (each.kind, each.query, each.only) == same:
                await self.delete(each.name)
        with suppress(InputError):  # the list is full; the log has each damaged part
            await asyncio.to_thread(self._create, kind, selected, DAMAGED_DOWNLOAD)

    async def all(self) -> list[ExportJob]:
        """Return all jobs, the newest first."""
        jobs = await asyncio.to_thread(lambda: [*self._all()])
        return sorted(jobs, key=lambda each: each.name, reverse=True)

    async def file(self, name: str) -> tuple[Path, ExportKind]:
        """Return the path and the format of a complete export.

        Raises:
            NotFound: there is no export of that name, or it is not complete.
        """
        job = await asyncio.to_thread(self._read, name) if NAME.fullmatch(name) else None
        if job is None or job.state is not ExportState.READY:
            raise NotFound("Export not found or not finished yet.")
        return self._directory / name, job.kind

    async def delete(self, name: str) -> None:
        """Delete an export; stop it if it is being written.

        Raises:
            NotFound: there is no export of that name.
        """
        if not NAME.fullmatch(name) or not await self._exists(name):
            raise NotFound("Export not found.")
        await asyncio.to_thread(self._job_file(name).path.unlink)
        if self._running and self._running[0] == name:
            self._running[1].cancel()
            await asyncio.wait([self._running[1]])
        await asyncio.to_thread((self._directory / name).unlink, missing_ok=True)

    async def work(self) -> None:
        """Run jobs as they are created, forever."""
        await asyncio.to_thread(self._remove_partial)
        while True:
            self._wake.clear()
            await self.run_waiting()
            await self._wake.wait()

    async def run_waiting(self) -> None:
        """Run all waiting jobs, the oldest first."""
        for job in reversed(await self.all()):
            if job.is_open and await self._exists(job.name):
                await self._run(job)

    async def _run(self, job: ExportJob) -> None:
        if job.starts >= MAX_STARTS:
            await asyncio.to_thread(self._save, replace(job, problem=_INTERRUPTED))
            return
        await asyncio.to_thread(self._save, replace(job, starts=job.starts + 1))
        selection = Selected(job.query, title=job.title, entries=job.only)
        write = self._exporting.write(job.kind, selection, self._directory / job.name)
        task = asyncio.create_task(write, name="export")
        self._running = job.name, task
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:  # an orderly shutdown does not count as a start
            task.cancel()
            await asyncio.wait([task])
            await asyncio.to_thread(self._save, job)
            raise
        finally:
            self._running = None
        if not await self._exists(job.name):
            await asyncio.to_thread((self._directory / job.name).unlink, missing_ok=True)
        elif not task.cancelled():
            error = task.exception()
            await asyncio.to_thread(self._save, _ended(job, error or task.result()))

    async def _exists(self, name: str) -> bool:
        return await asyncio.to_thread(self._job_file(name).path.is_file)

    def _all(self) -> Iterator[ExportJob]:
        for path in self._directory.glob(f"*{_JOB}") if self._directory.is_dir() else ():
            if job := self._read(path.name.removesuffix(_JOB)):
                yield job

    def _read(self, name: str) -> ExportJob | None:
        path = self._directory / name
        try:
            saved = json.loads(self._job_file(name).read(_MAX_BYTES) or b"")
            job = ExportJob(
                name,
                BY_KEY[saved["form"]],
                ListingQuery(**saved["query"]),
                entries=saved.get("entries"),
                problem=str(saved["problem"]),
                starts=int(saved.get("starts", 0)),
                title=str(saved.get("title", "")),
                only=tuple(saved.get("only", ())),
            )
            if path.is_file():
                return replace(job, state=ExportState.READY, size=path.stat().st_size)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if job.problem:
            return replace(job, state=ExportState.FAILED)
        if self._running and self._running[0] == name:
            return replace(job, state=ExportState.RUNNING, size=_size(path.with_name(name + PART)))
        return job

    def _create(self, kind: ExportKind, selected: Selected, problem: str = "") -> str:
        if len([*self._all()]) >= MAX_JOBS:
            raise InputError(
                "You have reached the limit of {most} exports. Delete one first.", most=MAX_JOBS
            )
        query = selected.query
        words = _OTHERS.sub("-", f"{query.q} {query.tag} {query.host} {query.status}".lower())
        title = words.strip("-")[:36] or ("selected" if selected.entries else "everything")
        stem = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{title}"
        names = (f"{stem}{n or ''}.{kind.suffix}" for n in range(MAX_JOBS + 1))
        name = next(each for each in names if not self._job_file(each).path.exists())
        self._save(
            ExportJob(
                name, kind, query, title=selected.title, problem=problem, only=selected.entries
            )
        )
        return name

    def _save(self, job: ExportJob) -> None:
        saved = {
            "form": job.kind.key,
            "query": asdict(job.query),
            "problem": job.problem,
            "entries": job.entries,
            "starts": job.starts,
            "title": job.title,
            "only": job.only,
        }
        self._job_file(job.name).write(json.dumps(saved).encode())

    def _job_file(self, name: str) -> AtomicFile:
        self._directory.mkdir(exist_ok=True)
        return AtomicFile(self._directory / f"{name}{_JOB}")

    def _remove_partial(self) -> None:
        """Remove incomplete files of killed processes."""
        for pattern in (f"*{PART}", ".*"):
            for path in self._directory.glob(pattern):
                path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _ended(job: ExportJob, result: Report | BaseException) -> ExportJob:
    """Return a job with its result; a complete export may still have a problem."""
    if isinstance(result, BaseException):
        return replace(job, problem=_problem(job.name, result))
    return replace(job, entries=result.entries, problem=_DAMAGED if result.damaged else "")


def _problem(name: str, error: BaseException) -> str:
    """Return why an export failed; an unexpected error must not stop the other jobs."""
    if isinstance(error, ArchiverError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    log.error("export failed", name=name, exc_info=error)
    return _UNEXPECTED
