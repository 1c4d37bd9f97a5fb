"""A request on its way out: what the crawl asks for, or a browser that it drives."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request.

    Attributes:
        url: serialised http(s) URL without fragment.
        method: as RFC 9110 §9 has it.
        headers: (name, value) in order. Of a browser's request they are all there are.
        body: its content.
        is_browser: whether a browser says what the headers are, and how long it waits.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    is_browser: bool = False
