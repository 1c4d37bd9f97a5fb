"""Bodies as they stream in: small ones in memory, large ones in a temporary file, digested."""

import asyncio
import hashlib
from io import BytesIO
from typing import BinaryIO

from archiver.finishing import to_its_end
from archiver.model.capture import PayloadDigest
from archiver.scratch import scratch_file

SPOOL_BYTES = 1 << 20
INLINE_DIGEST_BYTES = 64 << 10


class BodySink:
    """Takes a body's bytes as they come. Hashing and writing of many bytes happens in a thread."""

    def __init__(self) -> None:
        self._wire: list[bytes] = []
        self._payload: list[bytes] = []
        self._held = 0
        self._digest = hashlib.sha256()
        self._file: BinaryIO | None = None
        self.payload_length = self.wire_length = 0

    async def take(self, wire: bytes, payload: bytes) -> None:
        """Take some bytes: as they crossed the wire, and without their transfer coding."""
        self._wire.append(wire)
        self._payload.append(payload)
        self._held += len(wire)
        self.payload_length += len(payload)
        self.wire_length += len(wire)
        if self._held >= SPOOL_BYTES:
            # Left half done, it would be written again by whoever takes what came so far.
            await to_its_end(asyncio.to_thread(self._spool))

    async def finish(self) -> tuple[BinaryIO, PayloadDigest]:
        """The whole body as a file at its start, and the digest of its payload."""
        if self._held > INLINE_DIGEST_BYTES or self._file:
            await asyncio.to_thread(self._finish)
        else:
            self._finish()
        body = self._file or BytesIO(b"".join(self._wire))
        body.seek(0)
        return body, PayloadDigest(f"sha256:{self._digest.hexdigest()}")

    def discard(self) -> None:
        """Give the body up."""
        if self._file:
            self._file.close()

    def _spool(self) -> None:
        if self._file is None:
            # Closed by whoever takes the body over, or by ``discard``.
            self._file = scratch_file()
        self._file.write(b"".join(self._wire))
        self._wire.clear()
        self._held = 0
        self._digest_payload()

    def _finish(self) -> None:
        if self._file:
            self._spool()
        self._digest_payload()

    def _digest_payload(self) -> None:
        for piece in self._payload:
            self._digest.update(piece)
        self._payload.clear()
