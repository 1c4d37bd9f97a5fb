"""Child processes, temporary files, small files and other small helpers.

A child is run by ``-P``, so that a file beside which somebody works is never imported, and gets
the few variables that Python, the C library and TLS need. Whatever it is to know of the settings
comes to it by its arguments or its standard input.
"""

import asyncio
import fcntl
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryFile
from threading import Lock
from typing import IO, Any, BinaryIO, TypeVar, cast

PREFIX = "archiver-"


def scratch_file() -> BinaryIO:
    """A file that is gone once it is closed, or its process ends."""
    return cast("BinaryIO", TemporaryFile(prefix=PREFIX))


def spooled_file(held_bytes: int) -> BinaryIO:
    """A file in memory, which goes to disk once it is longer than so many bytes."""
    return cast("BinaryIO", SpooledTemporaryFile(held_bytes, prefix=PREFIX))


_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "_shipped"
_ROOT = _SHIPPED if _SHIPPED.is_dir() else _PACKAGE.parent

TEMPLATES = _ROOT / "templates"
STATIC = _ROOT / "static"
MIGRATIONS = _ROOT / "migrations"
LOCALES = _PACKAGE / "locales"

PRIVATE = 0o600
UNFINISHED = ".new"
"""Ends the name of what is not yet whole."""
Mark = tuple[int, int, int]
"""What changes whenever a file does: its inode, its size, its time in nanoseconds."""


class AtomicFile:
    """A file that is read whole and written whole, by one process at a time.

    Args:
        path: of the file; its directory is made when something is to be kept.
        mode: of the file.
    """

    def __init__(self, path: Path, *, mode: int = PRIVATE) -> None:
        self.path = path
        self._mode = mode

    def read(self, most: int) -> bytes | None:
        """What it holds, up to ``most`` bytes; None if there is none."""
        try:
            with self.path.open("rb") as file:
                return file.read(most)
        except FileNotFoundError:
            return None

    def mark(self) -> Mark | None:
        """What it looks like from outside; None if there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other process come between a reading and the writing that follows."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        name = self.path.with_suffix(".lock")
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def write(self, content: bytes) -> None:
        """Put this in the place of what it held; it is on disk then.

        What a process that was killed had written of it is written over.
        """
        with self._unfinished() as file:
            file.truncate()
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            self._fresh.replace(self.path)
        _sync(self.path.parent)

    def forget_unfinished(self) -> None:
        """Take away what a process that was killed had written of it."""
        if self._fresh.exists():
            with self._unfinished():
                self._fresh.unlink()

    @property
    def _fresh(self) -> Path:
        return self.path.with_name(f".{self.path.name}{UNFINISHED}")

    @contextmanager
    def _unfinished(self) -> Iterator[IO[bytes]]:
        """The file that will take its place, which no other process has."""
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(self._fresh, flags, self._mode), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if not self._is_fresh(file):
                    continue  # who had it gave it its name, or took it away
                try:
                    yield file
                except BaseException:
                    self._fresh.unlink(missing_ok=True)
                    raise
                return

    def _is_fresh(self, file: IO[bytes]) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._fresh.lstat())
        except FileNotFoundError:
            return False


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_First = TypeVar("_First")
_Second = TypeVar("_Second")
_Each = TypeVar("_Each")


async def run_to_completion(work: "Coroutine[Any, Any, None] | asyncio.Future[None]") -> None:
    """Do this to its end, also where the task that asks for it is cancelled meanwhile."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise


async def both(first: Awaitable[_First], second: Awaitable[_Second]) -> tuple[_First, _Second]:
    """What two that run beside each other give; where one fails, the other has ended, too."""
    one, other = await all_of((first, second))
    return cast("_First", one), cast("_Second", other)


async def all_of(works: Iterable[Awaitable[_Each]]) -> "list[_Each]":
    """The same of several."""
    tasks = [asyncio.ensure_future(each) for each in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for each in tasks:
            each.cancel()
        await asyncio.wait(tasks)
        raise


class _Opening:
    """A file that a thread opens, closed where nobody waits for it any more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settling = Lock()
        self._file: BinaryIO | None = None
        self._is_given_up = False

    def open(self) -> BinaryIO:
        """Blocking; the file is closed already where it was given up meanwhile."""
        file = cast("BinaryIO", self._path.open("wb"))
        with self._settling:
            self._file = file
            if self._is_given_up:
                file.close()
        return file

    def give_up(self) -> None:
        with self._settling:
            self._is_given_up = True
            if self._file:
                self._file.close()


@asynccontextmanager
async def open_for_writing(path: Path) -> AsyncIterator[BinaryIO]:
    """A file to be written anew, opened in a thread; closed whatever happens meanwhile.

    Raises:
        OSError: it can't be opened.
    """
    opening = _Opening(path)
    opened = asyncio.ensure_future(asyncio.to_thread(opening.open))
    try:
        file = await asyncio.shield(opened)
    except asyncio.CancelledError:
        opening.give_up()
        await asyncio.wait([opened])
        raise
    with file:
        yield file


_PASSED_ON = re.compile(
    "PATH|HOME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|LD_LIBRARY_PATH|SSL_CERT_FILE|SSL_CERT_DIR|MALLOC_.*"
    "|PYTHON(?:HOME|HASHSEED|UNBUFFERED|DONTWRITEBYTECODE|PYCACHEPREFIX)"
)
_PIECE = 64 << 10
_PACKAGE_PARENT = Path(__file__).resolve().parents[1]


def child_command(module: str, *arguments: str) -> list[str]:
    """The words that run a module of this program in a child."""
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment(given: Mapping[str, str] = os.environ, **more: str) -> dict[str, str]:
    """The variables of a child: what it needs of those given, and ``more``.

    ``PYTHONPATH`` names this program, which need not be installed, and of the directories that it
    named before only those that do not depend on where somebody stands.
    """
    paths = [str(_PACKAGE_PARENT)]
    paths += filter(os.path.isabs, given.get("PYTHONPATH", "").split(os.pathsep))
    kept = {name: value for name, value in given.items() if _PASSED_ON.fullmatch(name)}
    return kept | {"PYTHONPATH": os.pathsep.join(paths)} | more


async def end_child(process: asyncio.subprocess.Process) -> None:
    """Kill a child and wait for its end; what it wrote and nobody read is thrown away.

    As long as its output is not read to the end, ``wait`` waits for ever (CPython gh-119710, mended
    in 3.12.4).
    """
    with suppress(ProcessLookupError):
        process.kill()
    if process.stdout is not None:
        with suppress(RuntimeError):  # somebody else is reading it to the end just now
            while await process.stdout.read(_PIECE):
                pass
    await process.wait()
