"""An exchange: one request and its response, as they crossed the wire."""

from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from archiver.model.capture import PayloadDigest
from archiver.model.truncation import Truncation


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the fetcher brings home. The receiver closes ``body``.

    Attributes:
        url: the URL requested, serialised, without fragment.
        at: when the request began (aware, UTC, whole seconds).
        ip: the address that answered.
        request: the request's bytes, with its content where it has any.
        head: the final response's status line and header fields with the closing empty line.
        body: everything after the head as it came, transfer coding included; seekable.
        chunked: whether ``body`` carries chunk framing (RFC 9112 §7.1).
        status: the HTTP status.
        headers: (name, value) in order, names lower case, values latin-1 decoded.
        payload_digest: over the body without transfer coding, content codings left on.
        payload_length: bytes of that payload.
        fields: further named fields of its record.
        truncated: why ``body`` is not the whole one, if it is not.
        is_shown: whether it is what its URL shows: the answer to a GET, and not of a part.
    """

    url: str
    at: datetime
    ip: str
    request: bytes
    head: bytes
    body: BinaryIO
    chunked: bool
    status: int
    headers: tuple[tuple[str, str], ...]
    payload_digest: PayloadDigest
    payload_length: int
    fields: tuple[tuple[str, str], ...] = ()
    truncated: Truncation | None = None
    is_shown: bool = True

    def header(self, name: str) -> str | None:
        """Return the first field of that lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None
