"""Error messages for files that no importer reads."""

from archiver.errors import UnreadableFile
from archiver.formats.source_file import SourceFile
from archiver.model.message import marked

_IMAGE = marked(
    "{name} is an image. Export your bookmarks as HTML or JSON instead, or import a plain list "
    "of URLs."
)
_PACKED = marked(
    "{name} is compressed with {kind}, which is not supported. Unpack it and import the file "
    "inside."
)
_DAMAGED = marked(
    "{name} is compressed with {kind} and is damaged. Unpack it and import the file inside, or "
    "download it again."
)
_NO_TEXT = marked(
    "{name} is not a text file. Export your bookmarks as HTML or JSON instead, or import a plain "
    "list of URLs."
)
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (
        b"PK\x03\x04",
        marked("{name} is a damaged zip file, or contains no links. Export your bookmarks again."),
        "",
    ),
    (b"PK\x05\x06", marked("{name} is an empty zip archive. Export your bookmarks again."), ""),
    (b"\x1f\x8b", _DAMAGED, "gzip"),
    (b"BZh", _DAMAGED, "bzip2"),
    (b"\xfd7zXZ\x00", _DAMAGED, "xz"),
    (b"\x28\xb5\x2f\xfd", _DAMAGED, "Zstandard"),
    (b"7z\xbc\xaf\x27\x1c", _PACKED, "7-Zip"),
    (b"Rar!\x1a\x07", _PACKED, "RAR"),
    (
        b"mozLz40\x00",
        marked(
            "{name} is a damaged Firefox file, or contains no bookmarks. Export your "
            "bookmarks as HTML or JSON instead, or import a plain list of URLs."
        ),
        "",
    ),
    (
        b"SQLite format 3\x00",
        marked(
            "{name} is an SQLite database but contains no Firefox or Chrome bookmarks. Export "
            "your bookmarks as HTML or JSON instead, or import a plain list of URLs."
        ),
        "",
    ),
    (
        b"%PDF-",
        marked(
            "{name} is a PDF document. Export your bookmarks as HTML or JSON instead, or import "
            "a plain list of URLs."
        ),
        "",
    ),
    (
        b"bplist00",
        marked(
            "{name} is a binary property list that contains no bookmarks. Export your bookmarks "
            "as HTML or JSON instead, or import a plain list of URLs."
        ),
        "",
    ),
    (b"\x89PNG\r\n", _IMAGE, ""),
    (b"\xff\xd8\xff", _IMAGE, ""),
    (b"GIF8", _IMAGE, ""),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        marked(
            "{name} is an office document. Export your bookmarks as HTML or JSON instead, or "
            "import a plain list of URLs."
        ),
        "",
    ),
)
"""(file signature, error message, name of the format in the message)."""
_RIFF_TYPE = slice(8, 12)


def refusal_of(file: SourceFile) -> UnreadableFile:
    """Return the error for a file that no importer recognises, with advice."""
    for signature, text, kind in _SIGNATURES:
        if file.head.startswith(signature):
            return UnreadableFile(text, name=file.name, kind=kind)
    is_picture = file.head.startswith(b"RIFF") and file.head[_RIFF_TYPE] == b"WEBP"
    return UnreadableFile(_IMAGE if is_picture else _NO_TEXT, name=file.name)


def is_binary(file: SourceFile) -> bool:
    """Return whether the file has a known signature or is not text."""
    has_signature = any(file.head.startswith(signature) for signature, *_ in _SIGNATURES)
    return has_signature or not file.is_text
