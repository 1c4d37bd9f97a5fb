"""Plain text, Markdown and link files."""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from archiver.formats.importer import Importer
from archiver.formats.refusal import is_binary
from archiver.formats.rows import MAX_URL, Row
from archiver.formats.source_file import SourceFile
from archiver.http.urls import with_scheme
from archiver.http.urls_in_text import is_only_url, split_urls, urls_in_text
from archiver.model.annotation import Annotation
from archiver.model.message import marked
from archiver.model.seed import Bookmark, unreadable

_MAX_LINE = 1 << 16
_MAX_TITLE = 1_000

_MEANT_AS_URL = re.compile(
    r"https?://\S++\Z|(?=\S*?[^\W_]\.[^\W_])[^\s<>\"'`\[\](){}|*]++\Z", re.IGNORECASE
)
"""Line that is probably meant as a URL: a word with a scheme, or with a dot between letters."""
_COMMENT = "#"
_MARKDOWN_TARGETS = ("](", "](<")
_NAMESPACE = re.compile(r"\bxmlns(?::[\w-]{1,20})?\s?=\s?[\"']\Z")
_MAX_BRACKETS = 8
_LONGEST_OPENING = 40
_TITLES_AFTER = [
    (re.compile(before, re.IGNORECASE), re.compile(after, re.IGNORECASE))
    for before, after in (
        (r"\[\[\Z", r"(?:\]\[|\|)([^\]\[]+)\]\]"),  # Org [[url][title]], wikis [[url|title]]
        (r"\[url=[\"']?\Z", r"[\"']?\]([^\[]+)\[/url\]"),  # BBCode
        (r"href\s?=\s?[\"']?\Z", r"[\"']?[^<>]*>([^<>]+)</a"),  # HTML
        (r"(?<!\])\[\Z", r"[ |]([^\]\[]+)\]"),  # MediaWiki [url title]
        (r"<\Z", r"\|([^<>]+)>"),  # Slack
        (r"(?:\A|[^\[\](<\"'])\Z", r"\[([^\]\[]+)\]"),  # AsciiDoc url[title]
    )
]
"""Patterns for the links of several markup languages: (text before the URL, text after it).

The group in the second pattern is the title of the link.
"""


def _recognises(file: SourceFile) -> bool:
    """Return whether a file is text, and neither JSON nor in a binary format."""
    return not (is_binary(file) or file.json_paths)


def read_plain_text(file: SourceFile) -> Iterator[Bookmark]:
    """Yield every http(s) URL in order; the text of a Markdown link is its title.

    Lines that begin with ``#`` are comments unless they contain a Markdown link. A line that is a
    single word with a dot, such as ``example.com/page``, counts as a URL even if it is invalid, so
    that the user sees an error.
    """
    for line, is_whole in _lines(file.chunks()):
        if not line or (line.startswith(_COMMENT) and "](" not in line):
            continue
        if is_whole and is_only_url(line):
            for url in split_urls(line):
                yield Bookmark(Annotation(url.rstrip(",;")[:MAX_URL]))
        elif links := [*links_in_text(line)]:
            yield from links
        elif is_whole and _MEANT_AS_URL.match(line):
            yield Bookmark(Annotation(with_scheme(line[:MAX_URL])))


def _lines(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line of a text, stripped, with a flag that tells whether the line is complete.

    An overlong line is split, between words if possible. None of its parts is complete.
    """
    incomplete, is_whole = "", True
    for chunk in chunks:
        *lines, incomplete = (incomplete + chunk.replace("\r", "\n")).split("\n")
        for line in lines:
            yield line.strip(), is_whole
            is_whole = True
        while len(incomplete) > _MAX_LINE:
            is_whole = False
            cut = _cut(incomplete)
            yield incomplete[:cut].strip(), is_whole
            incomplete = incomplete[cut:]
    yield incomplete.strip(), is_whole


def _cut(line: str) -> int:
    """Return where to split an overlong line: at the last space, else the last comma."""
    space = max(line.rfind(" ", 0, _MAX_LINE), line.rfind("\t", 0, _MAX_LINE))
    cut = space if space > 0 else line.rfind(",", 0, _MAX_LINE)
    return cut if cut > 0 else _MAX_LINE


def links_in_text(line: str) -> Iterator[Bookmark]:
    """Yield the URLs in a text, with the titles of links in markup; skip XML namespaces."""
    for url, start, end in urls_in_text(line):
        if _NAMESPACE.search(line[max(0, start - _LONGEST_OPENING) : start]):
            continue
        title = _markdown_title(line, start) or _title_after(line, start, end)
        yield Bookmark(Annotation(url[:MAX_URL], title=title))


def _title_after(line: str, start: int, end: int) -> str:
    """Return the title after a URL in markup; empty if there is none."""
    before, after = line[max(0, start - _LONGEST_OPENING) : start], line[end : end + _MAX_TITLE]
    for opening, title in _TITLES_AFTER:
        if opening.search(before) and (match := title.match(after)):
            return " ".join(unescape(match[1]).split())
    return ""


def _markdown_title(line: str, start: int) -> str:
    """Return the text of a Markdown link, ``[text](url``, given the start of its URL."""
    before = line[max(0, start - len("](<")) : start]
    if not before.endswith(_MARKDOWN_TARGETS):
        return ""
    close = line.rindex("]", 0, start)
    earliest = max(0, close - _MAX_TITLE)
    opening = close
    for _ in range(_MAX_BRACKETS):
        opening = line.rfind("[", earliest, opening)
        if opening < 0:
            return ""
        title = line[opening + 1 : close]
        if title.count("[") == title.count("]"):
            return " ".join(title.replace("\\", "").split())
    return ""


PLAIN_TEXT = Importer(
    marked("plain text"),
    _recognises,
    read_plain_text,
    ("txt", "md", "markdown", "text"),
    marked("any text with links: a list of URLs, notes, an e-mail, Markdown"),
)

_SECTION = re.compile(r"\s*\[(InternetShortcut|Desktop Entry)\]", re.IGNORECASE)
_URL_LINE = re.compile(r"^\s*URL(?:\[[^\]\n]*\])?\s*=", re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(r"([^=\s][^=]*?)\s*=\s*(.*?)\s*\Z")
_IGNORED_FIELDS = ("iconfile", "iconindex", "icon", "encoding", "version", "type", "idlist")
_NO_ADDRESS = marked("This shortcut has no URL.")


def _read(file: SourceFile) -> Iterator[Bookmark]:
    fields: dict[str, str] = {}
    for line in file.text.splitlines()[1:]:
        if line.lstrip().startswith("["):
            continue
        if match := _FIELD.match(line.strip()):
            fields.setdefault(match[1], match[2])
    row = Row(fields)
    row.drop(*_IGNORED_FIELDS)
    url = row.text("url", "baseurl")
    name = row.text("name") or file.name.rpartition("/")[2].rpartition(".")[0]
    if not url:
        yield unreadable(file.name, _NO_ADDRESS)
        return
    yield row.bookmark(url, title=name, note=row.text("comment"))


def _fits(file: SourceFile) -> bool:
    if not file.is_text or not _SECTION.match(file.text):
        return False
    return _URL_LINE.search(file.text) is not None


SHORTCUT = Importer(
    marked("shortcut"),
    _fits,
    _read,
    ("url", "desktop"),
    marked("Windows .url and Linux .desktop files, one link each, or a zip file of them"),
)
