"""A child: reads requests from its standard input, answers on its standard output, ends with both.

Run as ``python -m archiver.derive.worker MEMORY_BYTES NICE``.
"""

import gc
import os
import resource
import signal
import sys
from typing import BinaryIO

from archiver.derive.messages import COLLECT, PREFIX, READY, pack, pack_result, read_request
from archiver.derive.work import perform


def main() -> None:
    """Serve until the other side closes, or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory, nice = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.set_threshold(*COLLECT)
    os.nice(nice)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    _say(READY, sink)
    while (prefix := source.read(PREFIX.size)) and len(prefix) == PREFIX.size:
        (size,) = PREFIX.unpack(prefix)
        body = source.read(size)
        if len(body) < size:
            return
        _answer(body, sink)


def _answer(body: bytes, sink: BinaryIO) -> None:
    try:
        answer = pack_result(perform(*read_request(body)))
    except Exception as error:  # noqa: BLE001 - whatever a page does, the next one is answered
        answer = pack({"error": f"{type(error).__name__}: {error}"[:500]})
    _say(answer, sink)


def _say(what: bytes, sink: BinaryIO) -> None:
    try:
        sink.write(what)
        sink.flush()
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
