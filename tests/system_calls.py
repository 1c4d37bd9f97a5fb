"""System calls of a program, traced by strace, and a model of a disk that loses power."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import psutil

TRACED = (
    "openat,mkdir,unlink,unlinkat,rename,renameat,renameat2,truncate,ftruncate,"
    "write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync"
)
SYNCS = ("fsync", "fdatasync")
_AT_OFFSET = ("pwrite64", "truncate", "ftruncate")
SENDS = ("write", "writev", "sendto", "sendmsg")
_LINE = re.compile(r"(?P<thread>\d+) +(?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)")
_FILE = re.compile(r"(?:\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})+)>")
_NUMBERS = re.compile(r", (\d+)\b")


@dataclass(frozen=True, slots=True)
class Call:
    """A successful system call.

    Attributes:
        name: name of the call.
        start_line, end_line: lines of the trace where the call began and ended.
        path: path of the file; for a rename, the old one.
        texts: string arguments.
        offset: offset of ``pwrite64``; the new size of ``truncate`` and ``ftruncate``.
        flags: other arguments.
    """

    name: str
    start_line: int
    end_line: int
    path: str
    texts: tuple[bytes, ...]
    offset: int
    flags: str

    @property
    def data(self) -> bytes:
        """Return the bytes that it writes or sends."""
        return b"".join(self.texts)


class Trace:
    """Run of a program under strace: ``command`` starts it, ``calls`` is complete after its end."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def command(self, *arguments: str) -> list[str]:
        """Return the arguments that start a program under strace."""
        options = ("-f", "-qq", "-y", "-xx", "-s", "9999999", "--seccomp-bpf")
        return ["strace", *options, "-e", f"trace={TRACED}", "-o", str(self._log), *arguments]

    def calls(self) -> list[Call]:
        """Return every successful call, in the order of their ends."""
        with self._log.open() as lines:
            return list(_calls(lines))


def killing(call: str, path: Path | None = None) -> tuple[str, ...]:
    """Return the start of a command that kills a program at its first such call, about a path."""
    about = ("-P", str(path)) if path else ()
    strace = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}")
    return (*strace, *about, "-e", f"inject={call}:signal=SIGKILL:when=1")


def traced_process(strace: int) -> psutil.Process:
    """Return the process started by a running strace with this id."""
    return psutil.Process(strace).children()[0]


def _calls(lines: Iterable[str]) -> Iterator[Call]:
    unfinished: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        thread, rest = match["thread"], match["rest"]
        if rest.endswith("<unfinished ...>"):
            unfinished[thread] = number, rest.removesuffix("<unfinished ...>")
            continue
        start_line = number
        if resumed := _RESUMED.match(rest):
            start_line, start = unfinished.pop(thread)
            rest = start + rest[resumed.end() :]
        if call := _CALL.match(rest):
            yield from _read(call, start_line, number)


def _read(call: re.Match[str], start_line: int, end_line: int) -> Iterator[Call]:
    if int(call["result"]) < 0:
        return
    name, arguments = call["name"], call["arguments"]
    parts = arguments.split('"')  # strace escapes every byte, so a quote only ends a string
    text, texts = "".join(parts[::2]), [_bytes(each) for each in parts[1::2]]
    files = [_bytes(each).decode() for each in _FILE.findall(text)]
    flags = _FILE.sub("", text)
    numbers = _NUMBERS.findall(flags)
    path = files[0] if files else ""
    if name in ("openat", "unlinkat", "renameat", "renameat2"):
        path = str(PurePosixPath(files[0]) / texts[0].decode())
    elif name in ("mkdir", "unlink", "rename", "truncate"):
        path = texts[0].decode()
    offset = int(numbers[-1]) if numbers and name in ("pwrite64", "ftruncate", "truncate") else 0
    yield Call(name, start_line, end_line, path, tuple(texts), offset, flags)


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


