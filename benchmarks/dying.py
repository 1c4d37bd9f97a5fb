"""Runs a command of the program, which dies at a step of its way into store and index once told so.

Usage: python -m benchmarks.dying ORDER COMMAND [ARGUMENTS]

``ORDER`` is a path. As soon as a file lies there that says ``STEP MOMENT`` ("put before"), the
process kills itself by SIGKILL at the next such step, before or after it. Half of what is appended
is written before it dies.
"""

import os
import re
import runpy
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import obstore
from archiver.index.dialect.postgres_wire import PipelinedConnection

STEPS: Final = ("append", "sync", "commit", "put", "mark", "delete")
MOMENTS: Final = ("before", "after")
_CAPTURES: Final = re.compile(r'INSERT INTO "?capture\b')


class Death:
    """What kills this process when it is ordered to.

    Args:
        order: the file that says so.
    """

    def __init__(self, order: Path) -> None:
        self._order = order
        self._have_captures: set[int] = set()

    def await_it(self) -> None:
        """Let every step look whether it is the last."""
        os.write = self._appending(os.write)
        os.fdatasync = self._step("sync", os.fdatasync, lambda _: True)
        obstore.put = self._step("put", obstore.put, lambda *_: True)
        kept = "uploaded"
        renamed = self._step("mark", Path.rename, lambda _, to: Path(to).parent.name == kept)
        Path.rename = renamed  # type: ignore[method-assign]  # that is what this is for
        unlinked = self._step("delete", Path.unlink, lambda path: path.parent.name == kept)
        Path.unlink = unlinked  # type: ignore[method-assign]
        told = self._noting(PipelinedConnection.execute_unnamed)
        PipelinedConnection.execute_unnamed = told  # type: ignore[method-assign]
        commit = self._step("commit", PipelinedConnection.commit, self._is_of_captures)
        PipelinedConnection.commit = commit  # type: ignore[method-assign]

    def _step(
        self, name: str, function: Callable[..., Any], concerns: Callable[..., bool]
    ) -> Callable[..., Any]:
        def stepped(*given: Any, **more: Any) -> Any:
            moment = self._moment(name) if concerns(*given) else ""
            if moment == "before":
                _die()
            done = function(*given, **more)
            if moment == "after":
                _die()
            return done

        return stepped

    def _appending(self, write: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
        def written(file: int, data: Any) -> int:
            moment = self._moment("append")
            if not (moment and _is_segment(file)):
                return write(file, data)
            write(file, data[: len(data) // 2] if moment == "before" else data)
            _die()
            raise AssertionError

        return written

    def _noting(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        def executed(connection: Any, statement: str, *given: Any, **more: Any) -> Any:
            if _CAPTURES.search(statement):
                self._have_captures.add(id(connection))
            return execute(connection, statement, *given, **more)

        return executed

    def _is_of_captures(self, connection: Any) -> bool:
        had = id(connection) in self._have_captures
        self._have_captures.discard(id(connection))
        return had

    def _moment(self, step: str) -> str:
        """When to die at this step: before it, after it; empty if that was not ordered."""
        try:
            said, _, moment = self._order.read_text().partition(" ")
        except FileNotFoundError:
            return ""
        return moment if said == step else ""


def _is_segment(file: int) -> bool:
    return Path(f"/proc/self/fd/{file}").readlink().name.endswith(".warc.gz")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    Death(Path(sys.argv[1])).await_it()
    sys.argv[1:] = sys.argv[2:]
    runpy.run_module("archiver", run_name="__main__", alter_sys=True)
