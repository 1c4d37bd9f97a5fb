"""Access control: password, API tokens and sessions.

They are stored in `access.json` in the data directory, which only its owner can read. The file is
not part of the index, so rebuilding the index keeps the password, and exports do not contain it. If
the index is on a database server, they are stored in the database instead. Passwords are hashed
with scrypt (RFC 7914).
"""

import asyncio
import hmac
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import scrypt, sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from unicodedata import category

from pydantic import TypeAdapter, ValidationError

from archiver.db.engine import Database
from archiver.errors import ConfigurationError, IndexUnavailable, InputError
from archiver.helpers import AtomicFile
from archiver.logs import get_log
from archiver.services.user_files import ACCESS, SECRET, UserFile, user_file

SESSION_SECONDS: Final = 30 * 86400
TOKEN_PREFIX: Final = "arc_"  # noqa: S105 - not a secret
"""Prefix that distinguishes a token from a password."""
LEAST_PASSWORD: Final = 8
MAX_PASSWORD: Final = 1024
MAX_NAME: Final = 100
MAX_TOKENS: Final = 100
MAX_SESSIONS: Final = 100
"""Maximum number of sessions; if there are more, the least recently used one ends."""
MAX_BYTES: Final = 1 << 20
POLL_SECONDS: Final = 1.0
"""Maximum delay in seconds before changes made by other processes are loaded."""
USE_INTERVAL_SECONDS: Final = 3600
"""Minimum seconds between two updates of the stored time at which a session was last used."""
_GUESSES_AT_ONCE = 2
_TOKEN_BYTES = 32

_COST: Final = 1 << 15
_BLOCK: Final = 8
"""With these scrypt parameters, checking a password takes 32 MiB and about 0.1 seconds."""
_SALT_BYTES: Final = 16
_KEY_BYTES: Final = 32
_MEMORY_BYTES: Final = 64 << 20
_SCRYPT: Final = "scrypt"

log = get_log(__name__)


