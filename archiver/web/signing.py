"""Signed values and replay permissions.

A replayed page has an opaque origin, so no cookie comes with what it loads. The addresses of that
carry a permission instead: for this one memento, until soon, and to be framed. Whatever is loaded
by such an address gives the same end on to what it loads in its turn; nothing renews it.

Without a password a permission opens nothing that is not open, and only lets a memento be framed.
"""

import hashlib
import hmac
import os
import re
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from archiver.errors import ConfigurationError
from archiver.replay.addresses import (
    PathWriter,
    PathWriters,
    ReplayAddress,
    plain_path,
    replay_path,
)

_FILE = "secret"
SECRET_BYTES = 32
_MAC_BYTES = 16


def load_secret(data: Path) -> bytes:
    """Return the archive's secret, made on first use.

    The file holds 32 random bytes that only its owner may read. Deleting it signs everyone out
    and does nothing else.

    Args:
        data: directory of the archive; created when needed.

    Returns:
        32 bytes.

    Raises:
        ConfigurationError: the file is there but is not ours.
    """
    path = data / _FILE
    if not path.exists():
        data.mkdir(parents=True, exist_ok=True)
        _create(path)
    secret = path.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise ConfigurationError(
            f"{path} does not hold the {SECRET_BYTES} bytes it should: "
            "delete it to have a new one made, which signs everyone out."
        )
    return secret


def _create(path: Path) -> None:
    """Make the file whole or not at all, also when two processes start at once."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(fresh)
    except FileExistsError:
        pass  # another process was first, and its secret is as good
    finally:
        fresh.unlink()


class Signer:
    """Signs short texts, each for one purpose, so that none can stand in for another.

    Keys hang on the password too: changing it ends every session and every address given out.
    """

    def __init__(self, secret: bytes, password: str | None) -> None:
        self._root = secret
        self.hang_on(password)

    def hang_on(self, password: str | None) -> None:
        """Sign with the keys of this password from now on.

        Args:
            password: or whatever else changes with it.
        """
        held = hashlib.sha256((password or "").encode("utf-8", "surrogatepass")).digest()
        self._secret = hmac.digest(self._root, held, "sha256")

    def sign(self, purpose: str, text: str) -> str:
        """Return a MAC of 128 bits as 22 characters of the URL-safe alphabet."""
        key = hmac.digest(self._secret, purpose.encode(), "sha256")
        mac = hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")
        return urlsafe_b64encode(mac[:_MAC_BYTES]).rstrip(b"=").decode()

    def verifies(self, purpose: str, text: str, signature: str) -> bool:
        """Tell, in constant time, whether ``signature`` is ours."""
        return same(self.sign(purpose, text), signature)


def same(one: str, other: str) -> bool:
    """Compare two texts in a time that says nothing about where, or in length how, they differ."""
    return hmac.compare_digest(_digest(one), _digest(other))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


MINUTES = 60
WINDOW_SECONDS = 15 * MINUTES
"""A permission lives for one to two of these: addresses stay the same for a while, as caches like.
"""
OPEN_WINDOW_SECONDS = 24 * 60 * MINUTES
"""The same without a password."""
_NEVER = 0
"""When a permission ended that never opened anything."""
_PURPOSE = "replay"
_TOKEN = re.compile(
    r"([0-9a-f]{1,12})\.([A-Za-z0-9_-]{0,160})\.([0-9a-f]{16})?\.([A-Za-z0-9_-]{22})"
)


@dataclass(frozen=True, slots=True)
class Permission:
    """To see mementos.

    Attributes:
        ends: when it is over, in seconds since 1970.
        home: origin of the service, where replay has one of its own; else empty.
        banner: number of the banner above what is shown (``shown``); empty for what has none.
    """

    ends: int
    home: str = ""
    banner: str = ""


class Permissions:
    """Gives permissions, and tells whether one was given.

    Args:
        signer: of the archive.
        has_password: whether there is one.
        clock: seconds since 1970.
    """

    def __init__(
        self, signer: Signer, *, has_password: bool, clock: Callable[[], float] = time.time
    ) -> None:
        self._signer = signer
        self.has_password = has_password
        self.clock = clock

    def new(self, home: str = "", banner: str = "") -> Permission:
        """A permission from now on."""
        window = WINDOW_SECONDS if self.has_password else OPEN_WINDOW_SECONDS
        return Permission((int(self.clock()) // window + 2) * window, home, banner)

    def write(self, permission: Permission, address: ReplayAddress) -> str:
        """The path of a memento with permission to see it."""
        home = urlsafe_b64encode(permission.home.encode()).decode().rstrip("=")
        signature = self._signer.sign(_PURPOSE, _text(permission, address))
        prefix = f"/web/~{permission.ends:x}.{home}.{permission.banner}.{signature}"
        return replay_path(address.timestamp_prefix, address.modifier, address.url, prefix=prefix)

    def given(self, token: str, address: ReplayAddress) -> Permission | None:
        """The permission that a token was given for an address, even if it is over."""
        found = _TOKEN.fullmatch(token)
        if found is None:
            return None
        try:
            home = urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4)).decode("ascii")
        except ValueError:
            return None
        permission = Permission(int(found[1], 16), home, found[3] or "")
        is_ours = self._signer.verifies(_PURPOSE, _text(permission, address), found[4])
        return permission if is_ours else None

    def opens(self, token: str, address: ReplayAddress) -> Permission | None:
        """The permission that a token is for an address now."""
        permission = self.given(token, address)
        return permission if permission and self.clock() < permission.ends else None

    def writers(self, held: Permission | None) -> PathWriters:
        """How addresses are written in what is replayed.

        With a password every requisite and frame needs a permission of its own, and links have
        none: another page is another's permission, which a person who is signed in needs not.
        Below a banner they have one that never opened anything, and only names the banner.
        Without one, whatever may be framed leads only to what may be, too.

        Args:
            held: the permission that the answer is asked for with; None if it is asked for
                without; its banner goes on to what takes the place of what it shows.
        """
        given = (self.has_password and held) or self.new()
        signed = partial(self.write, replace(given, banner=""))
        plain = plain_path
        if held is not None:
            plain = partial(self.write, replace(given, banner=held.banner))
        if not self.has_password:
            return PathWriters(frame=signed, link=plain, redirect=plain)
        if held is not None and held.banner:
            plain_link: PathWriter = partial(self.write, Permission(_NEVER, banner=held.banner))
        else:
            plain_link = plain_path
        link = partial(_at, held.home if held else "", plain_link)
        return PathWriters(requisite=signed, frame=signed, link=link, redirect=plain)


def _text(permission: Permission, address: ReplayAddress) -> str:
    """What is signed; a space stands in none of its parts."""
    moment = f"{address.timestamp_prefix}{address.modifier}"
    return f"{permission.ends:x} {permission.home} {permission.banner} {moment} {address.url}"


def _at(origin: str, write: PathWriter, address: ReplayAddress) -> str:
    return origin + write(address)
