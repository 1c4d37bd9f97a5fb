"""Chrome DevTools Protocol over two pipes.

Messages from Chromium are limited in size; long ones are parsed in a thread.
"""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from archiver.errors import BrowserError, BrowserGone

MAX_MESSAGE_BYTES = 160 << 20
"""Maximum message size; a screenshot 20,000 pixels high has some megabytes in Base64."""
_SHORT_BYTES = 128 << 10
Listener = Callable[[dict[str, Any]], None]


class Connection(asyncio.Protocol):
    """DevTools connection to one browser."""

    def __init__(self) -> None:
        self._number = 0
        self._unparsed = bytearray()
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listeners: dict[tuple[str, str], list[Listener]] = defaultdict(list)
        self._messages: asyncio.Queue[bytes] = asyncio.Queue()
        self._sink: asyncio.WriteTransport | None = None
        self._source: asyncio.BaseTransport | None = None
        self._reading: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()

    async def open(self, from_browser: int, to_browser: int) -> None:
        """Attach the pipes that Chromium writes to and reads from."""
        loop = asyncio.get_running_loop()
        self._source, _ = await loop.connect_read_pipe(
            lambda: self, os.fdopen(from_browser, "rb", 0)
        )
        self._sink, _ = await loop.connect_write_pipe(
            asyncio.BaseProtocol, os.fdopen(to_browser, "wb", 0)
        )
        self._reading = loop.create_task(self._read(), name="browser-messages")

    async def close(self) -> None:
        """Close the connection; pending commands fail with ``BrowserGone``."""
        self.close_pipes()
        if self._reading:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def data_received(self, data: bytes) -> None:
        """Parse received bytes into messages."""
        first = len(self._unparsed)
        self._unparsed += data
        while (end := self._unparsed.find(b"\0", first)) >= 0:
            self._messages.put_nowait(bytes(self._unparsed[:end]))
            del self._unparsed[: end + 1]
            first = 0
        if len(self._unparsed) > MAX_MESSAGE_BYTES:
            self.mark_gone()

    def connection_lost(self, _: BaseException | None) -> None:
        """Handle the end of the browser."""
        self.mark_gone()

    def on(self, session: str, method: str, listener: Listener) -> None:
        """Register a listener for an event of a session (the browser if ``session`` is empty)."""
        self._listeners[session, method].append(listener)

    def close_pipes(self) -> None:
        """Close the pipes, which makes a running browser exit."""
        self.mark_gone()
        for each in filter(None, (self._source, self._sink)):
            each.close()

    def remove_listeners(self, session: str) -> None:
        """Remove all listeners of a session."""
        for key in [key for key in self._listeners if key[0] == session]:
            del self._listeners[key]

    async def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its result.

        Raises:
            BrowserGone: the browser has ended.
            BrowserError: the browser rejected the command.
        """
        if self.gone.is_set():
            raise BrowserGone("The browser process has exited.")
        number = self.send(method, session, **parameters)
        reply = self._replies[number] = asyncio.get_running_loop().create_future()
        try:
            result = await reply
        finally:
            self._replies.pop(number, None)
        if "error" in result:
            reason = str(result["error"].get("message", ""))[:300]
            raise BrowserError(f"The browser rejected {method}: {reason}")
        value: dict[str, Any] = result.get("result", {})
        return value

    def send(self, method: str, session: str = "", **parameters: Any) -> int:
        """Send a command without waiting for its result; return its number."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        if self._sink is not None and not self.gone.is_set():
            self._sink.write(json.dumps(message).encode() + b"\0")
        return self._number

    async def _read(self) -> None:
        while True:
            raw = await self._messages.get()
            try:
                if len(raw) > _SHORT_BYTES:
                    message = await asyncio.to_thread(json.loads, raw)
                else:
                    message = json.loads(raw)
            except ValueError:
                self.mark_gone()
                return
            self._dispatch(message)

    def _dispatch(self, message: dict[str, Any]) -> None:
        reply = self._replies.get(message.get("id", 0))
        if reply is not None:
            if not reply.done():
                reply.set_result(message)
            return
        key = message.get("sessionId", ""), message.get("method", "")
        for listener in [*self._listeners.get(key, ())]:
            listener(message.get("params", {}))

    def mark_gone(self) -> None:
        """Mark the browser as gone, because it ended or does not respond; pending commands fail."""
        self.gone.set()
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(BrowserGone("The browser process has exited."))
