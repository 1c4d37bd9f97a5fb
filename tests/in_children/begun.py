"""A process that has loaded what others need, of which copies are made: ``begun.py SOCKET LOADED``.

Loading takes a child that reads pages longer than what most tests want of it. For each launcher
(see there) that calls, a copy runs its module with its arguments, variables, directory and streams:
as the module would by itself, but for what is loaded already. Ends with its standard input, and
all copies with it. SOCKET is the number of a socket on which launchers call, LOADED a module that
imports what is needed.
"""

import atexit
import gc
import os
import random
import runpy
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module

STREAMS = 3
SIZE = 8
"""Bytes that say how long a call is."""


class Begun:
    """Copies, each with its launcher's call and with what tells of its end."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._copies: dict[int, tuple[socket.socket, int]] = {}
        """By both: who called, and the process."""

    def serve(self) -> None:
        """Make copies until the other side closes."""
        while True:
            ready, _, _ = select.select([sys.stdin, self._listening, *self._copies], [], [])
            if sys.stdin in ready:
                break
            for each in ready:
                if each is self._listening:
                    self._begin()
                elif each in self._copies:
                    self._end(each)
        for _, pid in self._copies.values():
            os.kill(pid, signal.SIGKILL)

    def _begin(self) -> None:
        call, _ = self._listening.accept()
        asked, streams = _heard(call)
        if asked is not None and len(streams) == STREAMS:
            pid = os.fork()
            if not pid:
                self._be(call, streams, asked)
            self._copies[call.fileno()] = self._copies[os.pidfd_open(pid)] = call, pid
        else:
            call.close()
        for each in streams:
            os.close(each)

    def _be(self, call: socket.socket, streams: list[int], asked: list[str]) -> None:
        """Be a copy."""
        self._listening.close()
        for each in {call.fileno(), *self._copies}:
            os.close(each)
        for to, each in enumerate(streams):
            os.dup2(each, to)
            os.close(each)
        _open_streams()
        _run(*asked)

    def _end(self, ready: int) -> None:
        """Tell who called that its copy has ended; or end that, since who called has."""
        call, pid = self._copies[ready]
        if ready == call.fileno():
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        with suppress(OSError):
            call.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        for each in [each for each, (_, its) in self._copies.items() if its == pid]:
            del self._copies[each]
            if each != call.fileno():
                os.close(each)
        call.close()


def _heard(call: socket.socket) -> tuple[list[str] | None, list[int]]:
    """What one asks for who calls, unless it ends before it has said it; and its streams."""
    said, streams, _, _ = socket.recv_fds(call, SIZE, STREAMS)
    size = int.from_bytes(said, sys.byteorder)
    asked = b""
    while len(asked) < size and (more := call.recv(size - len(asked))):
        asked += more
    return ([*map(os.fsdecode, asked.split(b"\0"))] if 0 < len(asked) == size else None), streams


def _open_streams() -> None:
    """Have what Python opens when it starts: what was opened so knows of other files."""
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115


def _run(module: str, directory: str, count: str, *more: str) -> None:
    """Run a module, and be no more."""
    status = 1
    try:
        os.environ.clear()
        os.environ.update(each.split("=", 1) for each in more[int(count) :])
        os.chdir(directory)
        sys.argv = ["", *more[: int(count)]]
        random.seed()
        sys.modules.pop(module, None)  # what it imports stays; it runs itself
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:  # noqa: BLE001 - as any process tells of what it dies of
        sys.excepthook(*sys.exc_info())
    finally:
        _leave(status)


def _leave(status: int) -> None:
    """End as Python does, but for taking itself apart."""
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def main() -> None:
    """Load, then serve."""
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        import_module(sys.argv[2])
        gc.collect()
        gc.freeze()
        Begun(listening).serve()


if __name__ == "__main__":
    main()
