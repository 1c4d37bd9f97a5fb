"""Responses during a crawl."""

from dataclasses import dataclass
from datetime import datetime

from archiver.model.capture import CaptureRef
from archiver.pages.worker_messages import Document


@dataclass(frozen=True, slots=True)
class FetchedResponse:
    """Response, fetched now or earlier.

    Attributes:
        ref: its capture.
        at: when it was requested (aware, UTC).
        redirect_to: absolute target of a redirect.
        media_type: effective media type of the payload.
        charset: charset declared in the Content-Type, or empty.
        content: decoded payload if it can be parsed (HTML, CSS, text), else empty.
        retry_after: pause in seconds that the server asked for.
        is_truncated: the body ended too early.
        wall: the bot wall that the response declares, or empty.
        link_header: its ``Link`` fields, joined with commas.
        headers: (name, value) in order, names in lower case.
        led_by: hosts that led to it, from the user's URL to its own; empty if it was fetched
            without cookies.
    """

    ref: CaptureRef
    at: datetime
    redirect_to: str | None
    media_type: str
    charset: str
    content: bytes
    retry_after: float | None = None
    is_truncated: bool = False
    wall: str = ""
    link_header: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    led_by: frozenset[str] = frozenset()

    @property
    def document(self) -> Document:
        """Document for parsing and extraction."""
        return Document(self.content, self.media_type, self.charset, self.ref.url, self.link_header)
