"""Who may come in: a password, tokens for programs, and the sessions of browsers."""

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """What a token opens."""

    READ = "read"
    ADD = "add"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Token:
    """What a program comes in with.

    Attributes:
        id: what it is called by where it is revoked; no secret.
        name: the person's.
        scope: what it opens.
        digest: SHA-256 of the token, in hex; the token itself is not kept.
        made_at: seconds since 1970.
        used_on: the day it was last used (``YYYY-MM-DD``, UTC); empty if it never was.
    """

    id: str
    name: str
    scope: Scope
    digest: str
    made_at: int
    used_on: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A browser somebody signed in with.

    Attributes:
        digest: SHA-256 of the session's id, in hex; the id itself only the browser has.
        browser: as it calls itself.
        begun_at: seconds since 1970.
        seen_at: likewise, to the hour.
    """

    digest: str
    browser: str
    begun_at: int
    seen_at: int


@dataclass(frozen=True, slots=True)
class Access:
    """All of it. ``password``: what is kept of it (never itself); None if none was set."""

    password: str | None = None
    tokens: tuple[Token, ...] = ()
    sessions: tuple[Session, ...] = ()
