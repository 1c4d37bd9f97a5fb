"""EPUB books.

Chapters are written one by one, so the memory needed depends on the longest article only.
"""

import re
import textwrap
import zipfile
from collections.abc import Mapping
from datetime import datetime
from html import escape, unescape
from typing import IO
from unicodedata import east_asian_width
from urllib.parse import quote

from lxml import etree
from lxml.etree import _Element as Element

from archiver.formats.single_page import about, with_pictures
from archiver.http.text_decoders import for_xml
from archiver.http.timestamps import write_iso
from archiver.http.urls import is_archivable
from archiver.model.page import Chapter, Picture
from archiver.pages.article_text import without_tags
from archiver.pages.shown_article import XLINK, parse_xml, without_title, xml_of

XHTML = "http://www.w3.org/1999/xhtml"
_NAMESPACES = {"math": "http://www.w3.org/1998/Math/MathML", "svg": "http://www.w3.org/2000/svg"}
_FOREIGN = re.compile(r"<(math|svg)(?=[ >])")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_ACTIVE = frozenset({"script", "foreignobject", "iframe", "handler", "listener"})
_INTERNAL = re.compile(r"\s*(?:#|data:image/(?:png|jpeg|gif|webp)[;,])", re.IGNORECASE)
"""Pattern for references in an SVG image to its own elements or to embedded images."""
_LOADS = re.compile(r"@import|url\(\s*[\"']?(?!\s*[\"']?(?:#|data:image/))", re.IGNORECASE)
_EXTERNAL = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:(?<!data:)|//)", re.IGNORECASE)
_PLAIN = frozenset("article aside section header footer main address details samp".split())
"""Elements that XHTML allows in certain places only; they are replaced by generic elements."""
_INLINE = frozenset(
    "abbr b bdi bdo cite code dfn em i kbd mark q s small span strong sub sup u var h1 h2 h3 h4 h5 "
    "h6 p pre caption summary ruby rt".split()
)
"""Elements that may contain phrasing content only."""
_BLOCKS = frozenset(
    "blockquote div dl dt dd figure figcaption h1 h2 h3 h4 h5 h6 hr li ol p pre table ul".split()
)
_ALLOWED = {
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start", "reversed"},
    "li": {"value"},
}
_NUMBERS = frozenset({"colspan", "rowspan", "start", "value", "width", "height"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_ID = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_UNSAFE = "!#$%&'()*+,/:;=?@[]~"


def to_xhtml(html: str) -> str:
    """Convert the HTML content of a body to XHTML; content that cannot be parsed becomes text."""
    source = _FOREIGN.sub(
        lambda tag: f'{tag[0]} xmlns="{_NAMESPACES[tag[1]]}" xmlns:xlink="{XLINK}"',
        xml_of(_NO_XML.sub("", html)),
    )
    body = parse_xml(f'<body xmlns="{XHTML}">{source}</body>')
    if body is None:
        return f"<p>{escape(_NO_XML.sub('', unescape(without_tags(html))))}</p>"
    _normalise(body)
    text: str = etree.tostring(body, encoding="unicode")
    inner = text[text.index(">") + 1 :].removesuffix("</body>")
    return inner if not text.endswith("/>") else ""


def _normalise(body: Element) -> None:
    for element in list(body.iter()):
        if element is not body and isinstance(element.tag, str):
            _normalise_one(element)
    for element in list(body.iter()):
        if element is not body and _name(element) in _INLINE and _holds_blocks(element):
            _rename(element, "div")
    for element in list(body.iter()):
        _normalise_children(element)
    _normalise_ids(body)


def _normalise_one(element: Element) -> None:
    name = _name(element)
    if not name:
        element.attrib.pop("lang", None)
        element.attrib.pop("dir", None)
        _drop_external(element)
        return
    if name == "img" and _EXTERNAL.match(element.get("src", "")):
        words = element.get("alt") or "image not archived"
        element.attrib.clear()
        element.text = f"[{words}]"
        _rename(element, "em")
        return
    if name in _PLAIN:
        _rename(element, "div" if name != "samp" else "code")
    elif name in {"time", "ins", "del", "bdo", "wbr", "picture"}:
        _rename(element, "")
    elif name == "summary":
        _rename(element, "p")
    allowed = _ALLOWED.get(_name(element), set()) | {"id", "title", "class"}
    if element.get("dir") in {"ltr", "rtl", "auto"}:
        allowed |= {"dir"}
    language = element.get("lang")
    for key, value in list(element.attrib.items()):
        if key not in allowed or (key in _NUMBERS and not value.isdecimal()):
            del element.attrib[key]
    if language and _LANGUAGE.fullmatch(language):
        element.set("lang", language)
        element.set("{http://www.w3.org/XML/1998/namespace}lang", language)


def _normalise_children(element: Element) -> None:
    name = _name(element)
    if name in {"ul", "ol"}:
        _wrap(element, {"li"}, "li")
    elif name == "dl" and not _is_list_of_definitions(element):
        for child in element:
            _rename(child, "div")
        _rename(element, "div")
    elif name == "figure":
        captions = [each for each in element if _name(each) == "figcaption"]
        at_edge = [each for each in captions if each in (element[0], element[-1])][:1]
        for each in captions:
            if each not in at_edge:
                _rename(each, "div")
    elif name in {"li", "dt", "dd", "figcaption"} and not _is_well_placed(element):
        _rename(element, "div")


def _is_well_placed(element: Element) -> bool:
    above = element.getparent()
    within = {"li": {"ul", "ol"}, "figcaption": {"figure"}}.get(_name(element), {"dl", "div"})
    return above is not None and _name(above) in within


def _is_list_of_definitions(element: Element) -> bool:
    """Return whether a definition list is valid: terms with definitions, without other content."""
    names = [_name(each) for each in element]
    texts = [element.text, *(each.tail for each in element)]
    pairs = [(one, other) for one, other in zip(["dd", *names], [*names, "dt"], strict=True)]
    return (
        bool(names)
        and {*names} <= {"dt", "dd"}
        and not any((text or "").strip() for text in texts)
        and ("dt", "dt") not in pairs[-1:]
        and names[0] == "dt"
        and names[-1] == "dd"
        and not any(
            _name(each) in {"h1", "h2", "h3", "h4", "h5", "h6"}
            for term in element
            if _name(term) == "dt"
            for each in term.iter()
        )
    )


def _wrap(element: Element, allowed: set[str], wrapper_tag: str) -> None:
    """Wrap text, and children that are not ``allowed``, in elements named ``wrapper_tag``."""
    for text, after in [(element.text, None), *((each.tail, each) for each in element)]:
        if text and text.strip():
            wrapper = etree.Element(f"{{{XHTML}}}{wrapper_tag}")
            wrapper.text = text
            if after is None:
                element.text = None
                element.insert(0, wrapper)
            else:
                after.tail = None
                element.insert(element.index(after) + 1, wrapper)
    for child in list(element):
        if _name(child) not in allowed:
            wrapper = etree.Element(f"{{{XHTML}}}{wrapper_tag}")
            element.replace(child, wrapper)
            wrapper.append(child)
    if not len(element):
        _rename(element, "div")


def _normalise_ids(body: Element) -> None:
    """Remove duplicate and invalid ids, and the ``href`` of links without a valid target.

    The ``href`` of links in other links is removed, too.
    """
    seen: set[str] = set()
    for element in body.iter():
        name = element.get("id")
        if name is None:
            continue
        if name in seen or not _ID.fullmatch(name):
            del element.attrib["id"]
        else:
            seen.add(name)
    for link in list(body.iter(f"{{{XHTML}}}a")):
        href = link.get("href", "")
        if href.startswith("#"):
            is_there = href[1:] in seen
        else:
            is_there = href.startswith("mailto:") or is_archivable(href)
            link.set("href", quote(href, safe=_UNSAFE))
        if not is_there or any(_name(each) == "a" for each in link.iterancestors()):
            link.attrib.pop("href", None)


def _holds_blocks(element: Element) -> bool:
    return any(_name(each) in _BLOCKS for each in element.iterdescendants())


def _name(element: Element) -> str:
    """Return the name of an XHTML element; empty for other namespaces."""
    tag = element.tag
    return tag.removeprefix(f"{{{XHTML}}}") if isinstance(tag, str) and XHTML in tag else ""


def _rename(element: Element, name: str) -> None:
    """Rename an element; an empty name means ``span``."""
    element.tag = f"{{{XHTML}}}{name or 'span'}"


MEDIA_TYPE = "application/epub+zip"
PICTURES = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
}
"""Core media types of images (EPUB 3.3 §3.2)."""
STYLE = """
body { line-height: 1.5; overflow-wrap: break-word; }
.about, figcaption { font-size: .85em; color: #555; }
img, svg { max-width: 100%; height: auto; }
figure { margin: 1em 0; }
pre { white-space: pre-wrap; font-size: .8em; }
blockquote { margin: 1em 0; padding-left: 1em; border-left: 2px solid #999; }
.note { border-left: 2px solid #287; padding-left: .8em; white-space: pre-line; }
table { border-collapse: collapse; }
td, th { padding: .2em .5em; border-bottom: 1px solid #999; vertical-align: top; }
th { text-align: start; }
"""
_RIGHT_TO_LEFT = ' dir="rtl"'
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
<item id="cover-image" href="cover.svg" media-type="image/svg+xml" properties="cover-image"/>
<item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
{items}</manifest>
<spine{turned}>
<itemref idref="cover"/>
{spine}</spine>
</package>
"""
_COVER = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 800">
<rect width="600" height="800" fill="#1f6f54"/>
<rect x="60" y="70" width="480" height="4" fill="#fff"/>
<g fill="#fff" font-family="serif" font-size="52">{lines}</g>
<g fill="#fff" font-family="sans-serif" font-size="24">
<text x="60" y="720">{contents}</text><text x="60" y="756">{date:%Y-%m-%d}</text></g>
</svg>
"""
_COVER_COLUMNS, _COVER_LINES = 18, 8


def _cover(title: str, count: int, date: datetime) -> str:
    """Return an SVG image with the title, the number of chapters and the date."""
    is_wide = any(east_asian_width(each) in "WF" for each in title)
    columns = _COVER_COLUMNS // 2 if is_wide else _COVER_COLUMNS
    lines = textwrap.wrap(for_xml(title), columns, max_lines=_COVER_LINES, placeholder="…")
    drawn = "".join(
        f'<text x="60" y="{150 + 64 * number}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    contents = f"{count} articles" if count > 1 else "1 article"
    return _COVER.format(lines=drawn, contents=contents, date=date)


class Epub:
    """Writer of an EPUB book to a seekable ``file``, which is not closed."""

    def __init__(self, file: IO[bytes], *, title: str, identifier: str, modified: datetime) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._title, self._identifier, self._modified = title, identifier, modified
        self._chapters: list[tuple[str, str]] = []
        self._items: list[str] = []
        self._bylines: dict[str, None] = {}
        self._languages: list[str] = []
        self._names: dict[str, str] = {}
        self._right_to_left: list[bool] = []
        self._write("mimetype", MEDIA_TYPE, packed=False)
        self._write("META-INF/container.xml", _CONTAINER)
        self._write("EPUB/style.css", STYLE)

    def add(self, chapter: Chapter) -> None:
        """Write a chapter and its images."""
        number = len(self._chapters) + 1
        name = f"chapter-{number:05}.xhtml"
        html = with_pictures(
            without_title(chapter.html, chapter.title),
            lambda urls: self._place(urls, chapter.pictures),
        )
        note = f'<p class="note">{_escaped(chapter.note)}</p>\n' if chapter.note else ""
        body = (
            f'<h1>{_escaped(chapter.title)}</h1>\n<p class="about">{to_xhtml(about(chapter))}</p>\n'
            f"{note}{to_xhtml(html)}"
        )
        language = _language(chapter.language)
        attributes = f' lang="{language}" xml:lang="{language}"' if language else ""
        is_right_to_left = chapter.html.startswith(f"<div{_RIGHT_TO_LEFT}>")
        self._right_to_left.append(is_right_to_left)
        attributes += _RIGHT_TO_LEFT if is_right_to_left else ""
        page = _PAGE.format(language=attributes, title=_escaped(chapter.title), body=body)
        self._write(f"EPUB/{name}", page)
        named = [each for each, sign in (("mathml", "<math"), ("svg", "<svg")) if sign in body]
        kinds = f' properties="{" ".join(named)}"' if named else ""
        self._item(name, "application/xhtml+xml", kinds)
        self._chapters.append((name, chapter.title))
        if chapter.byline:
            self._bylines[chapter.byline] = None
        self._languages += [language] if language else []

    def close(self) -> None:
        """Write the contents, the cover and the package document, and end the zip file."""
        listed = "".join(
            f'<li><a href="{name}">{_escaped(title) or name}</a></li>\n'
            for name, title in self._chapters
        )
        nav = f'<nav epub:type="toc"><h1>{_escaped(self._title)}</h1>\n<ol>\n{listed}</ol></nav>'
        self._write(
            "EPUB/nav.xhtml", _PAGE.format(language="", title=_escaped(self._title), body=nav)
        )
        self._write("EPUB/cover.svg", _cover(self._title, len(self._chapters), self._modified))
        image = f'<p><img src="cover.svg" alt="{_escaped(self._title)}"/></p>'
        self._write(
            "EPUB/cover.xhtml", _PAGE.format(language="", title=_escaped(self._title), body=image)
        )
        spine = "".join(f'<itemref idref="{_id(name)}"/>\n' for name, _ in self._chapters)
        bylines = "".join(f"<dc:creator>{_escaped(each)}</dc:creator>\n" for each in self._bylines)
        package = _PACKAGE.format(
            identifier=_escaped(self._identifier),
            title=_escaped(self._title),
            language=max(self._languages, key=self._languages.count, default="en"),
            creators=bylines,
            modified=write_iso(self._modified),
            items="".join(self._items),
            spine=spine,
            turned=' page-progression-direction="rtl"'
            if self._right_to_left and all(self._right_to_left)
            else "",
        )
        self._write("EPUB/package.opf", package)
        self._zip.close()

    def _place(self, urls: tuple[str, ...], pictures: Mapping[str, Picture]) -> str:
        """Add the first usable image of ``urls`` to the book; return its path, or an empty text."""
        for url in urls:
            if url in self._names:
                return self._names[url]
            picture = pictures.get(url)
            ending = PICTURES.get(picture.media_type) if picture else None
            if picture and ending and (data := _static_image(picture)):
                name = f"pictures/{len(self._names) + 1:05}.{ending}"
                self._names[url] = name
                self._write(f"EPUB/{name}", data, packed=ending == "svg")
                self._item(name, picture.media_type)
                return name
        return ""

    def _item(self, name: str, media_type: str, kinds: str = "") -> None:
        self._items.append(
            f'<item id="{_id(name)}" href="{name}" media-type="{media_type}"{kinds}/>\n'
        )

    def _write(self, path: str, content: str | bytes, *, packed: bool = True) -> None:
        """Write a member of the zip file with a fixed date, so that the output is reproducible.

        With ``packed``, the content is compressed.
        """
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        self._zip.writestr(zipfile.ZipInfo(path), data, compress_type=kind)


def _static_image(picture: Picture) -> bytes:
    """Return the content of an image; empty if it is an invalid SVG image.

    Scripts and external references are removed from SVG images.
    """
    if picture.media_type != "image/svg+xml":
        return picture.data
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_pis=True, remove_comments=True
    )
    try:
        root = etree.fromstring(picture.data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return b""
    if root.tag != f"{{{_NAMESPACES['svg']}}}svg":
        return b""
    for element in list(root.iter()):
        _drop_external(element)
    drawn: bytes = etree.tostring(root, encoding="utf-8")
    return drawn


def _drop_external(element: Element) -> None:
    """Remove an SVG element with active content, such as a script.

    If an element has no active content, only its external references and event handlers are
    removed.
    """
    name = etree.QName(element).localname.lower() if isinstance(element.tag, str) else ""
    above = element.getparent()
    if name in _ACTIVE or not name or (name == "style" and _LOADS.search(element.text or "")):
        if above is not None:
            above.remove(element)
        return
    for key, value in list(element.attrib.items()):
        local = etree.QName(key).localname.lower()
        is_reference = local in ("href", "src") and not _INTERNAL.match(value)
        if is_reference or local.startswith("on") or _LOADS.search(value):
            del element.attrib[key]


def _id(name: str) -> str:
    return "i-" + name.replace("/", "-")


def _language(tag: str) -> str:
    parts = tag.replace("_", "-").split("-")
    is_tag = 2 <= len(parts[0]) <= 3 and all(part.isascii() and part.isalnum() for part in parts)
    return "-".join(parts) if is_tag and parts[0].isalpha() else ""


def _escaped(text: str) -> str:
    return escape(for_xml(text))
