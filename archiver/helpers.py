"""Child processes, temporary files, small files and other small helpers.

A child process runs with ``python -P``, so it never imports files from the current directory. It
gets only the environment variables that Python, the C library and TLS need. Settings are passed to
it as arguments or through its standard input.
"""

import asyncio
import fcntl
import os
import re
import sys
import time
from collections import OrderedDict
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory, TemporaryFile, mkstemp
from typing import Any, BinaryIO, Generic, TypeVar, cast

PREFIX = "archiver-"


def scratch_file() -> BinaryIO:
    """Open a temporary file that is deleted when it is closed or the process exits."""
    return cast("BinaryIO", TemporaryFile(prefix=PREFIX))


@asynccontextmanager
async def scratch_directory() -> AsyncIterator[str]:
    """Yield the path of a new temporary directory; delete it with its content at the end."""
    directory = await asyncio.to_thread(TemporaryDirectory[str], prefix=PREFIX)
    try:
        yield directory.name
    finally:
        await run_to_completion(asyncio.to_thread(directory.cleanup))


def spooled_file(held_bytes: int) -> BinaryIO:
    """Open a temporary file that stays in memory up to ``held_bytes``, then moves to disk."""
    return cast("BinaryIO", SpooledTemporaryFile(held_bytes, prefix=PREFIX))


_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "_shipped"
_ROOT = _SHIPPED if _SHIPPED.is_dir() else _PACKAGE.parent

TEMPLATES = _ROOT / "templates"
STATIC = _ROOT / "static"
MIGRATIONS = _ROOT / "migrations"
LOCALES = _PACKAGE / "locales"

PRIVATE = 0o600
PRIVATE_DIRECTORY = 0o700
UNFINISHED = ".new"
"""Suffix of files that are not completely written."""
FOLLOW_SECONDS = 1.0
"""Maximum delay in seconds until a change of a followed file is noticed."""
FileVersion = tuple[int, int, int]
"""(inode, size, modification time in nanoseconds) of a file; changes when the file changes."""


