"""Digests as WARC fields hold them: an algorithm, a colon, and its value."""

import base64
import hashlib
import re
from collections.abc import Iterable

from archiver.errors import InvalidRecord
from archiver.model.capture import PayloadDigest

OURS = "sha256"
_LABELLED = re.compile(rf"{OURS}:[0-9a-f]{{64}}")
_KNOWN = frozenset({"sha256", "sha1", "md5", "sha512"})


def label(digest: "hashlib._Hash") -> PayloadDigest:
    """The field's value for a finished sha256: ``sha256:`` and 64 hex digits."""
    return PayloadDigest(f"{OURS}:{digest.hexdigest()}")


def is_ours(stated: str) -> bool:
    """Whether a field's value is of the form that ``label`` gives."""
    return _LABELLED.fullmatch(stated) is not None


def digest_of(pieces: Iterable[bytes]) -> tuple[PayloadDigest, int]:
    """The sha256 of bytes in pieces, and how many there are."""
    digest, length = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        length += len(piece)
    return label(digest), length


def digest_by(algorithm: str, pieces: Iterable[bytes]) -> str:
    """The digest of bytes in pieces by an algorithm that is known, as ``canonical`` has it."""
    digest = _begun(algorithm)
    for piece in pieces:
        digest.update(piece)
    return f"{algorithm}:{digest.hexdigest()}"


def canonical(stated: str) -> str:
    """A digest as it is compared: the algorithm, a colon, and hex digits.

    Raises:
        InvalidRecord: the algorithm is unknown, or the value is in no known encoding.
    """
    check = Check(stated)
    return f"{check.algorithm}:{check.wanted.hex()}"


def _begun(algorithm: str) -> "hashlib._Hash":
    begun: hashlib._Hash = getattr(hashlib, algorithm)(usedforsecurity=False)
    return begun


class Check:
    """A digest in the making, to be compared with what a field states, in hex or base32.

    Attributes:
        algorithm: its name.
        wanted: the bytes that are stated.

    Raises:
        InvalidRecord: the algorithm is unknown, or the value is in no known encoding.
    """

    def __init__(self, stated: str) -> None:
        name, _, value = stated.strip().partition(":")
        self.algorithm = name.lower().replace("-", "")
        if self.algorithm not in _KNOWN:
            raise InvalidRecord(f"The digest algorithm “{name[:40]}” is unknown.")
        self._digest = _begun(self.algorithm)
        self.wanted = _value(value.strip(), self._digest.digest_size)

    def update(self, data: bytes) -> None:
        """Take more bytes in."""
        self._digest.update(data)

    def holds(self) -> bool:
        """Whether the bytes so far have the digest that was stated."""
        return self._digest.digest() == self.wanted


def _value(text: str, size: int) -> bytes:
    try:
        if len(text) == 2 * size:
            return bytes.fromhex(text)
        text = text.rstrip("=")
        return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
    except ValueError as error:
        raise InvalidRecord("The digest is in no encoding that is known.") from error
