"""Netscape bookmark files, as every browser and most services export them, and HTML like them.

There is no standard; this reads what producers write. The doctype may be missing or mis-cased,
nothing needs to be closed, and any HTML with links in it is read as a list of its links.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from archiver.formats.file_lists import FileLists
from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import guessed_tags
from archiver.formats.html_items import Hidden, Item, html_items, text_of
from archiver.formats.importer import Importer
from archiver.formats.netscape_fields import (
    MAX_NOTE,
    MAX_TITLE,
    Folders,
    added_at_of,
    in_seconds,
    note_of,
    record_of,
    state_of,
    tags_of,
)
from archiver.formats.own_json import held_title_record
from archiver.formats.refusal import is_binary
from archiver.formats.rows import MAX_URL
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark, broken
from archiver.model.folder_path import folder_path
from archiver.model.message import marked
from archiver.model.row_problems import HIDDEN, NO_LINK, problem_of

_BOOKMARKS = re.compile(
    r"<!doctype\s{1,20}netscape-bookmark|<dt\b[^<]{0,20}<(?:a|h3)\b", re.IGNORECASE
)
_HTML = re.compile(r"\s*+<(?!https?:)", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^<>]{0,2000}?\bhref\s{0,20}=", re.IGNORECASE)
GENERATOR = '<META NAME="generator" CONTENT="archiver">'
"""By which a file that is ours is known."""
ALL_TAGS = "all_tags"
"""The attribute that holds tags as JSON, where one of them has a comma in it."""
PAGE_TITLE = "page_title"
"""The attribute that says that a title is no person's, and whose it is."""
PAGES = "1"
"""It is the page's own."""
NOBODYS = "0"
"""There is none: in its place stands the address."""
MOST_TAGS = 2_000_000
"""List tags and headings without a link among them after which the rest is not read.

An archive of two megabytes unpacks to fifty million empty tags, which take minutes.
"""


def _recognises(file: GivenFile) -> bool:
    """Whether it is a bookmark file, however it begins, or any HTML with a link in it."""
    if is_binary(file) or file.json_paths or file.root:
        return False
    if is_bookmark_file(file.text):
        return True
    # Markdown and mails hold HTML too; there, and only there, URLs stand outside of it.
    is_html = _HTML.match(file.text) is not None and file.suffix not in ("md", "txt")
    return is_html and _LINK.search(file.text) is not None


def is_bookmark_file(text: str) -> bool:
    """Whether a text is a bookmark file by its structure, and no other HTML with links in it."""
    return _BOOKMARKS.search(text) is not None


def read_netscape(file: GivenFile) -> Iterator[Bookmark]:
    """Read the links in order, with the folders around them; ``<DD>`` texts are notes."""
    return _read(file, is_ours=False)


def _read(file: GivenFile, *, is_ours: bool) -> Iterator[Bookmark]:
    reader, hidden = _Reader(FileLists(file), is_ours=is_ours), Hidden()
    without_link = 0
    for item in html_items(file.chunks(), hidden):
        without_link += 1
        if bookmark := reader.take(item):
            yield bookmark
            without_link = 0
        elif without_link > MOST_TAGS:
            break
    if bookmark := reader.finish():
        yield bookmark
    if without_link > MOST_TAGS:
        yield broken("", NO_LINK)
    if hidden.addresses:
        yield broken("", problem_of(HIDDEN, hidden.addresses))


class _Reader:
    """State of one pass: the folders around the current link, the link and its note.

    A file that ``bookmarks_html`` wrote is read without interpretation: no folder in it is a
    browser's own, and no text is a mark of another service.
    """

    def __init__(self, lists: FileLists, *, is_ours: bool) -> None:
        self._is_ours = is_ours
        self._folders = Folders(lists, has_roots=not is_ours)
        self._link: dict[str, str] | None = None
        self._title = self._note = self._section = ""

    def take(self, item: Item) -> Bookmark | None:
        """Take the next item; return the bookmark that it ends, if it ends one."""
        name, element = item
        if name == "dd" and element is not None:
            note = text_of(element)[:MAX_NOTE]
            if self._link is not None:
                self._note = f"{self._note}{note}"[:MAX_NOTE]
            elif self._folders.is_announced:
                self._folders.describe(note)
            return None
        if not name:
            return None
        ended = self.finish()
        if name == "a" and element is not None:
            self._link = {key: str(value) for key, value in element.attrs.items()}
            self._title = text_of(element)[:MAX_TITLE]
        elif name == "h3" and element is not None:
            self._folders.announce(element.attrs)
            self._folders.named(text_of(element)[:MAX_TITLE])
        elif name == "h1" and element is not None:
            self._section = " ".join(text_of(element)[:MAX_TITLE].split()).lower()
        elif name == "dl":
            self._folders.enter()
        elif name == "/dl":
            self._folders.leave()
        return ended

    def finish(self) -> Bookmark | None:
        """Return the link that was being read, if there is one."""
        if self._link is None:
            return None
        link, title, note = self._link, " ".join(self._title.split()), self._note
        self._link, self._title, self._note = None, "", ""
        if self._is_ours:
            return self._as_it_was(link, title, note.strip())
        folders = self._folders
        folder_facts = folders.fill()
        note = note_of(note) or link.pop("description", "")[:MAX_NOTE].strip()
        section = "" if folders.depth else self._section
        is_read, is_starred = state_of(section) if section else (False, False)
        url = link.pop("href", "").strip()
        return Bookmark(
            Annotation(
                url_given=url[:MAX_URL],
                title="" if title == url else title,  # services put the address for no title
                note=note,
                added_at=added_at_of(link),
                is_read=is_read,
                is_starred=is_starred,
                folders=_folders(folders.path) if folders.path else (),
                tags=tags_of(link, note),
                source_record=record_of(link, folders.root, section, folder_facts),
            )
        )

    def _as_it_was(self, link: dict[str, str], title: str, note: str) -> Bookmark:
        """Return a link of a file that is ours."""
        split = link.get("tags", "").split(",")
        self._folders.fill()
        names = self._folders.path
        whose = link.get(PAGE_TITLE)
        annotation = Annotation(
            link.get("href", ""),
            in_seconds(link.get("add_date", "")),
            title="" if whose in (PAGES, NOBODYS) else title,
            tags=guessed_tags(link[ALL_TAGS]) if ALL_TAGS in link else tuple(filter(None, split)),
            note=note,
            is_read=link.get("read") == "1",
            is_starred=link.get("starred") == "1",
            folders=_folders(names) if names else (),
            source_record=held_title_record(title) if whose == PAGES else "",
        )
        return Bookmark(annotation)


@lru_cache(4096)
def _folders(names: tuple[str, ...]) -> tuple[str, ...]:
    return (folder_path(names),)


def _is_ours(file: GivenFile) -> bool:
    return GENERATOR in file.text and is_bookmark_file(file.text)


OWN_HTML = Importer(
    "archiver HTML",
    _is_ours,
    lambda file: _read(file, is_ours=True),
    ("html",),
    marked("archiver: Export, Bookmarks (HTML)"),
    says_all_tags=True,
)
NETSCAPE = Importer(
    "Netscape HTML",
    _recognises,
    read_netscape,
    ("html", "htm"),
    marked("the bookmarks of any browser, and what most services export as HTML"),
)