class AtomicFile:
    """A file that is always read or replaced as a whole.

    Args:
        path: path of the file; a missing directory is created by ``locked``.
        mode: permission bits of the file.
    """

    def __init__(self, path: Path, *, mode: int = PRIVATE) -> None:
        self.path = path
        self._mode = mode

    def read(self, most: int) -> bytes | None:
        """Return the first ``most`` bytes of the content; None if the file does not exist."""
        try:
            with self.path.open("rb") as file:
                return file.read(most)
        except FileNotFoundError:
            return None

    def version(self) -> FileVersion | None:
        """Return a value that changes with the file; None if the file does not exist."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock out other processes, so that reading and then writing the file has no race."""
        self.path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        name = self.path.with_suffix(".lock")
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def write(self, content: bytes) -> None:
        """Replace the content atomically and sync it to disk."""
        folder = self.path.parent
        handle, temporary = mkstemp(UNFINISHED, f".{self.path.name}.", folder)
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(handle, self._mode)
                file.write(content)
                file.flush()
                os.fsync(handle)
            Path(temporary).replace(self.path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        sync_directory(folder)


_Parsed = TypeVar("_Parsed")


class FollowedFile(Generic[_Parsed]):
    """Parsed content of a small file, which is read again within a second after a change.

    Args:
        file: the file.
        parse: function that parses the content. It gets None if the file does not exist.
        most: maximum number of bytes to read.
        clock: returns the time in seconds; tests replace it.
    """

    def __init__(
        self,
        file: AtomicFile,
        parse: Callable[[bytes | None], _Parsed],
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = file
        self._parse = parse
        self._most = most
        self._clock = clock
        self._version: FileVersion | None = None
        self._checked_at = float("-inf")
        self._value = parse(None)

    @property
    def value(self) -> _Parsed:
        """Parsed content."""
        if self._clock() >= self._checked_at + FOLLOW_SECONDS:
            self._checked_at = self._clock()
            version = self._file.version()  # one stat call, about as cheap as parsing a URL
            if version != self._version:
                self._version = version
                self._value = self._parse(self._file.read(self._most))
        return self._value


def make_directory(path: Path) -> None:
    """Create a directory and its parents, accessible to their owner only.

    The parent of each new directory is synced, so that its name survives a power loss.
    """
    if path.is_dir():
        return
    make_directory(path.parent)
    path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    sync_directory(path.parent)


def sync_file(path: Path, *, within: Path) -> None:
    """Fsync a file, its directory and the parents up to ``within``."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
    for directory in path.parents:
        sync_directory(directory)
        if directory == within:
            return


def sync_directory(path: Path) -> None:
    """Fsync a directory, so that the names in it survive a power loss."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class RecentItems(OrderedDict[_Key, _Value]):
    """Dictionary with the ``most`` items that were set last; older items are dropped."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: _Key, value: _Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


async def run_to_completion(work: "Coroutine[Any, Any, Any] | asyncio.Future[None]") -> None:
    """Finish ``work`` even if the calling task is cancelled, once or several times.

    After such a cancellation, ``CancelledError`` is raised when ``work`` has ended.
    """
    doing = asyncio.ensure_future(work)
    cancelled = None
    while not doing.done():
        try:
            await asyncio.wait([doing])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled from doing.exception()
    doing.result()


@asynccontextmanager
async def open_for_writing(path: Path) -> AsyncIterator[BinaryIO]:
    """Open a file for writing in a thread, and close it at the end or on cancellation.

    Raises:
        OSError: the file can't be opened.
    """
    # A task would be cancelled at the end of the event loop, and the file would stay open.
    opened = asyncio.get_running_loop().run_in_executor(None, path.open, "wb")
    try:
        file = cast("BinaryIO", await asyncio.shield(opened))
    except asyncio.CancelledError:
        opened.add_done_callback(_close_opened)
        await asyncio.wait([opened])
        raise
    with file:
        yield file


def _close_opened(opened: "asyncio.Future[Any]") -> None:
    if not opened.exception():
        opened.result().close()


_ALLOWED_VARIABLES = re.compile(
    "PATH|HOME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|LD_LIBRARY_PATH|SSL_CERT_FILE|SSL_CERT_DIR|MALLOC_.*"
    "|PYTHON(?:HOME|HASHSEED|DONTWRITEBYTECODE|PYCACHEPREFIX)"
)
_PIECE = 64 << 10
_PACKAGE_PARENT = Path(__file__).resolve().parents[1]


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this program in a child process."""
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment(variables: Mapping[str, str] = os.environ, **more: str) -> dict[str, str]:
    """Return the environment of a child process: allowed variables of ``variables``, and ``more``.

    ``PYTHONPATH`` starts with the directory of this program, which may not be installed. Relative
    directories are dropped from it, since they depend on the current directory.
    """
    paths = [str(_PACKAGE_PARENT)]
    paths += filter(os.path.isabs, variables.get("PYTHONPATH", "").split(os.pathsep))
    allowed = {
        name: value for name, value in variables.items() if _ALLOWED_VARIABLES.fullmatch(name)
    }
    return allowed | {"PYTHONPATH": os.pathsep.join(paths)} | more


async def start_child(
    module: str, *arguments: str, limit: int = _PIECE, **variables: str
) -> asyncio.subprocess.Process:
    """Start a child process with pipes to its standard input and output.

    Args:
        module: name of the module to run.
        *arguments: command line arguments of the module.
        limit: number of bytes of output to buffer.
        **variables: environment variables to add.
    """
    return await asyncio.create_subprocess_exec(
        *child_command(module, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=limit,
        env=child_environment() | variables,
    )


async def end_child(process: asyncio.subprocess.Process) -> None:
    """Kill a child process and wait for its exit; unread output is discarded.

    The output is read to its end first, since otherwise ``wait`` never returns in Python versions
    before 3.12.4 (CPython gh-119710).
    """
    with suppress(ProcessLookupError):
        process.kill()
    if process.stdout is not None:
        with suppress(RuntimeError):  # another task is already reading it
            while await process.stdout.read(_PIECE):
                pass
    await process.wait()


async def wait_until_readable(handle: int) -> None:
    """Wait until a file descriptor, such as that of a socket, can be read without blocking."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(handle, wake)
    try:
        await ready
    finally:
        loop.remove_reader(handle)