@dataclass(slots=True)
class _File:
    """A file: its synced content, and the later calls that changed it."""

    synced: bytes = b""
    unsynced: list[Call] = field(default_factory=list)

    def content(self, count: int | None = None) -> bytes:
        """Return the content after the first ``count`` unsynced changes; None for all."""
        data = bytearray(self.synced)
        for call in self.unsynced[:count]:
            at = call.offset if call.name in _AT_OFFSET else len(data)
            data.extend(bytes(max(at - len(data), 0)))
            if call.name in ("truncate", "ftruncate"):
                del data[at:]
            else:
                data[at : at + len(call.data)] = call.data
        return bytes(data)

    def sync(self, before: int) -> None:
        """Mark changes that ended before a line of the trace as synced."""
        count = sum(call.end_line < before for call in self.unsynced)
        self.synced, self.unsynced = self.content(count), self.unsynced[count:]


class Disk:
    """Files of a directory, and their possible states after a loss of power.

    The content of a file is safe after it was synced, its name after its directory was synced
    (POSIX fsync); anything else may be lost or not.
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._files: dict[str, _File] = {}
        self._synced_names: dict[str, _File | None] = {}
        self._names: dict[str, tuple[int, _File | None]] = {}

    def apply(self, call: Call) -> None:
        """Apply a call."""
        if call.name == "openat" and "O_CREAT" in call.flags:
            self._open(call)
        elif call.name == "mkdir" and self._is_within(call.path):
            self._names[call.path] = call.end_line, None
        elif call.name in ("unlink", "unlinkat"):
            self._remove(call)
        elif call.name.startswith("rename"):
            self._rename(call)
        elif call.name in SYNCS:
            self._sync(call)
        elif call.path in self._files and call.name != "openat":
            self._files[call.path].unsynced.append(call)

    def synced_files(self) -> dict[str, bytes]:
        """Return the files that survive with their synced content, by name."""
        return self._as_named({name: file.synced for name, file in self._synced_files().items()})

    def all_changes(self) -> dict[str, bytes]:
        """Return the files with all changes, as after a kill of the process only."""
        return self._as_named({name: file.content() for name, file in self._files.items()})

    def zeros_for_unsynced(self) -> dict[str, bytes]:
        """Return files with their sizes, but zeros instead of bytes that were not synced."""
        return self._as_named(
            {
                name: file.synced.ljust(len(file.content()), b"\0")
                for name, file in self._synced_files().items()
            }
        )

    def half_of_unsynced(self, *, segments: bool) -> dict[str, bytes]:
        """Return half of the unsynced changes of the segments, or of the other files."""
        contents = {}
        for name, file in self._synced_files().items():
            contents[name] = file.synced
            if name.endswith(".warc.gz") == segments and file.unsynced:
                count = (len(file.unsynced) + 1) // 2
                whole, last = file.content(count), file.unsynced[count - 1]
                contents[name] = whole[: max(len(file.synced), len(whole) - len(last.data) // 2)]
        return self._as_named(contents)

    def _open(self, call: Call) -> None:
        if not self._is_within(call.path):
            return
        if call.path not in self._files:
            self._files[call.path] = _File()
            self._names[call.path] = call.end_line, self._files[call.path]
        if "O_TRUNC" in call.flags:
            empty = Call("truncate", call.start_line, call.end_line, call.path, (), 0, "")
            self._files[call.path].unsynced.append(empty)

    def _remove(self, call: Call) -> None:
        if self._files.pop(call.path, None):
            self._names[call.path] = call.end_line, None

    def _rename(self, call: Call) -> None:
        file = self._files.pop(call.path, None)
        if file:
            new = call.texts[-1].decode()
            self._files[new] = file
            self._names[call.path] = call.end_line, None
            self._names[new] = call.end_line, file

    def _sync(self, call: Call) -> None:
        if call.path in self._files:
            self._files[call.path].sync(call.start_line)
            return
        for name, (end_line, file) in [*self._names.items()]:
            if str(PurePosixPath(name).parent) == call.path and end_line < call.start_line:
                self._synced_names[name] = file
                del self._names[name]

    def _is_within(self, path: str) -> bool:
        return PurePosixPath(path).is_relative_to(self._root)

    def _synced_files(self) -> dict[str, _File]:
        """Return the files whose names, and whose directories' names, were synced."""
        return {
            name: file
            for name, file in self._synced_names.items()
            if file and all(str(above) not in self._names for above in PurePosixPath(name).parents)
        }

    def _as_named(self, contents: dict[str, bytes]) -> dict[str, bytes]:
        return {name.removeprefix(f"{self._root}/"): data for name, data in contents.items()}
