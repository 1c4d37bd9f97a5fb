"""The ``Link`` header that ties a memento to its original, TimeGate and TimeMap (RFC 8288)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from archiver.memento.timestamps import http_date


@dataclass(frozen=True, slots=True)
class Link:
    """One link-value.

    Attributes:
        target: URI reference.
        relations: in order, such as ``("first", "memento")``.
        attributes: further (name, value) parameters.
    """

    target: str
    relations: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...] = ()


def write_links(links: Iterable[Link], *, separator: str = ", ") -> str:
    """The links as one header value, or a TimeMap's body with a newline in the separator.

    >>> write_links([Link("https://example.com/", ("original",))])
    '<https://example.com/>; rel="original"'
    """
    return separator.join(_write(link) for link in links)


def original(url: str) -> Link:
    """URI-R (RFC 7089 §2.2.1)."""
    return Link(url, ("original",))


def timegate(path: str) -> Link:
    """URI-G (RFC 7089 §2.2.2)."""
    return Link(path, ("timegate",))


def timemap(path: str) -> Link:
    """URI-T (RFC 7089 §2.2.3), in link format."""
    return Link(path, ("timemap",), (("type", "application/link-format"),))


def memento(path: str, moment: datetime, *also: str) -> Link:
    """URI-M (RFC 7089 §2.2.4); ``also`` holds ``first``, ``last``, ``prev``, ``next``."""
    return Link(path, (*also, "memento"), (("datetime", http_date(moment)),))


def _write(link: Link) -> str:
    parameters = (("rel", " ".join(link.relations)), *link.attributes)
    written = "".join(f'; {name}="{_quoted(value)}"' for name, value in parameters)
    return f"<{_reference(link.target)}>{written}"


def _reference(target: str) -> str:
    """Angle brackets, quotes and control characters never stand in a URI; a header may end so."""
    return "".join(
        character if " " < character <= "~" and character not in '<>"' else _percent(character)
        for character in target
    )


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))


def _quoted(value: str) -> str:
    kept = "".join(character for character in value if character.isprintable())
    return kept.replace("\\", "\\\\").replace('"', '\\"')
