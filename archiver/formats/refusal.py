"""Kinds of file that are no list of bookmarks, or none that is read, and what to do with each."""

import re

from archiver.formats.charset import decode_head, is_text
from archiver.formats.document_kind import XML, kind_of_document

EXPORT_HTML = "Export your bookmarks as HTML instead, or give a plain list of URLs."

_PACKED = "Unpack it and give the bookmark file inside."
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", f"is a zip archive. {_PACKED}"),
    (b"PK\x05\x06", "is an empty zip archive. Export your bookmarks again."),
    (b"\x1f\x8b", f"is packed with gzip. {_PACKED}"),
    (b"BZh", f"is packed with bzip2. {_PACKED}"),
    (b"\xfd7zXZ\x00", f"is packed with xz. {_PACKED}"),
    (b"\x28\xb5\x2f\xfd", f"is packed with Zstandard. {_PACKED}"),
    (b"7z\xbc\xaf\x27\x1c", f"is a 7-Zip archive. {_PACKED}"),
    (b"Rar!\x1a\x07", f"is a RAR archive. {_PACKED}"),
    (b"mozLz40\x00", f"is a bookmark backup of Firefox. {EXPORT_HTML}"),
    (b"SQLite format 3\x00", f"is an SQLite database. {EXPORT_HTML}"),
    (b"%PDF-", f"is a PDF document. {EXPORT_HTML}"),
    (b"bplist00", f"is a binary property list, as Safari keeps. {EXPORT_HTML}"),
    (b"\x89PNG\r\n", f"is an image. {EXPORT_HTML}"),
    (b"\xff\xd8\xff", f"is an image. {EXPORT_HTML}"),
    (b"GIF8", f"is an image. {EXPORT_HTML}"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"is an office document. {EXPORT_HTML}"),
)
_RIFF_TYPE = slice(8, 12)

# Possessive, and bound to the start: a refusal must not cost more than a look.
_JSON = re.compile(
    r"""\s*+(?: \{ \s*+ (?: \} | "[^"]*+" \s*+ : )
          | \[ \s*+ (?: \{ | \] \s*+ \Z | \[ \s*+ ["{] | "[^"]*+" \s*+ (?: , | \] \s*+ \Z ) ) )""",
    re.VERBOSE,
)
_JSON_FILE = "a JSON file"
_BY_SUFFIX = {
    **dict.fromkeys(("json", "jsonl", "ndjson"), _JSON_FILE),
    **dict.fromkeys(("opml", "rss", "atom"), XML),
}
_DELIMITERS = (",", ";", "\t")
_URL_COLUMNS = frozenset({"url", "uri", "href", "link", "links", "address", "page url"})


def reason_to_refuse(head: bytes, filename: str) -> str:
    """Say what a file that no importer recognises is, and what to do: the rest of a sentence."""
    for signature, reason in _SIGNATURES:
        if head.startswith(signature):
            return reason
    if head.startswith(b"RIFF") and head[_RIFF_TYPE] == b"WEBP":
        return f"is an image. {EXPORT_HTML}"
    if not is_text(head):
        return f"is not a text file. {EXPORT_HTML}"
    kind = structured_kind(decode_head(head), filename)
    return f"is {kind}, a format that is not read yet. {EXPORT_HTML}"


def is_binary(head: bytes) -> bool:
    """Whether the file is of a kind that has a signature, or is not text."""
    return any(head.startswith(signature) for signature, _ in _SIGNATURES) or not is_text(head)


def structured_kind(head: str, filename: str) -> str:
    """What structured text it is, such as ``a CSV file``; empty if it is none."""
    suffix = filename.rpartition(".")[2].lower()
    if kind := self_evident_kind(head):
        return kind
    if _is_csv(head, suffix):
        return "a CSV file"
    return _BY_SUFFIX.get(suffix, "")


def self_evident_kind(head: str) -> str:
    """What structured text it is by how it begins, whatever HTML it carries; empty if none."""
    return _JSON_FILE if _JSON.match(head) else kind_of_document(head)


def _is_csv(head: str, suffix: str) -> bool:
    first = head.lstrip().partition("\n")[0].strip()
    if suffix in {"csv", "tsv"}:
        return any(delimiter in first for delimiter in _DELIMITERS)
    for delimiter in _DELIMITERS:
        cells = [cell.strip().strip('"').lower() for cell in first.split(delimiter)]
        if len(cells) > 1 and not _URL_COLUMNS.isdisjoint(cells):
            return True
    return False
