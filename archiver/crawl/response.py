"""Responses during a crawl."""

from dataclasses import dataclass
from datetime import datetime

from archiver.model.capture import CaptureRef
from archiver.pages.worker_messages import Document


@dataclass(frozen=True, slots=True)
class Obtained:
    """A response, whether fetched now or earlier.

    Attributes:
        ref: its capture.
        at: when it was requested (aware, UTC).
        redirect_to: where a 3xx leads, absolute.
        media_type: what the payload is to be treated as.
        charset: as the Content-Type declared it; empty if it did not.
        content: the decoded payload of what can be read (HTML, CSS, text), else empty.
        retry_after: seconds the server asked us to wait, if it did.
        is_truncated: the body broke off before its end.
        wall: whose challenge the response says it is; empty if it does not.
        link_header: its ``Link`` fields, joined with commas.
        headers: (name, value) in order, names lower case.
        led_by: the hosts that led to it, its own too, from the one that a person asked; none where
            it was had with nobody's cookies.
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
        """What those who read pages are given."""
        return Document(self.content, self.media_type, self.charset, self.ref.url, self.link_header)