class Scope(StrEnum):
    """Permissions of a token."""

    READ = "read"
    ADD = "add"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Token:
    """API token of a program.

    Attributes:
        id: public identifier, for revoking it.
        name: name of the program, supplied by the user.
        scope: permissions of the program.
        digest: SHA-256 of the token, in hex; the token itself is not stored.
        made_at: when it was created, in seconds since 1970.
        used_on: the day it was last used (``YYYY-MM-DD``, UTC); empty if never.
    """

    id: str
    name: str
    scope: Scope
    digest: str
    made_at: int
    used_on: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser.

    Attributes:
        digest: SHA-256 of the session's id, in hex; only the browser has the id itself.
        browser: User-Agent.
        begun_at: when it started, in seconds since 1970.
        seen_at: when it was last used, in seconds since 1970; updated at most once an hour.
    """

    digest: str
    browser: str
    begun_at: int
    seen_at: int


@dataclass(frozen=True, slots=True)
class Access:
    """Stored access data. ``password`` is the hash of the password; None if no password is set."""

    password: str | None
    tokens: tuple[Token, ...] = ()
    sessions: tuple[Session, ...] = ()


def has_password(data: Path) -> bool:
    """Return whether ``access.json`` of a data directory has a password; blocking.

    Raises:
        ConfigurationError: the file can't be read.
    """
    return _read_file(data).password is not None


def _read_file(data: Path) -> Access:
    path = data / ACCESS
    return read_access(AtomicFile(path).read(MAX_BYTES), str(path))


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or ``localhost``."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class AccessControl:
    """Password, tokens and sessions of an archive. Other processes can change the stored data.

    Args:
        data: directory of the archive.
        configured: the password from the settings. It is used instead of the stored password, which
            is not deleted. None if the settings have none.
        db: the index. If it is on a database server, it stores the password, tokens and sessions.
        host: the address that the service listens on. If other machines can reach the service, a
            password is always required and cannot be removed.
    """

    def __init__(
        self,
        data: Path,
        configured: str | None,
        host: str = "localhost",
        *,
        db: Database | None = None,
    ) -> None:
        self._file: UserFile = user_file(data, ACCESS, db)
        self._secret = user_file(data, SECRET, db)
        self._configured = configured
        self._is_open_to_others = not is_loopback(host)
        self._is_loaded = db is None or not db.is_shared
        self._access = _read_file(data) if self._is_loaded else Access(None)
        self._version: object = self
        self._checked_at = -POLL_SECONDS
        self._guesses = asyncio.Semaphore(_GUESSES_AT_ONCE)
        self._own = secrets.token_bytes(32)
        self._last_correct = b""
        """Keyed hash of the last correct password: comparing it is faster than scrypt."""

    @property
    def is_locked(self) -> bool:
        """Whether a password is required."""
        is_open = self._is_loaded and self.password_version is None
        return self._is_open_to_others or not is_open

    @property
    def is_configured(self) -> bool:
        """Whether the password comes from the settings and can only be changed there."""
        return self._configured is not None

    @property
    def password_version(self) -> str | None:
        """Value that changes with the password; None if no password is set."""
        return self._configured if self._configured is not None else self._access.password

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Valid tokens, the oldest first."""
        return self._access.tokens

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Active sessions, the most recently used first."""
        alive = filter(_is_alive, self._access.sessions)
        return tuple(sorted(alive, key=lambda each: -each.seen_at))

    async def refresh(self) -> None:
        """Load changes made by other processes; check at most once per second."""
        now = time.monotonic()
        if now - self._checked_at < POLL_SECONDS:
            return
        self._checked_at = now
        try:
            version = await self._file.version()
            if version != self._version:
                self._apply(read_access(await self._file.read(), self._file.place), version)
        except (ConfigurationError, IndexUnavailable) as error:
            log.warning(
                ("cannot read the access file; using the last known version"), reason=str(error)
            )

    async def signing_secret(self, fallback: bytes) -> bytes:
        """Return the key with which all machines of a cluster sign replay tokens and other values.

        If no key is stored, store ``fallback`` and return it.
        """
        await self._secret.change(lambda stored: None if stored else fallback)
        return await self._secret.read() or fallback

    async def is_password(self, password: str) -> bool:
        """Return whether a password is correct."""
        ours = hmac.digest(self._own, password.encode("utf-8", "surrogatepass"), "sha256")
        if hmac.compare_digest(ours, self._last_correct):
            return True
        async with self._guesses:
            is_last_correct = await asyncio.to_thread(self._is_password, password)
        if is_last_correct:
            self._last_correct = ours
        return is_last_correct

    def _is_password(self, password: str) -> bool:
        if self._configured is not None:
            return hmac.compare_digest(_digest(password), _digest(self._configured))
        stored_hash = self._access.password
        return (
            stored_hash is not None
            and len(password) <= MAX_PASSWORD
            and is_password(password, stored_hash)
        )

    async def set_password(self, new: str) -> None:
        """Set or change the password, end all sessions and invalidate signed URLs.

        Raises:
            InputError: the password is too short or too long, contains control characters (browser
                forms can't send them), or is defined in the settings.
        """
        self._refuse_configured()
        if any(category(each) == "Cc" for each in new):
            raise InputError(
                "A password cannot contain line breaks, tabs or other control characters, "
                "because browser forms cannot send them. Remove these characters, or type the"
                " password instead of pasting it."
            )
        if not LEAST_PASSWORD <= len(new) <= MAX_PASSWORD:
            raise InputError(
                "A password must be {least_password} to {longest_password} characters long. "
                "A sentence works well.",
                least_password=LEAST_PASSWORD,
                longest_password=MAX_PASSWORD,
            )
        hashed = await asyncio.to_thread(hash_password, new)
        await self._change(lambda access: replace(access, password=hashed, sessions=()))

    async def remove_password(self) -> None:
        """Remove the password, tokens and sessions, so that anyone who can connect has access.

        Raises:
            InputError: the password is defined in the settings, or other machines can reach the
                service.
        """
        self._refuse_configured()
        if self._is_open_to_others:
            raise InputError("Other computers can reach this archive, so it needs a password.")
        await self._change(lambda _: Access(None))

    async def make_token(self, name: str, scope: Scope) -> str:
        """Create a token and return its text, which is not stored and can't be shown again.

        Raises:
            InputError: the name is empty, or there are too many tokens.
        """
        name = " ".join(name.split())[:MAX_NAME]
        if not name:
            raise InputError(
                "Enter a name for the token, such as the name of the program that will use it."
            )
        if len(self._access.tokens) >= MAX_TOKENS:
            raise InputError(
                "You have reached the limit of {most} tokens. Revoke one first.", most=MAX_TOKENS
            )
        token_text = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
        token = Token(secrets.token_hex(8), name, scope, _hex(token_text), int(time.time()))
        await self._change(lambda access: replace(access, tokens=(*access.tokens, token)))
        return token_text

    async def revoke(self, token_id: str) -> None:
        """Revoke a token, if it exists."""

        def without(access: Access) -> Access:
            remaining = tuple(each for each in access.tokens if each.id != token_id)
            return replace(access, tokens=remaining)

        await self._change(without)

    async def token_of(self, token: str) -> Token | None:
        """Return the valid token with this text; None if there is none."""
        if not token.startswith(TOKEN_PREFIX):
            return None
        digest = _hex(token)
        match = next((each for each in self._access.tokens if each.digest == digest), None)
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        if match and match.used_on != today:
            used = replace(match, used_on=today)
            await self._change_if_possible(lambda access: _with_token(access, used))
        return match

    async def begin_session(self, browser: str) -> str:
        """Start a session and return its id, which only the browser stores."""
        identity, now = secrets.token_urlsafe(16), int(time.time())
        session = Session(_hex(identity), browser[:MAX_NAME], now, now)

        def with_session(access: Access) -> Access:
            alive = sorted(filter(_is_alive, access.sessions), key=lambda each: each.seen_at)
            sessions_kept = alive[max(len(alive) - MAX_SESSIONS + 1, 0) :]
            return replace(access, sessions=(*sessions_kept, session))

        await self._change(with_session)
        return identity

    async def is_session(self, identity: str) -> bool:
        """Return whether a session is active, and update the time when it was last used."""
        session, now = self.session(identity), int(time.time())
        if session and now - session.seen_at > USE_INTERVAL_SECONDS:
            used_session = replace(session, seen_at=now)
            await self._change_if_possible(lambda access: _with_session(access, used_session))
        return session is not None

    def session(self, identity: str) -> Session | None:
        """Return an active session by id."""
        digest = _hex(identity)
        return next((each for each in self.sessions if each.digest == digest), None)

    async def end_session(self, digest: str) -> None:
        """End a session, if it exists."""
        await self._end(lambda each: each.digest == digest)

    async def end_other_sessions(self, digest: str) -> None:
        """End all sessions except one."""
        await self._end(lambda each: each.digest != digest)

    async def _end(self, is_over: Callable[[Session], bool]) -> None:
        def without(access: Access) -> Access:
            remaining = tuple(each for each in access.sessions if not is_over(each))
            return replace(access, sessions=remaining)

        await self._change(without)

    async def _change_if_possible(self, change: Callable[[Access], Access]) -> None:
        """Store when a session or token was last used; only log an error if that fails."""
        try:
            await self._change(change)
        except OSError as error:
            log.warning("cannot write the last-used times", reason=str(error))

    async def _change(self, change: Callable[[Access], Access]) -> None:
        after = Access(None)

        def rewrite(stored: bytes | None) -> bytes | None:
            nonlocal after
            before = read_access(stored, self._file.place)
            after = change(before)
            return _STORED.dump_json(after, indent=1) if after != before else None

        version = await self._file.change(rewrite)
        self._apply(after, version)

    def _apply(self, access: Access, version: object) -> None:
        if access.password != self._access.password:
            self._last_correct = b""
        self._access, self._version, self._is_loaded = access, version, True

    def _refuse_configured(self) -> None:
        if self._configured is not None:
            raise InputError(
                "The password was set when archiver was started, so it cannot be changed here."
                " Restart archiver with a new one."
            )


def _with_token(access: Access, token: Token) -> Access:
    tokens = (token if each.id == token.id else each for each in access.tokens)
    return replace(access, tokens=tuple(tokens))


def _with_session(access: Access, session: Session) -> Access:
    sessions = (session if each.digest == session.digest else each for each in access.sessions)
    return replace(access, sessions=tuple(sessions))


def _is_alive(session: Session) -> bool:
    return session.begun_at + SESSION_SECONDS > time.time()


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _hex(text: str) -> str:
    return _digest(text).hex()


_STORED = TypeAdapter(Access)


def read_access(stored: bytes | None, place: str) -> Access:
    """Parse stored access data.

    Args:
        stored: the stored JSON; None if nothing is stored.
        place: the location of the JSON, for error messages.

    Raises:
        ConfigurationError: the JSON is invalid.
    """
    if stored is None:
        return Access(None)
    try:
        return _STORED.validate_json(stored)
    except ValidationError as error:
        raise ConfigurationError(
            f"Cannot read {place}. Restore it from a backup, or delete it: that removes the "
            "password, all tokens and all sessions. Then set a password with `archiver "
            "password`."
        ) from error


def hash_password(password: str) -> str:
    """Return a salted hash of a password."""
    salt = secrets.token_bytes(_SALT_BYTES)
    parts = (salt, _derive(password, salt))
    return "$".join((_SCRYPT, *(b64encode(each).decode() for each in parts)))


def is_password(password: str, stored: str) -> bool:
    """Compare a password with its hash in constant time; False for an unknown hash format."""
    name, _, fields = stored.partition("$")
    salt, _, key = fields.partition("$")
    if name != _SCRYPT:
        return False
    try:
        return hmac.compare_digest(_derive(password, b64decode(salt)), b64decode(key))
    except ValueError:
        return False


def _derive(password: str, salt: bytes) -> bytes:
    text = password.encode("utf-8", "surrogatepass")
    return scrypt(text, salt=salt, n=_COST, r=_BLOCK, p=1, maxmem=_MEMORY_BYTES, dklen=_KEY_BYTES)
