"""Signed values and access tokens for replay.

A replayed page has an opaque origin, so its requests carry no cookie. Their addresses contain an
access token instead. The token is valid for one memento and a limited time, and allows the memento
to be framed. References in the response get tokens with the same expiry, so a page cannot extend
its own access.

Without a password everything is public, and tokens only allow a memento to be framed, and to be
loaded with CORS.
"""

import hashlib
import hmac
import re
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from archiver.errors import ConfigurationError
from archiver.helpers import PRIVATE_DIRECTORY, AtomicFile
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
    """Return the archive's secret, created on first use.

    The file has 32 random bytes and is readable only by its owner. Deleting it signs everyone out
    and has no other effect.

    Args:
        data: the archive's data directory; created if missing.

    Returns:
        32 bytes.

    Raises:
        ConfigurationError: the file exists but is not usable.
    """
    path = data / _FILE
    if not path.exists():
        try:
            data.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            AtomicFile(path).write(secrets.token_bytes(SECRET_BYTES))
        except OSError:  # on a full or read-only disk, use a secret that is valid until the restart
            return secrets.token_bytes(SECRET_BYTES)
    secret = path.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise ConfigurationError(
            f"{path} does not contain {SECRET_BYTES} bytes as expected. Delete it to create a "
            "new one, which signs everyone out."
        )
    return secret


class Signer:
    """Signer of short texts, each for one purpose, so that signatures are not interchangeable.

    The keys depend on the password: changing it invalidates every session and access token.
    """

    def __init__(self, secret: bytes, password: str | None) -> None:
        self._root = secret
        self.derive_keys(password)

    def derive_keys(self, password: str | None) -> None:
        """Derive new keys from a password.

        Args:
            password: the password's hash, or other data that changes with it.
        """
        inherited = hashlib.sha256((password or "").encode("utf-8", "surrogatepass")).digest()
        self._secret = hmac.digest(self._root, inherited, "sha256")

    def sign(self, purpose: str, text: str) -> str:
        """Return a 128-bit MAC as 22 characters of the URL-safe alphabet."""
        key = hmac.digest(self._secret, purpose.encode(), "sha256")
        mac = hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")
        return urlsafe_b64encode(mac[:_MAC_BYTES]).rstrip(b"=").decode()

    def verifies(self, purpose: str, text: str, signature: str) -> bool:
        """Return whether a signature is valid, in constant time."""
        return same(self.sign(purpose, text), signature)


def same(one: str, other: str) -> bool:
    """Compare two texts in constant time, without revealing the length of `other`."""
    return hmac.compare_digest(_digest(one), _digest(other))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


MINUTES = 60
WINDOW_SECONDS = 15 * MINUTES
"""Unit of the expiry of tokens.

A token expires at the end of the window after the current one. So addresses do not change within a
window, and browsers can cache responses.
"""
OPEN_WINDOW_SECONDS = 24 * 60 * MINUTES
"""Unit of the expiry of tokens if no password is set."""
_EXPIRED = 0
"""Expiry of a token that gives no access."""
_PURPOSE = "replay"
_TOKEN = re.compile(
    r"([0-9a-f]{1,12})\.([A-Za-z0-9_-]{0,160})\.([0-9a-f]{16})?\.([A-Za-z0-9_-]{22})"
)


@dataclass(frozen=True, slots=True)
class Permission:
    """Permission to see a memento.

    Attributes:
        ends: expiry in seconds since 1970.
        home: origin of the service if replay has a separate origin; else empty.
        banner: number of the banner above the frame; empty without a banner.
    """

    ends: int
    home: str = ""
    banner: str = ""


class Permissions:
    """Issuer and verifier of access tokens.

    Args:
        signer: the archive's signer.
        has_password: whether a password is set.
        base: path under which a reverse proxy serves the application; empty for the root.
        clock: returns seconds since 1970.
    """

    def __init__(
        self,
        signer: Signer,
        *,
        has_password: bool,
        base: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._signer = signer
        self._base = base
        self.has_password = has_password
        self.clock = clock

    def new(self, home: str = "", banner: str = "") -> Permission:
        """Return a new permission."""
        window = WINDOW_SECONDS if self.has_password else OPEN_WINDOW_SECONDS
        return Permission((int(self.clock()) // window + 2) * window, home, banner)

    def write(self, permission: Permission, address: ReplayAddress) -> str:
        """Return the path of a memento with an access token."""
        home = urlsafe_b64encode(permission.home.encode()).decode().rstrip("=")
        signature = self._signer.sign(_PURPOSE, _text(permission, address))
        prefix = f"{self._base}/web/~{permission.ends:x}.{home}.{permission.banner}.{signature}"
        return replay_path(address.timestamp_prefix, address.modifier, address.url, prefix=prefix)

    def plain(self, address: ReplayAddress) -> str:
        """Return the path of a memento without an access token."""
        return self._base + plain_path(address)

    def stated(self, token: str, address: ReplayAddress) -> Permission | None:
        """Return the permission in a token that was issued for an address, even if expired."""
        match = _TOKEN.fullmatch(token)
        if match is None:
            return None
        try:
            home = urlsafe_b64decode(match[2] + "=" * (-len(match[2]) % 4)).decode("ascii")
        except ValueError:
            return None
        permission = Permission(int(match[1], 16), home, match[3] or "")
        is_ours = self._signer.verifies(_PURPOSE, _text(permission, address), match[4])
        return permission if is_ours else None

    def opens(self, token: str, address: ReplayAddress) -> Permission | None:
        """Return the permission in a token that was issued for an address and has not expired."""
        permission = self.stated(token, address)
        return permission if permission and self.clock() < permission.ends else None

    def writers(self, inherited: Permission | None) -> PathWriters:
        """Return the path writers for references in a response.

        With a password, every requisite and frame gets an access token. Without a password, only
        frames and requisites that may be loaded with CORS get one. Links usually get none, because
        they lead to other pages and signed-in users need no token. Below a banner, links get an
        expired token that only carries the banner's number. If no password is set and the response
        may be framed, its links get a token, so that their targets may also be framed.

        Args:
            inherited: permission of the request; None if it has no token. Links and redirects
                inherit its banner.
        """
        permission = (self.has_password and inherited) or self.new()
        signed = partial(self.write, replace(permission, banner=""))
        plain: PathWriter = self.plain
        if inherited is not None:
            plain = partial(self.write, replace(permission, banner=inherited.banner))
        if not self.has_password:
            return PathWriters(self.plain, signed, signed, plain, plain)
        if inherited is not None and inherited.banner:
            plain_link: PathWriter = partial(
                self.write, Permission(_EXPIRED, banner=inherited.banner)
            )
        else:
            plain_link = self.plain
        link = partial(_at, inherited.home if inherited else "", plain_link)
        return PathWriters(signed, signed, signed, link, plain)


def _text(permission: Permission, address: ReplayAddress) -> str:
    """Return the text to sign; its parts contain no spaces."""
    moment = f"{address.timestamp_prefix}{address.modifier}"
    return f"{permission.ends:x} {permission.home} {permission.banner} {moment} {address.url}"


def _at(origin: str, write: PathWriter, address: ReplayAddress) -> str:
    return origin + write(address)
