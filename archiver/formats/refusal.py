"""What is said of a file that no importer recognises: what it is, and what to do with it."""

from archiver.formats.given_file import GivenFile

EXPORT_HTML = "Export your bookmarks as HTML or JSON instead, or give a plain list of URLs."

_PACKED = "Unpack it and give the file inside."
_DAMAGED = "and damaged. Unpack it and give the file inside, or get it anew."
_IMAGE = f"is an image. {EXPORT_HTML}"
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "is a zip archive that holds no list of links, or is damaged."),
    (b"PK\x05\x06", "is an empty zip archive. Export your bookmarks again."),
    (b"\x1f\x8b", f"is packed with gzip, {_DAMAGED}"),
    (b"BZh", f"is packed with bzip2, {_DAMAGED}"),
    (b"\xfd7zXZ\x00", f"is packed with xz, {_DAMAGED}"),
    (b"\x28\xb5\x2f\xfd", f"is packed with Zstandard, {_DAMAGED}"),
    (b"7z\xbc\xaf\x27\x1c", f"is a 7-Zip archive. {_PACKED}"),
    (b"Rar!\x1a\x07", f"is a RAR archive. {_PACKED}"),
    (b"mozLz40\x00", f"is a file of Firefox that holds no bookmarks, or is damaged. {EXPORT_HTML}"),
    (
        b"SQLite format 3\x00",
        f"is an SQLite database without bookmarks of Firefox or Chrome. {EXPORT_HTML}",
    ),
    (b"%PDF-", f"is a PDF document. {EXPORT_HTML}"),
    (b"bplist00", f"is a binary property list without bookmarks. {EXPORT_HTML}"),
    (b"\x89PNG\r\n", _IMAGE),
    (b"\xff\xd8\xff", _IMAGE),
    (b"GIF8", _IMAGE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"is an office document. {EXPORT_HTML}"),
)
_RIFF_TYPE = slice(8, 12)


def reason_to_refuse(file: GivenFile) -> str:
    """Say what a file that no importer recognises is, and what to do: the rest of a sentence."""
    for signature, reason in _SIGNATURES:
        if file.head.startswith(signature):
            return reason
    if file.head.startswith(b"RIFF") and file.head[_RIFF_TYPE] == b"WEBP":
        return _IMAGE
    return f"is not a text file. {EXPORT_HTML}"


def is_binary(file: GivenFile) -> bool:
    """Whether the file is of a kind that has a signature, or is not text."""
    known = any(file.head.startswith(signature) for signature, _ in _SIGNATURES)
    return known or not file.is_text
