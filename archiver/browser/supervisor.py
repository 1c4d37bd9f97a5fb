"""Supervisor process that sandboxes Chromium and limits its memory.

Run as ``python -m archiver.browser.supervisor PLAN`` with a Unix socket as standard input, and the
two pipes of the DevTools protocol open. PLAN is JSON: ``command``, ``environment``, ``profile``,
``pipes``, ``memory_bytes``, ``renderer_bytes``, ``is_isolated``. The module imports only the
standard library, so that it starts fast: each browser waits for its supervisor.

With ``check`` instead of PLAN, the exit status says whether Chromium's sandbox can start. The check
needs a separate process, because a process cannot leave the namespaces again.

The sandbox is a user namespace, in which Chromium's own sandbox can start even as root, and a
network namespace with only a loopback interface. The listening sockets of the request gates
(``request_gate``) are created in this namespace and sent to the parent process. The supervisor
exits when its control socket closes or Chromium exits; it then kills all descendants and removes
the profile, even if the archiver itself was killed.
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

POLL_SECONDS = 0.25
ASK_FOR_SOCKET = b"s"
CHECK = "check"
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
_NOBODY = 65534
_PATIENCE_SECONDS = 5.0
_PIPES = (3, 4)
"""File descriptors of Chromium: it reads commands from the first, and answers on the second."""


def main() -> None:
    """Start Chromium and serve until Chromium or the parent process ends."""
    if sys.argv[1] == CHECK:
        sys.exit(int(not _can_sandbox()))
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


def _can_sandbox() -> bool:
    """Enter the namespaces that Chromium's sandbox needs; return whether that is allowed."""
    libc = ctypes.CDLL(None)
    return bool(libc.unshare(_CLONE_NEWUSER) == 0 and libc.unshare(_CLONE_NEWPID) == 0)


def enter_cell(libc: Any, *, is_isolated: bool) -> bool:
    """Enter the namespaces that the machine allows.

    Return whether the network is isolated.
    """
    mine = os.geteuid(), os.getegid()
    flags = (_CLONE_NEWUSER | _CLONE_NEWNET, _CLONE_NEWUSER)
    entered = next((each for each in flags[not is_isolated :] if not libc.unshare(each)), 0)
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
        request = struct.pack("16sh14x", b"lo", _IFF_UP)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


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
            os._exit(127)  # the parent was killed before PR_SET_PDEATHSIG took effect
        for each in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, 100) for each in plan["pipes"]]
        for source, target in zip(high, _PIPES, strict=True):
            os.dup2(source, target)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.closerange(max(_PIPES) + 1, 4096)
        command: list[str] = plan["command"]
        # No shell is involved.
        os.execve(command[0], command, plan["environment"])  # noqa: S606
    finally:
        os._exit(127)


def _serve(plan: dict[str, Any], control: socket.socket, chromium: int) -> None:
    """Serve until the control socket closes or Chromium exits."""
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        watched = os.pidfd_open(chromium)
        selector.register(watched, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(POLL_SECONDS):
                if key.fd == watched or not _handle_command(control):
                    return
            _reap(chromium)
            _watch_memory(plan)


def _handle_command(control: socket.socket) -> bool:
    """Read a command; if it asks for a socket, send the parent process a listening one.

    Return whether the parent process still exists.
    """
    try:
        command = control.recv(1)
        if command == ASK_FOR_SOCKET:
            with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
                port = listening.getsockname()[1]
                socket.send_fds(control, [f"{port:05}".encode()], [listening.fileno()])
    except OSError:
        return False
    return bool(command)


def _watch_memory(plan: dict[str, Any]) -> None:
    """Kill the largest process if it exceeds its limit, or all processes together exceed theirs."""
    memory_by_pid = {pid: memory_of(pid) for pid in descendants()}
    if not memory_by_pid:
        return
    largest = max(memory_by_pid, key=lambda pid: memory_by_pid[pid])
    is_too_much = sum(memory_by_pid.values()) > plan["memory_bytes"]
    if is_too_much or memory_by_pid[largest] > plan["renderer_bytes"]:
        with suppress(ProcessLookupError):
            os.kill(largest, signal.SIGKILL)


def memory_of(pid: int) -> int:
    """Return the process's private memory plus the shared memory it holds, in bytes."""
    total = 0
    for line in _read(f"/proc/{pid}/status").splitlines():
        name, _, value = line.partition(":")
        if name in ("RssAnon", "RssShmem"):
            total += int(value.split()[0]) << 10
    return total


def descendants() -> list[int]:
    """Return all descendants of this process."""
    children: dict[int, list[int]] = {}
    with os.scandir("/proc") as entries:
        names = [each.name for each in entries]
    for name in names:
        if name.isdecimal():
            stat = _read(f"/proc/{name}/stat").rpartition(")")[2].split()
            if len(stat) > 1 and stat[0] != "Z":
                children.setdefault(int(stat[1]), []).append(int(name))
    processes, waiting = [], [os.getpid()]
    while waiting:
        more = children.get(waiting.pop(), [])
        processes += more
        waiting += more
    return processes


def _end_all() -> None:
    """Kill all descendants until none is left, or for ``_PATIENCE_SECONDS``.

    A list of processes can miss the child of a process that ends during the listing. So
    ``_has_children`` asks the kernel, which makes such orphans children of this process.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while _has_children() and time.monotonic() < until:
        for pid in descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _has_children() -> bool:
    """Return whether child processes are left, after reaping those that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True


def _reap(but: int) -> None:
    """Reap ended child processes except ``but``, whose exit ``_serve`` detects."""
    with suppress(ChildProcessError):
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or ended.si_pid == but:
                return
            os.waitpid(ended.si_pid, os.WNOHANG)


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
