"""A page, its rewritten URLs, and rewriting in small pieces."""

import random
from typing import Protocol

PAGE = "https://example.com/dir/page.html"
TIMESTAMP = "20240229120001"


class StreamParser(Protocol):
    """Parser that takes text in pieces and returns output."""

    def feed(self, text: str, /) -> str:
        """Take a piece."""

    def close(self) -> str:
        """Take the end."""


def feed_in_pieces(reader: StreamParser, text: str, seed: int | None) -> str:
    """Return the output for a text; with a ``seed``, given in small random pieces."""
    generator = random.Random(seed)
    out, at = [], 0
    while at < len(text):
        size = len(text) if seed is None else generator.choice((1, 1, 2, 3, 7, 20))
        out.append(reader.feed(text[at : at + size]))
        at += size
    return "".join(out) + reader.close()


def replay_path(url: str, modifier: str = "") -> str:
    """Return the rewritten form of a URL; a relative URL is resolved against the page."""
    absolute = url if "://" in url else f"https://example.com/dir/{url}"
    return f"/web/{TIMESTAMP}{modifier}/{absolute}"
