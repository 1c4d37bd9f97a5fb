"""Entries as a Netscape bookmark file, as every browser and bookmarking service reads it.

A line is an item, with ``HREF`` first and five entities alone, since Chrome reads line by line and
knows no others (`content_bookmark_parser_utils.cc`); ``TAGS`` is Firefox's (`BookmarkHTMLUtils`),
``TOREAD`` Pinboard's and linkding's; ``READ``, ``STARRED``,
``ALL_TAGS`` and ``PAGE_TITLE`` are ours, and nobody
minds them. A link without a title is called by its address, as a browser could not show it
otherwise. Notes stand behind ``<DD>``. An entry that lies in several folders is in each of them.
"""

import json
import re
from collections.abc import Iterator

from archiver.formats.list_writer import Heading, ListForm, Order
from archiver.formats.netscape import ALL_TAGS, GENERATOR, NOBODYS, PAGE_TITLE, PAGES
from archiver.formats.own_json import held_title
from archiver.model.entry import Entry
from archiver.model.exported import Exported
from archiver.model.folder_path import folder_names
from archiver.wire.text import well_formed

TO_READ = "toread"
_ADDRESS = re.compile(r"https?://[^\s\x00-\x20\"\\<>\x7f-\x9f]+")
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_ESCAPED = re.compile('[&<>"]')
_OPENING = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
{GENERATOR}
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
"""


class _BookmarksHtml:
    def __init__(self, _: Heading) -> None:
        self._within: tuple[str, ...] = ()

    def opening(self) -> str:
        return _OPENING

    def item(self, exported: Exported, place: str) -> str:
        lines = [*self._steps(folder_names(place)), *_link(exported.entry, len(self._within) + 1)]
        return "".join(f"{line}\n" for line in lines)

    def closing(self) -> str:
        return "".join(f"{line}\n" for line in [*self._steps(()), "</DL><p>"])

    def _steps(self, wanted: tuple[str, ...]) -> Iterator[str]:
        """Out of the folders that are left, into those that are entered."""
        if wanted == self._within:
            return
        shared = 0
        while wanted[: shared + 1] == self._within[: shared + 1] and shared < len(wanted):
            shared += 1
        for depth in range(len(self._within), shared, -1):
            yield f"{_indent(depth)}</DL><p>"
        for depth, name in enumerate(wanted[shared:], shared + 1):
            yield f"{_indent(depth)}<DT><H3>{_escaped(_on_one_line(name))}</H3>"
            yield f"{_indent(depth)}<DL><p>"
        self._within = wanted


def _link(entry: Entry, depth: int) -> Iterator[str]:
    annotation = entry.annotation
    given = annotation.url_given.strip()
    title = _on_one_line(entry.title or held_title(annotation.source_record))
    tags = [*filter(None, map(_on_one_line, annotation.tags))]
    address = given if _ADDRESS.fullmatch(given) else entry.url
    attributes = {
        "HREF": address,
        "ADD_DATE": str(int(annotation.saved_at.timestamp())),
        "TAGS": ",".join(tags),
        "TOREAD": "1" if TO_READ in tags else "",
        "READ": "1" if annotation.is_read else "",
        "STARRED": "1" if annotation.is_starred else "",
        PAGE_TITLE.upper(): _whose(annotation.title, title),
        ALL_TAGS.upper(): json.dumps(tags) if any("," in tag for tag in tags) else "",
    }
    written = "".join(f' {name}="{_escaped(value)}"' for name, value in attributes.items() if value)
    yield f"{_indent(depth)}<DT><A{written}>{_escaped(title or address)}</A>"
    if note := _clean(annotation.note).strip():
        yield f"{_indent(depth)}<DD>{_escaped(note)}"


def _whose(persons: str, title: str) -> str:
    """Says whose a title is, where it is no person's."""
    if not title:
        return NOBODYS
    return "" if persons else PAGES


def _indent(depth: int) -> str:
    return "    " * depth


def _on_one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    """Text without what HTML has no place for, lines ending in one way."""
    return _NO_TEXT.sub("", well_formed(text).replace("\r\n", "\n").replace("\r", "\n"))


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


BOOKMARKS_HTML = ListForm(_BookmarksHtml, Order.FOLDERS)
