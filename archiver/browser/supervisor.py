"""Supervisor process that sandboxes Chromium and limits its memory.

Run as ``python -m archiver.browser.supervisor PLAN`` with a Unix socket as standard input, and the
two pipes of the DevTools protocol open. PLAN is JSON: ``command``, ``profile``, ``pipes``,
``memory_bytes``, ``renderer_bytes``, ``is_isolated``. Uses the standard library alone: there is
one for each browser, and it has to be there before anything else is.

The cell is a user namespace, in which Chromium's own sandbox can start also where we are root, and
a network namespace that holds a loopback interface and nothing else. The gates' sockets are made
inside and passed out. It ends when the socket does, or Chromium: then everything that came of it is
killed and the profile removed, whatever became of us.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any

LOOK_SECONDS = 0.25
ASK_FOR_SOCKET = b"s"
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
_NOBODY = 65534
_PATIENCE_SECONDS = 5.0
_PIPES = (3, 4)
"""Where Chromium reads what we say, and where it answers."""


def main() -> None:
    """Start Chromium, serve, and end with it or with whoever started us."""
    plan = json.loads(sys.argv[1])
    control = socket.socket(fileno=os.dup(0))
    for each in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    isolated = enter_cell(libc, is_isolated=plan["is_isolated"])
    control.sendall(b"isolated\n" if isolated else b"open\n")
    chromium = _start(plan, libc)
    try:
        _serve(plan, control, chromium)
    finally:
        _end_all()
        shutil.rmtree(plan["profile"], ignore_errors=True)


def enter_cell(libc: Any, *, is_isolated: bool) -> bool:
    """Enter the namespaces as far as this machine lets us; whether there is no network here."""
    mine = os.geteuid(), os.getegid()
    wanted = (_CLONE_NEWUSER | _CLONE_NEWNET, _CLONE_NEWUSER)
    entered = next((each for each in wanted[not is_isolated :] if not libc.unshare(each)), 0)
    if not entered:
        return False
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{mine[0] or _NOBODY} {mine[0]} 1"),
        ("gid_map", f"{mine[1] or _NOBODY} {mine[1]} 1"),
    ):
        with os.fdopen(os.open(f"/proc/self/{name}", os.O_WRONLY), "w") as file:
            file.write(line)
    if entered & _CLONE_NEWNET:
        _raise_loopback()
    return bool(entered & _CLONE_NEWNET)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        wanted = struct.pack("16sh14x", b"lo", _IFF_UP)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, wanted)


def _start(plan: dict[str, Any], libc: Any) -> int:
    mine = os.getpid()
    pid = os.fork()
    if pid:
        for each in plan["pipes"]:
            os.close(each)
        return pid
    try:
        os.setsid()
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != mine:
            os._exit(127)  # whoever was to be outlived by nothing was killed before that held
        for each in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, 100) for each in plan["pipes"]]
        for given, wanted in zip(high, _PIPES, strict=True):
            os.dup2(given, wanted)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.closerange(max(_PIPES) + 1, 4096)
        command: list[str] = plan["command"]
        # No shell is wanted between.
        os.execve(command[0], command, plan["environment"])  # noqa: S606
    finally:
        os._exit(127)


def _serve(plan: dict[str, Any], control: socket.socket, chromium: int) -> None:
    """Serve until the socket ends or Chromium does."""
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        watched = os.pidfd_open(chromium)
        selector.register(watched, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(LOOK_SECONDS):
                if key.fd == watched or not _answer(control):
                    return
            _reap(chromium)
            _watch_memory(plan)


def _answer(control: socket.socket) -> bool:
    """Make a listening socket for each byte that asks for one; whether the other side is there."""
    try:
        asked = control.recv(1)
        if asked == ASK_FOR_SOCKET:
            with socket.create_server(("127.0.0.1", 0), backlog=128) as made:
                port = made.getsockname()[1]
                socket.send_fds(control, [f"{port:05}".encode()], [made.fileno()])
    except OSError:
        return False
    return bool(asked)


def _watch_memory(plan: dict[str, Any]) -> None:
    """Kill the process that takes most, where all take too much, or it alone does."""
    taken = {pid: memory_of(pid) for pid in descendants()}
    if not taken:
        return
    largest = max(taken, key=lambda pid: taken[pid])
    is_too_much = sum(taken.values()) > plan["memory_bytes"]
    if is_too_much or taken[largest] > plan["renderer_bytes"]:
        with suppress(ProcessLookupError):
            os.kill(largest, signal.SIGKILL)


def memory_of(pid: int) -> int:
    """Bytes of memory that are this process's own, and shared memory it holds."""
    total = 0
    for line in _read(f"/proc/{pid}/status").splitlines():
        name, _, value = line.partition(":")
        if name in ("RssAnon", "RssShmem"):
            total += int(value.split()[0]) << 10
    return total


def descendants() -> list[int]:
    """Every process that came of this one."""
    children: dict[int, list[int]] = {}
    with os.scandir("/proc") as entries:
        names = [each.name for each in entries]
    for name in names:
        if name.isdecimal():
            stat = _read(f"/proc/{name}/stat").rpartition(")")[2].split()
            if len(stat) > 1 and stat[0] != "Z":
                children.setdefault(int(stat[1]), []).append(int(name))
    found, waiting = [], [os.getpid()]
    while waiting:
        more = children.get(waiting.pop(), [])
        found += more
        waiting += more
    return found


def _end_all() -> None:
    """Kill whatever came of us, until nothing is left.

    What the kernel says counts: it gives us the children of all that die, while a list of processes
    misses one whose parent dies as the list is read.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while _has_children() and time.monotonic() < until:
        for pid in descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _has_children() -> bool:
    """Whether any are left, once leave was taken of those who ended."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True


def _reap(but: int) -> None:
    """Take leave of those who ended, and of one not: whoever watches it has yet to see."""
    with suppress(ChildProcessError):
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid == but:
                return
            os.waitpid(found.si_pid, os.WNOHANG)


def _read(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY)
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESRCH, errno.EACCES):
            return ""
        raise


if __name__ == "__main__":
    main()
