"""What the pages show by which people come in."""

from dataclasses import dataclass

from archiver.model.message import Message
from archiver.services.access import Session, Token


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session, and whether it is the one of whoever looks at it."""

    session: Session
    browser: Message | str
    is_this: bool


@dataclass(frozen=True, slots=True)
class AccessView:
    """Who may come in.

    Attributes:
        has_password: whether it takes one.
        is_configured: whether it is given by the settings.
        tokens: of programs.
        sessions: of browsers.
        made: the token that was made just now, shown this once; else empty.
        problem: why what was asked for was not done.
    """

    has_password: bool
    is_configured: bool
    tokens: tuple[Token, ...]
    sessions: tuple[SessionView, ...]
    made: str = ""
    problem: Message | str = ""
    title: str | Message = Message("Access")


@dataclass(frozen=True, slots=True)
class LoginView:
    """The form for the password.

    Attributes:
        next_path: where it leads.
    """

    next_path: str
    problem: Message | str = ""
    title: str | Message = Message("Sign in")
