"""Check for addresses that are in an imported file but in none of the bookmarks read from it.

A parser can miss links in structures that it does not expect, without an error. So this module
compares the addresses in the raw text with those in all fields of the bookmarks.
"""

import re
from collections.abc import Iterator

from archiver.model.imports import UNREAD, format_problem
from archiver.model.seed import Bookmark, broken

MAX_REMEMBERED = 300_000
"""Number of addresses after which no further ones are compared; about 30 MB."""
_ADDRESS = re.compile(
    r"https?:\\*+/\\*+/((?:[\w.~#@$!*+=%:?-]++|\\*+/)++)", re.ASCII | re.IGNORECASE
)
"""An address up to the first character that formats escape in different ways, such as ``&``.

JSON and folder paths may escape slashes with backslashes.
"""
_CONTEXT = 60
_LONGEST_TAG = 400
"""Characters before an address that are searched for the tag around it."""
_NO_LINK = (
    *("xmlns", "schema", "icon", "image", "img", "src", "thumb", "picture", "cover", "avatar"),
    *("logo", "generator", "namespace", "owner", "resource", "datatype"),
)
"""Words in names of fields and attributes whose addresses are not links.

Such addresses are those of images, or names of XML namespaces and vocabularies.
"""
_NO_LINK_TAGS = (
    *("img", "link", "script", "meta", "base", "source", "iframe", "video", "audio", "!doctype"),
    *("?xml", "!entity", "svg", "html"),
)
_TRAILING = ".:!?*_~#=+-/"
_MAX_REST = 64 << 10
"""Maximum length of the text after the last separator that waits for the next piece.

A longer text is searched immediately.
"""


class AddressCheck:
    """Comparison of the addresses in a file's text with those in the bookmarks read from it."""

    def __init__(self) -> None:
        self._unread: dict[int, None] = {}
        self._read: set[int] = set()
        self._text = ""

    def add_text(self, chunk: str) -> None:
        """Add the next piece of the file, and search the previous one.

        Most bookmarks of the previous piece have been added by then, so that few of its addresses
        are stored as unread.
        """
        self._search()
        self._text += chunk

    def add_bookmark(self, bookmark: Bookmark) -> None:
        """Mark the addresses in a bookmark as read."""
        annotation = bookmark.annotation
        self._mark_read(annotation.url_given)
        texts = (annotation.title, annotation.note, annotation.source_record)
        for text in (*texts, *annotation.tags, *annotation.folders):
            if "/" in text:
                self._mark_read(text)
        for highlight in annotation.highlights:
            self._mark_read(f"{highlight.quote} {highlight.note}")
        if bookmark.page:
            self._mark_read(bookmark.page.content.decode("utf-8", "replace"))

    def problem(self) -> Iterator[Bookmark]:
        """Yield a problem that states the number of unread addresses, if there are any."""
        self._search()
        if self._unread:
            yield broken("", format_problem(UNREAD, len(self._unread)))

    def _search(self) -> None:
        """Search the text up to its last separator, and keep the rest."""
        text = self._text
        end = max(text.rfind(mark) for mark in ("\n", " ", ">"))
        cut = end + 1 if end >= 0 and len(text) - end < _MAX_REST else len(text)
        for match in _ADDRESS.finditer(text, 0, cut):
            key = _key(match[1])
            if (
                key not in self._read
                and len(self._read) < MAX_REMEMBERED  # a full set may lack read addresses
                and len(self._unread) < MAX_REMEMBERED
                and not _is_no_link(text, match.start())
            ):
                self._unread[key] = None
        self._text = text[max(0, cut - _LONGEST_TAG) :] if cut < len(text) else ""

    def _mark_read(self, text: str) -> None:
        for address in _ADDRESS.findall(text):
            key = _key(address)
            self._unread.pop(key, None)
            if len(self._read) < MAX_REMEMBERED:
                self._read.add(key)


def _key(address: str) -> int:
    return hash(address.replace("\\", "").rstrip(_TRAILING).lower())


def _is_no_link(text: str, start: int) -> bool:
    """Return whether the text before an address shows that it is an image or a vocabulary."""
    before = text[max(0, start - _CONTEXT) : start].rstrip("\"' [\t\n")
    if before.endswith(("=", ":")):
        name = before[:-1].rstrip("\"' ")
        name = name[name.rfind(" ") + 1 :].lower()
        name = name[max(map(name.rfind, "\"'<,{;&?")) + 1 :]
        if any(part in name for part in _NO_LINK):
            return True
    tag = text.rfind("<", max(0, start - _LONGEST_TAG), start)
    return tag >= 0 and text.startswith(_NO_LINK_TAGS, tag + 1) and text.find(">", tag, start) < 0
