"""Plain text, Markdown and link files."""

import re
from collections.abc import Iterable, Iterator

from archiver.formats.importer import Importer
from archiver.formats.refusal import is_binary
from archiver.formats.rows import MAX_URL, Row
from archiver.formats.source_file import GivenFile
from archiver.http.urls import with_scheme
from archiver.model.annotation import Annotation
from archiver.model.message import marked
from archiver.model.seed import Bookmark, unreadable

_MAX_LINE = 1 << 16
_MAX_TITLE = 1_000

# Balanced parentheses belong to a URL, up to two deep: "(see https://x.example/a_(b))".
_PLAIN = r"[^\s<>\"`()]"
_URL = re.compile(
    rf"https?://(?>(?:{_PLAIN}++|\((?>(?:{_PLAIN}++|\({_PLAIN}*+\))*)\))+)", re.IGNORECASE
)
_NEXT_URL = re.compile(r"[,;|](?=https?://)", re.IGNORECASE)
_ONLY_URL = re.compile(r"https?://[^\s<>\"`]++", re.IGNORECASE)
_ONE_WORD = re.compile(r"[^\s<>\"'`\[\](){}|*]++")
_DOT_INSIDE = re.compile(r"[^\W_]\.[^\W_]")
_CJK_STOPS = "\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f\u300d\u300f\uff09"
_TRAILING = ".,;:!?'*_\\]}\u2026\u2019\u201d" + _CJK_STOPS
_COMMENT = "#"
_MARKDOWN_TARGETS = ("](", "](<")
_MAX_BRACKETS = 8


def _recognises(file: GivenFile) -> bool:
    """Return whether it is text that is not a misread structured format."""
    return not (is_binary(file) or file.json_paths)


def read_plain_text(file: GivenFile) -> Iterator[Bookmark]:
    """Yield every http(s) URL in order; the text of a Markdown link is its title.

    Lines that begin with ``#`` are comments unless they contain a Markdown link. A line that is a
    single word with a dot, such as ``example.com/page``, is meant as a URL: in pasted text it is
    returned as is, so that the user sees an error if it is invalid.
    """
    for line, whole in _lines(file.chunks()):
        if not line or (line.startswith(_COMMENT) and "](" not in line):
            continue
        if whole and _ONLY_URL.fullmatch(line):
            # The line consists of URLs only, so a final full stop belongs to the URL.
            for url in _NEXT_URL.split(line):
                yield Bookmark(Annotation(url.rstrip(",;")[:MAX_URL]))
        elif whole and _ONE_WORD.fullmatch(line) and _DOT_INSIDE.search(line):
            yield Bookmark(Annotation(with_scheme(line[:MAX_URL])))
        else:
            yield from links_in_text(line)


def _lines(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Split text into stripped lines, each with whether it is complete.

    Overlong lines are split, between words if possible.
    """
    held, whole = "", True
    for chunk in chunks:
        *lines, held = (held + chunk.replace("\r", "\n")).split("\n")
        for line in lines:
            yield line.strip(), whole
            whole = True
        while len(held) > _MAX_LINE:
            whole = False
            cut = _cut(held)
            yield held[:cut].strip(), whole
            held = held[cut:]
    yield held.strip(), whole


def _cut(line: str) -> int:
    """Return where to split an overlong line: at the last space, else the last comma."""
    space = max(line.rfind(" ", 0, _MAX_LINE), line.rfind("\t", 0, _MAX_LINE))
    cut = space if space > 0 else line.rfind(",", 0, _MAX_LINE)
    return cut if cut > 0 else _MAX_LINE


def links_in_text(line: str) -> Iterator[Bookmark]:
    """Yield the URLs in a text, without the punctuation of the sentence."""
    for found in _URL.finditer(line):
        first, *others = _NEXT_URL.split(found[0])
        title = _markdown_title(line, found.start())
        yield Bookmark(Annotation(_trim(first), title=title))
        for url in others:
            yield Bookmark(Annotation(_trim(url)))


def _trim(url: str) -> str:
    return url.rstrip(_TRAILING)[:MAX_URL]


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
_NOT_KEPT = ("iconfile", "iconindex", "icon", "encoding", "version", "type", "idlist")
_NO_ADDRESS = marked("This shortcut has no address.")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    fields: dict[str, str] = {}
    for line in file.text.splitlines()[1:]:
        if line.lstrip().startswith("["):
            continue
        if found := _FIELD.match(line.strip()):
            fields.setdefault(found[1], found[2])
    row = Row(fields)
    row.drop(*_NOT_KEPT)
    url = row.text("url", "baseurl")
    name = row.text("name") or file.name.rpartition("/")[2].rpartition(".")[0]
    if not url:
        yield unreadable(file.name, _NO_ADDRESS)
        return
    yield row.bookmark(url, title=name, note=row.text("comment"))


def _fits(file: GivenFile) -> bool:
    if not file.is_text or not _SECTION.match(file.text):
        return False
    return _URL_LINE.search(file.text) is not None


SHORTCUT = Importer(
    marked("shortcut"),
    _fits,
    _read,
    ("url", "desktop"),
    marked("Windows .url and Linux .desktop files, one link each; a zip of them is a list"),
)
