"""A page, its rewritten URLs, and rewriting in small pieces."""

import random
from typing import Protocol

PAGE = "https://example.com/dir/page.html"
MOMENT = "20240229120001"


class Fed(Protocol):
    """Parser that takes text in pieces and returns output."""

    def feed(self, text: str, /) -> str:
        """Take a piece."""

    def close(self) -> str:
        """Take the end."""


def fed(reader: Fed, text: str, seed: int | None) -> str:
    """Return the output for a text; with a ``seed``, given in small random pieces."""
    chosen = random.Random(seed)
    out, at = [], 0
    while at < len(text):
        size = len(text) if seed is None else chosen.choice((1, 1, 2, 3, 7, 20))
        out.append(reader.feed(text[at : at + size]))
        at += size
    return "".join(out) + reader.close()


def replay_path_of(url: str, modifier: str = "") -> str:
    """Return the rewritten form of a URL; a relative URL is resolved against the page."""
    absolute = url if "://" in url else f"https://example.com/dir/{url}"
    return f"/web/{MOMENT}{modifier}/{absolute}"
