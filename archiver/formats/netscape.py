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
from archiver.formats.importer import Importer
from archiver.formats.markup import Link, Tag, attributes_of, tokenize_list
from archiver.formats.netscape_fields import (
    MAX_NOTE,
    MAX_TITLE,
    Text,
    added_at_of,
    in_seconds,
    note_of,
    record_of,
    state_of,
    tags_of,
)
from archiver.formats.netscape_folders import Folders
from archiver.formats.own_document import held_title_record
from archiver.formats.refusal import is_binary
from archiver.formats.rows import MAX_URL
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark, broken
from archiver.model.folder_path import folder_path
from archiver.model.message import marked
from archiver.model.row_problems import NO_LINK

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
"""Pieces of a file, tags and texts, without a link among them: behind these nothing is looked for.

An archive of two megabytes unpacks to fifty million empty tags, which take minutes.
"""
_ENDS_LINK = frozenset({"dl", "/dl", "h1", "h2", "h3", "hr", "/dd"})
_LINE_BREAKS = frozenset({"br", "p", "/p", "div", "/div", "li"})


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
    reader = _Reader(FileLists(file), is_ours=is_ours)
    in_vain = 0
    for token in tokenize_list(file.chunks()):
        in_vain += 1
        if isinstance(token, str):
            reader.text(token)
        elif bookmark := reader.link(token) if isinstance(token, Link) else reader.tag(token):
            yield bookmark
            in_vain = 0
        elif in_vain > MOST_TAGS:
            break
    if bookmark := reader.finish():
        yield bookmark
    if in_vain > MOST_TAGS:
        yield broken("", NO_LINK)


class _Reader:
    """Where in the file we are: the folders around, the link being read, the text wanted.

    What ``bookmarks_html`` wrote is taken as it stands: no folder in it is a browser's own, and no
    text is a mark of another service.
    """

    def __init__(self, lists: FileLists, *, is_ours: bool) -> None:
        self._is_ours = is_ours
        self._folders = Folders(lists, has_roots=not is_ours)
        self._link: dict[str, str] | None = None
        self._title = Text(MAX_TITLE)
        self._note = Text(MAX_NOTE)
        self._wanted: Text | None = None
        self._in_item = False
        self._section = ""

    def text(self, text: str) -> None:
        """Take the text between two tags."""
        if self._wanted is not None:
            self._wanted.add(text)

    def link(self, link: Link) -> Bookmark | None:
        """Take an item whole, as ``tag`` and ``text`` take it in parts; gives the one before."""
        ended = self.finish()
        self._in_item = True
        attributes = attributes_of(link)
        if "href" in attributes:
            self._link = attributes
            self._note.take()
            self._title.take()
            self._title.add(link.text)
        return ended

    def tag(self, tag: Tag) -> Bookmark | None:
        """Take a tag; gives the bookmark that it ends, if it ends one."""
        match tag.name:
            case "dt":
                self._in_item = True
                return self.finish()
            case "a":
                return self._begin_link(tag)
            case "/a":
                if self._wanted is self._title:
                    self._wanted = None
            case "dd":
                is_wanted = self._link is not None or self._folders.is_announced
                self._wanted = self._note if is_wanted else None
            case "/h3":
                self._end_folder_name()
            case "/h1" if self._link is None and self._wanted is self._title:
                self._wanted = None
                self._section = " ".join(self._title.take().split()).lower()
            case name if name in _LINE_BREAKS:
                self.text("\n")
            case name if name in _ENDS_LINK:
                return self._structure(tag)
        return None

    def finish(self) -> Bookmark | None:
        """Give the link that was being read."""
        self._wanted = None
        link, self._link = self._link, None
        if link is None:
            return None
        folders, note = self._folders, self._note.take()
        if self._is_ours:
            return self._as_it_was(link, note.strip())
        folder_facts = folders.fill()
        note = note_of(note) if note else ""
        note = note or link.pop("description", "")[:MAX_NOTE].strip()
        section = "" if folders.depth else self._section
        is_read, is_starred = state_of(section) if section else (False, False)
        url, title = link.pop("href").strip(), " ".join(self._title.take().split())
        return Bookmark(
            Annotation(
                url_given=url[:MAX_URL],
                title="" if title == url else title,  # which is put where there is none
                note=note,
                added_at=added_at_of(link),
                is_read=is_read,
                is_starred=is_starred,
                folders=_folders(folders.path) if folders.path else (),
                tags=tags_of(link, note),
                source_record=record_of(link, folders.root, section, folder_facts),
            )
        )

    def _as_it_was(self, link: dict[str, str], note: str) -> Bookmark:
        """A link of a file that is ours."""
        split = link.get("tags", "").split(",")
        self._folders.fill()
        names = self._folders.path
        title = " ".join(self._title.take().split())
        whose = link.get(PAGE_TITLE)
        annotation = Annotation(
            link["href"],
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

    def _begin_link(self, tag: Tag) -> Bookmark | None:
        if self._wanted is self._note and self._in_item and self._link is not None:
            # Where items begin with <DT>, a link behind <DD> is part of what the person wrote.
            return None
        attributes = attributes_of(tag)
        if "href" not in attributes:
            return None
        ended = self.finish()
        self._link = attributes
        self._want_title()
        self._note.take()
        return ended

    def _want_title(self) -> None:
        self._title.take()
        self._wanted = self._title

    def _structure(self, tag: Tag) -> Bookmark | None:
        self._end_folder_name()
        ended = self.finish()
        self._in_item = False
        if tag.name == "h3":
            self._folders.announce(attributes_of(tag))
            self._note.take()
            self._want_title()
        elif tag.name == "h1":
            self._want_title()
        elif tag.name == "dl":
            if self._folders.is_announced:
                self._folders.describe(self._note.take())
            self._folders.enter()
        elif tag.name == "/dl":
            self._folders.leave()
        return ended

    def _end_folder_name(self) -> None:
        """Take the text of an ``<H3>``, closed or not."""
        if self._link is None and self._wanted is self._title:
            self._folders.named(self._title.take())
            self._wanted = None


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
