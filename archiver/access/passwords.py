"""What is kept of a password: scrypt (RFC 7914), which makes guessing dear. Blocking."""

import hmac
import secrets
from base64 import b64decode, b64encode
from hashlib import scrypt
from typing import Final

_COST: Final = 1 << 15
_BLOCK: Final = 8
"""With these one guess takes 32 MiB and about a tenth of a second."""
_SALT_BYTES: Final = 16
_KEY_BYTES: Final = 32
_MEMORY_BYTES: Final = 64 << 20
_NAME: Final = "scrypt"


def hash_password(password: str) -> str:
    """What is kept of a password, salted."""
    salt = secrets.token_bytes(_SALT_BYTES)
    parts = (salt, _derive(password, salt))
    return "$".join((_NAME, *(b64encode(each).decode() for each in parts)))


def is_password(given: str, kept: str) -> bool:
    """Whether that was made of this password, in constant time; False if it was made by no us."""
    name, _, rest = kept.partition("$")
    salt, _, key = rest.partition("$")
    if name != _NAME:
        return False
    try:
        return hmac.compare_digest(_derive(given, b64decode(salt)), b64decode(key))
    except ValueError:
        return False


def _derive(password: str, salt: bytes) -> bytes:
    text = password.encode("utf-8", "surrogatepass")
    return scrypt(text, salt=salt, n=_COST, r=_BLOCK, p=1, maxmem=_MEMORY_BYTES, dklen=_KEY_BYTES)
