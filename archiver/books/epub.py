"""A book in EPUB 3.3: a chapter for each article, with the pictures that the archive has.

A chapter is written as it comes, so that a book of any length takes the memory of one article.
"""

import re
import zipfile
from collections.abc import Mapping
from datetime import datetime
from html import escape
from typing import IO

from archiver.books.page import about
from archiver.books.pictures import with_pictures
from archiver.books.xhtml import to_xhtml
from archiver.html.shown_article import without_title
from archiver.model.chapter import Chapter, Picture
from archiver.wire.moments import write_iso

MEDIA_TYPE = "application/epub+zip"
PICTURES = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
}
"""What every reading system shows (EPUB 3.3 §3.2)."""
STYLE = """
body { line-height: 1.5; overflow-wrap: break-word; }
.about, figcaption { font-size: .85em; color: #555; }
img, svg { max-width: 100%; height: auto; }
.permalink { display: none; }
figure { margin: 1em 0; }
pre { white-space: pre-wrap; font-size: .8em; }
blockquote { margin: 1em 0; padding-left: 1em; border-left: 2px solid #999; }
.note { border-left: 2px solid #287; padding-left: .8em; white-space: pre-line; }
table { border-collapse: collapse; }
td, th { padding: .2em .5em; border-bottom: 1px solid #999; vertical-align: top; }
th { text-align: start; }
.vertical-rl { -epub-writing-mode: vertical-rl; writing-mode: vertical-rl; }
.vertical-lr { -epub-writing-mode: vertical-lr; writing-mode: vertical-lr; }
.vertical-rl pre, .vertical-rl table { writing-mode: horizontal-tb; }
.vertical-lr pre, .vertical-lr table { writing-mode: horizontal-tb; }
"""
_ROOT = re.compile(r"<div[^<>]*>")
_SET_BY = re.compile(r' class="vertical-(?:rl|lr)"| dir="rtl"')
_CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
_PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"{language}>
<head><title>{title}</title><link rel="stylesheet" type="text/css" href="style.css"/></head>
<body>
{body}
</body>
</html>
"""
_PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:language>{language}</dc:language>
{creators}<meta property="dcterms:modified">{modified}</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="style" href="style.css" media-type="text/css"/>
{items}</manifest>
<spine{turned}>
{spine}</spine>
</package>
"""


class Epub:
    """A book that is being written. ``file`` can be sought; it is left open."""

    def __init__(self, file: IO[bytes], *, title: str, identifier: str, modified: datetime) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._title, self._identifier, self._modified = title, identifier, modified
        self._chapters: list[tuple[str, str]] = []
        self._items: list[str] = []
        self._bylines: dict[str, None] = {}
        self._languages: list[str] = []
        self._names: dict[str, str] = {}
        self._turned: list[bool] = []
        self._write("mimetype", MEDIA_TYPE, packed=False)
        self._write("META-INF/container.xml", _CONTAINER)
        self._write("EPUB/style.css", STYLE)

    def add(self, chapter: Chapter) -> None:
        """Write a chapter and its pictures."""
        number = len(self._chapters) + 1
        name = f"chapter-{number:05}.xhtml"
        html = with_pictures(
            without_title(chapter.html, chapter.title),
            lambda urls: self._place(urls, chapter.pictures),
        )
        note = f'<p class="note">{_text(chapter.note)}</p>\n' if chapter.note else ""
        body = (
            f'<h1>{_text(chapter.title)}</h1>\n<p class="about">{to_xhtml(about(chapter))}</p>\n'
            f"{note}{to_xhtml(html)}"
        )
        language = _language(chapter.language)
        attributes = f' lang="{language}" xml:lang="{language}"' if language else ""
        lines = _lines(chapter.html)
        self._turned.append('"rtl"' in lines or "-rl" in lines)
        attributes += lines
        page = _PAGE.format(language=attributes, title=_text(chapter.title), body=body)
        self._write(f"EPUB/{name}", page)
        named = [each for each, sign in (("mathml", "<math"), ("svg", "<svg")) if sign in body]
        kinds = f' properties="{" ".join(named)}"' if named else ""
        self._item(name, "application/xhtml+xml", kinds)
        self._chapters.append((name, chapter.title))
        if chapter.byline:
            self._bylines[chapter.byline] = None
        self._languages += [language] if language else []

    def close(self) -> None:
        """Write what stands around the chapters."""
        listed = "".join(
            f'<li><a href="{name}">{_text(title) or name}</a></li>\n'
            for name, title in self._chapters
        )
        nav = f'<nav epub:type="toc"><h1>{_text(self._title)}</h1>\n<ol>\n{listed}</ol></nav>'
        self._write("EPUB/nav.xhtml", _PAGE.format(language="", title=_text(self._title), body=nav))
        spine = "".join(f'<itemref idref="{_id(name)}"/>\n' for name, _ in self._chapters)
        bylines = "".join(f"<dc:creator>{_text(each)}</dc:creator>\n" for each in self._bylines)
        package = _PACKAGE.format(
            identifier=_text(self._identifier),
            title=_text(self._title),
            language=max(self._languages, key=self._languages.count, default="en"),
            creators=bylines,
            modified=write_iso(self._modified),
            items="".join(self._items),
            spine=spine,
            turned=' page-progression-direction="rtl"'
            if self._turned and all(self._turned)
            else "",
        )
        self._write("EPUB/package.opf", package)
        self._zip.close()

    def _place(self, urls: tuple[str, ...], pictures: Mapping[str, Picture]) -> str:
        """Where a picture lies in the book, which it is put into; empty where there is none."""
        for url in urls:
            if url in self._names:
                return self._names[url]
            held = pictures.get(url)
            if held and (ending := PICTURES.get(held.media_type)) and _is_still(held):
                name = f"pictures/{len(self._names) + 1:05}.{ending}"
                self._names[url] = name
                self._write(f"EPUB/{name}", held.data, packed=ending == "svg")
                self._item(name, held.media_type)
                return name
        return ""

    def _item(self, name: str, media_type: str, kinds: str = "") -> None:
        self._items.append(
            f'<item id="{_id(name)}" href="{name}" media-type="{media_type}"{kinds}/>\n'
        )

    def _write(self, path: str, content: str | bytes, *, packed: bool = True) -> None:
        """Write a member; its date is left at zip's first, so that the same gives the same."""
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        self._zip.writestr(zipfile.ZipInfo(path), data, compress_type=kind)


def _is_still(picture: Picture) -> bool:
    """Whether a drawing neither runs nor loads anything; other pictures do not."""
    if picture.media_type != "image/svg+xml":
        return True
    text = picture.data.lower()
    return not any(sign in text for sign in (b"<script", b"<foreignobject", b'href="http', b"<!"))


def _id(name: str) -> str:
    return "i-" + name.replace("/", "-")


def _lines(html: str) -> str:
    """In which direction an article is set, as attributes of its whole chapter: pages follow it."""
    root = _ROOT.match(html)
    return "".join(_SET_BY.findall(root[0])) if root else ""


def _language(tag: str) -> str:
    parts = tag.replace("_", "-").split("-")
    is_tag = 2 <= len(parts[0]) <= 3 and all(part.isascii() and part.isalnum() for part in parts)
    return "-".join(parts) if is_tag and parts[0].isalpha() else ""


def _text(text: str) -> str:
    return escape("".join(each if each >= " " or each in "\t\n" else " " for each in text))
