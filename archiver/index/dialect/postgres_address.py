"""Addresses of PostgreSQL's databases, as its own tools read them, and where passwords lie."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from archiver.errors import ConfigurationError

_SCHEME = "postgresql://"
_PORT = 5432
_MODES = ("disable", "prefer", "require", "verify-full")
_LOOKS = (
    "ARCHIVER_INDEX should look like postgresql://user@host:5432/database; behind a question mark "
    f"it may say host, and sslmode: {', '.join(_MODES)}."
)
_OPEN_TO_OTHERS = 0o077
_FIELD = re.compile(r"((?:\\.|[^:\\])*)(?::|$)")
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Address:
    """A database of a server.

    Attributes:
        host: a name or an address, or the folder of a Unix socket.
        mode: how TLS is used, in libpq's words.
    """

    user: str
    host: str
    port: int
    database: str
    mode: str = "prefer"

    @property
    def is_local(self) -> bool:
        """Whether it is reached by a Unix socket."""
        return self.host.startswith("/")


def read_address(text: str) -> Address:
    """An address as libpq reads it, of what is understood here.

    Raises:
        ConfigurationError: it has more than that.
    """
    try:
        parts = urlsplit(text)
        port = parts.port or _PORT
    except ValueError:  # brackets that are not closed, a port that is none
        raise ConfigurationError(_LOOKS) from None
    more = dict(parse_qsl(parts.query))
    host = more.pop("host", parts.hostname or "localhost")
    mode = more.pop("sslmode", "prefer")
    if more or mode not in _MODES:
        raise ConfigurationError(_LOOKS)
    return Address(unquote(parts.username or ""), host, port, unquote(parts.path[1:]), mode)


def is_one_place(one: str, other: str) -> bool:
    """Whether two addresses lead to one database, whatever they say of TLS; or are one path.

    One that can't be understood is the same place as itself alone.
    """
    if one == other or not (one.startswith(_SCHEME) and other.startswith(_SCHEME)):
        return one == other
    try:
        return replace(read_address(one), mode="") == replace(read_address(other), mode="")
    except ConfigurationError:
        return False


def password_of(address: Address, environment: Mapping[str, str]) -> str:
    """What ``PGPASSWORD`` says, or a line of ``PGPASSFILE``, or of ``~/.pgpass``; empty if none.

    A file that others may read is passed over, as libpq does (PostgreSQL, "The Password File").
    """
    if given := environment.get("PGPASSWORD"):
        return given
    home = environment.get("HOME", "")
    path = Path(environment.get("PGPASSFILE") or f"{home}/.pgpass")
    try:
        with path.open(encoding="utf-8") as file:
            is_open = os.fstat(file.fileno()).st_mode & _OPEN_TO_OTHERS
            return "" if is_open else _found(file.read(), address)
    except (OSError, UnicodeDecodeError):
        return ""


def _found(lines: str, address: Address) -> str:
    """The password of the first line that fits."""
    host = "localhost" if address.host.startswith("/") else address.host
    wanted = (host, str(address.port), address.database, address.user)
    for line in lines.splitlines():
        if line.startswith("#"):
            continue
        fields = [re.sub(r"\\(.)", r"\1", each) for each in _FIELD.findall(line)[:_FIELDS]]
        if len(fields) == _FIELDS and all(
            listed in ("*", own) for listed, own in zip(fields, wanted, strict=False)
        ):
            return fields[-1]
    return ""
