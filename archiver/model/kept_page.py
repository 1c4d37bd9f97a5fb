"""A page that was kept elsewhere and came in a file, with what belongs to it."""

from dataclasses import dataclass
from hashlib import sha256

PLACE = "https://archiver.invalid/part/"
"""Where parts are that had no address of their own; nobody ever has that name (RFC 2606)."""


@dataclass(frozen=True, slots=True)
class KeptPart:
    """What a page needs: its address, what it is, and its bytes."""

    url: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it was kept.

    Attributes:
        content: its bytes, or those of its article alone.
        media_type: what they are; of text with its charset.
        parts: what the page needs and came with it.
    """

    content: bytes
    media_type: str = "text/html; charset=utf-8"
    parts: tuple[KeptPart, ...] = ()

    @property
    def weight(self) -> int:
        """Bytes of all of it."""
        return len(self.content) + sum(len(each.content) for each in self.parts)


def html_page(text: str) -> KeptPage | None:
    """A page of HTML without parts; None if it is empty."""
    return KeptPage(text.encode("utf-8", "replace")) if text else None


def part_url(content: bytes) -> str:
    """The address of a part that had none: named by its bytes."""
    return PLACE + sha256(content).hexdigest()
