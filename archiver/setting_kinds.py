"""What the value of a setting may be: read from text or taken as it is, and bounded.

``read`` raises ``ValueError`` with what to give instead, as a clause.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_network
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TIMEGATES = {
    "wayback": "https://web.archive.org/web/",
    "archive.today": "https://archive.ph/timegate/",
    "arquivo.pt": "https://arquivo.pt/wayback/",
    "aggregator": "https://timetravel.mementoweb.org/timegate/",
}
"""Where public archives are asked, by the names that people know them by (RFC 7089)."""
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")
_YES = frozenset({"1", "true", "yes", "on", "y", "t"})
_NO = frozenset({"0", "false", "no", "off", "n", "f"})


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value.

    Attributes:
        metavar: what stands for a value in help; empty for a switch.
        read: gives the value of a text, or of the value itself.
        dump: gives what JSON can hold of a value, and ``read`` understands.
    """

    metavar: str
    read: Callable[[Any], Any]
    dump: Callable[[Any], Any] = _as_it_is

    @property
    def is_list(self) -> bool:
        """Whether a flag can be repeated."""
        return self.metavar == "LIST"


def text(*, may_be_empty: bool = True) -> Kind:
    """Any text, or None where that is the default."""

    def read(value: str | None) -> str | None:
        if value == "" and not may_be_empty:
            raise ValueError("should not be empty")
        return value

    return Kind("TEXT", read)


def path() -> Kind:
    """A directory."""
    return Kind("DIR", Path, str)


def switch() -> Kind:
    """Yes or no."""

    def read(value: bool | str) -> bool:
        known = str(value).lower()
        if known not in _YES | _NO:
            raise ValueError("should be true or false")
        return known in _YES

    return Kind("", read)


def choice(*values: str) -> Kind:
    """One of some words."""

    def read(value: str) -> str:
        if value not in values:
            raise ValueError(f"should be one of {', '.join(values)}")
        return value

    return Kind("CHOICE", read)


def integer(*, least: int = 0, most: int | None = None) -> Kind:
    """A whole number."""

    def read(value: int | str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError("should be a whole number") from None
        _check(number, least=least, most=most)
        return number

    return Kind("INTEGER", read)


def decimal(
    *, least: float | None = None, above: float | None = None, most: float | None = None
) -> Kind:
    """A number, whole or not."""

    def read(value: float | str) -> float:
        try:
            number = float(value)
        except ValueError:
            raise ValueError("should be a number") from None
        if not isfinite(number):
            raise ValueError("should be a number")
        if above is not None and number <= above:
            raise ValueError(f"should be more than {above:g}")
        _check(number, least=least, most=most)
        return number

    return Kind("NUMBER", read)


def words() -> Kind:
    """Words separated by commas or spaces."""
    return Kind("LIST", _words, list)


def timegates() -> Kind:
    """TimeGates, by their names or as what stands before the address that they are asked for."""
    return Kind("LIST", lambda value: tuple(map(_timegate, _words(value))), list)


def bucket() -> Kind:
    """A bucket of an S3-compatible store, with or without a prefix in it; or None."""

    def read(value: str | None) -> str | None:
        if not value:
            return None
        if not _BUCKET.fullmatch(value):
            raise ValueError("should be s3://bucket or s3://bucket/prefix")
        return value.rstrip("/")

    return Kind("TEXT", read)


def server_address() -> Kind:
    """A database of a PostgreSQL server, without a password; or None."""

    def read(value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value)
        if parts.password is not None:
            raise ValueError("should hold no password: that is read from PGPASSWORD, or ~/.pgpass")
        named = parts.username and parts.path.strip("/") and "/" not in parts.path[1:]
        if parts.scheme not in ("postgresql", "postgres") or not named or parts.fragment:
            raise ValueError("should be postgresql://user@host/database")
        return value.replace("postgres:", "postgresql:", 1)

    return Kind("TEXT", read)


def networks() -> Kind:
    """IP networks; an address within one names it too: ``192.168.1.5/24``."""

    def read(value: Any) -> tuple[Any, ...]:
        return tuple(ip_network(each, strict=False) for each in _words(value))

    return Kind("LIST", read, lambda value: [str(each) for each in value])


def origin() -> Kind:
    """An origin: a scheme, a host and perhaps a port, and nothing behind it; or None."""

    def read(value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value.rstrip("/").lower())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("should be an origin, such as https://replay.example.org")
        if parts.path or parts.query or parts.username:
            raise ValueError("should end with its host or port")
        return f"{parts.scheme}://{parts.netloc}"

    return Kind("TEXT", read)


def _timegate(word: str) -> str:
    address = TIMEGATES.get(word.lower(), word)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"should be of {', '.join(TIMEGATES)}, or addresses of TimeGates")
    return address


def _words(value: Any) -> tuple[Any, ...]:
    parts = (value,) if isinstance(value, str) else value
    return tuple(
        word
        for part in parts
        for word in (part.replace(",", " ").split() if isinstance(part, str) else (part,))
    )


def _check(number: float, *, least: float | None, most: float | None) -> None:
    if least is not None and number < least:
        raise ValueError(f"should be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"should be at most {most}")
