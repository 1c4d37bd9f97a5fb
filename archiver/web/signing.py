"""The secret of an archive, and what is signed with it. Knows neither requests nor responses."""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from pathlib import Path

from archiver.errors import ConfigurationError

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
