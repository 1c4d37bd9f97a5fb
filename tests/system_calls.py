"""What a program asks of the kernel, in order, as strace saw it; and what a disk keeps of it."""

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
SENDS = ("write", "writev", "sendto", "sendmsg")
_LINE = re.compile(r"(?P<thread>\d+) +(?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)")
_FILE = re.compile(r"(?:\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})+)>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_NUMBERS = re.compile(r", (\d+)\b")


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that succeeded.

    Attributes:
        name: of the call.
        began, ended: lines of the trace; another call that ended before this one began came first.
        path: of the file it is about; of a rename, the old one.
        texts: its strings.
        offset: of ``pwrite64``; the new size of ``truncate`` and ``ftruncate``.
        flags: the rest of its arguments.
    """

    name: str
    began: int
    ended: int
    path: str
    texts: tuple[bytes, ...]
    offset: int
    flags: str

    @property
    def data(self) -> bytes:
        """What it writes or sends."""
        return b"".join(self.texts)


class Trace:
    """Runs a program under strace: ``command`` starts it, ``calls`` are known once it has ended."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def command(self, *arguments: str) -> list[str]:
        """The arguments that start a program so that it is traced."""
        options = ("-f", "-qq", "-y", "-xx", "-s", "9999999", "--seccomp-bpf")
        return ["strace", *options, "-e", f"trace={TRACED}", "-o", str(self._log), *arguments]

    def calls(self) -> list[Call]:
        """Every call that succeeded, in the order in which they ended."""
        with self._log.open() as lines:
            return list(_calls(lines))


def program_of(strace: int) -> psutil.Process:
    """The process that a running strace, named by its id, has started."""
    return psutil.Process(strace).children()[0]


def _calls(lines: Iterable[str]) -> Iterator[Call]:
    begun: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines):
        found = _LINE.match(line)
        thread, rest = found["thread"], found["rest"]
        if rest.endswith("<unfinished ...>"):
            begun[thread] = number, rest.removesuffix("<unfinished ...>")
            continue
        began = number
        if resumed := _RESUMED.match(rest):
            began, start = begun.pop(thread)
            rest = start + rest[resumed.end() :]
        if call := _CALL.match(rest):
            yield from _read(call, began, number)


def _read(call: re.Match[str], began: int, ended: int) -> Iterator[Call]:
    if int(call["result"]) < 0:
        return
    name, arguments = call["name"], call["arguments"]
    files = [_bytes(each).decode() for each in _FILE.findall(arguments)]
    texts = [_bytes(each) for each in _TEXT.findall(arguments)]
    flags = _TEXT.sub("", _FILE.sub("", arguments))
    numbers = _NUMBERS.findall(flags)
    path = files[0] if files else ""
    if name in ("openat", "unlinkat", "renameat", "renameat2"):
        path = str(PurePosixPath(files[0]) / texts[0].decode())
    elif name in ("mkdir", "unlink", "rename", "truncate"):
        path = texts[0].decode()
    offset = int(numbers[-1]) if numbers and name in ("pwrite64", "ftruncate", "truncate") else 0
    yield Call(name, began, ended, path, tuple(texts), offset, flags)


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


@dataclass(slots=True)
class _File:
    """A file: what is safe of it, and what was done to it since (the call's end, and what)."""

    safe: bytes = b""
    later: list[Call] = field(default_factory=list)

    def content(self, count: int | None = None) -> bytes:
        """What is in it with the first ``count`` of the later calls."""
        data = bytearray(self.safe)
        for call in self.later[:count]:
            if call.name in ("truncate", "ftruncate"):
                data = data[: call.offset].ljust(call.offset, b"\0")
                continue
            at = call.offset if call.name == "pwrite64" else len(data)
            data = data.ljust(at, b"\0")
            data[at : at + len(call.data)] = call.data
        return bytes(data)

    def sync(self, before: int) -> None:
        """Make safe what was done before a line of the trace."""
        count = sum(call.ended < before for call in self.later)
        self.safe, self.later = self.content(count), self.later[count:]


class Disk:
    """The files beneath a directory, as a disk that loses power may give them back.

    A file's content is safe once it is synced, its name once its directory is (POSIX fsync); what
    is neither may be there, or not.
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._files: dict[str, _File] = {}
        self._safe_names: dict[str, _File | None] = {}
        self._names: dict[str, tuple[int, _File | None]] = {}

    def apply(self, call: Call) -> None:
        """Do what a call did."""
        if call.name == "openat" and "O_CREAT" in call.flags:
            self._open(call)
        elif call.name == "mkdir" and self._is_within(call.path):
            self._names[call.path] = call.ended, None
        elif call.name in ("unlink", "unlinkat"):
            self._remove(call)
        elif call.name.startswith("rename"):
            self._rename(call)
        elif call.name in SYNCS:
            self._sync(call)
        elif call.path in self._files and call.name != "openat":
            self._files[call.path].later.append(call)

    def without_what_is_not_synced(self) -> dict[str, bytes]:
        """Only what is safe."""
        return self._as_named({name: file.safe for name, file in self._safe_files().items()})

    def with_everything(self) -> dict[str, bytes]:
        """All that was done: the process was killed, the machine was not."""
        return self._as_named({name: file.content() for name, file in self._files.items()})

    def with_sizes_only(self) -> dict[str, bytes]:
        """Files as long as they were to be, with zeros where nothing was synced."""
        return self._as_named(
            {
                name: file.safe.ljust(len(file.content()), b"\0")
                for name, file in self._safe_files().items()
            }
        )

    def with_half_of_it(self, *, segments: bool) -> dict[str, bytes]:
        """Of the segments, or of the rest, half of what is not synced; of the others nothing."""
        kept = {}
        for name, file in self._safe_files().items():
            kept[name] = file.safe
            if name.endswith(".warc.gz") == segments and file.later:
                count = (len(file.later) + 1) // 2
                whole, last = file.content(count), file.later[count - 1]
                kept[name] = whole[: max(len(file.safe), len(whole) - len(last.data) // 2)]
        return self._as_named(kept)

    def _open(self, call: Call) -> None:
        if not self._is_within(call.path):
            return
        if call.path not in self._files:
            self._files[call.path] = _File()
            self._names[call.path] = call.ended, self._files[call.path]
        if "O_TRUNC" in call.flags:
            empty = Call("truncate", call.began, call.ended, call.path, (), 0, "")
            self._files[call.path].later.append(empty)

    def _remove(self, call: Call) -> None:
        if self._files.pop(call.path, None):
            self._names[call.path] = call.ended, None

    def _rename(self, call: Call) -> None:
        file = self._files.pop(call.path, None)
        if file:
            new = call.texts[-1].decode()
            self._files[new] = file
            self._names[call.path] = call.ended, None
            self._names[new] = call.ended, file

    def _sync(self, call: Call) -> None:
        if call.path in self._files:
            self._files[call.path].sync(call.began)
            return
        for name, (ended, file) in [*self._names.items()]:
            if str(PurePosixPath(name).parent) == call.path and ended < call.began:
                self._safe_names[name] = file
                del self._names[name]

    def _is_within(self, path: str) -> bool:
        return PurePosixPath(path).is_relative_to(self._root)

    def _safe_files(self) -> dict[str, _File]:
        """Files whose name is safe, and those of every directory above it that was made here."""
        return {
            name: file
            for name, file in self._safe_names.items()
            if file and all(str(above) not in self._names for above in PurePosixPath(name).parents)
        }

    def _as_named(self, kept: dict[str, bytes]) -> dict[str, bytes]:
        return {name.removeprefix(f"{self._root}/"): data for name, data in kept.items()}
