"""Digests of payloads as the index keeps them: 32 bytes, without the name of the algorithm."""

from archiver.model.capture import PayloadDigest

_LABEL = "sha256:"


def to_blob(digest: PayloadDigest) -> bytes:
    """A digest as a column has it."""
    return bytes.fromhex(digest.removeprefix(_LABEL))


def from_blob(blob: bytes) -> PayloadDigest:
    """A column as the digest it is."""
    return PayloadDigest(_LABEL + blob.hex())
