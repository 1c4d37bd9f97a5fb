"""What the pages show by which people come in, and come back to what they had typed."""

from dataclasses import dataclass

from archiver.model.access import Session, Token
from archiver.model.message import Message
from archiver.web.refused_words import Fact


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
        kept: fields of a form that was sent by somebody who has to sign in first.
    """

    next_path: str
    problem: Message | str = ""
    kept: tuple[tuple[str, str], ...] = ()
    title: str | Message = Message("Sign in")


@dataclass(frozen=True, slots=True)
class SendAgainView:
    """A form that was not carried out, to be sent by hand.

    Attributes:
        title: of the page.
        why: what was wrong with it.
        action: the path that it goes to.
        typed: its fields that are shown: name, what it is called, value.
        hidden: the others, as names and values.
        facts: what these are about, in words.
        advice: what to do now, where that is not said yet.
    """

    title: Message
    why: Message
    action: str
    typed: tuple[tuple[str, Message, str], ...]
    hidden: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...] = ()
    advice: Message | str = ""
