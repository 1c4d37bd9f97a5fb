"""Plain text and Markdown: every http(s) URL, in order."""

import re
from collections.abc import Iterable, Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.refusal import is_binary
from archiver.formats.rows import MAX_URL
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked
from archiver.urls.pasted import with_scheme

_MAX_LINE = 1 << 16
_MAX_TITLE = 1_000

# Parentheses belong to a URL while they are balanced, two deep: "(see https://x.example/a_(b))".
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
_MOST_BRACKETS = 8


def _recognises(file: GivenFile) -> bool:
    """Whether it is text, but not of a structured kind that would be misread."""
    return not (is_binary(file) or file.json_paths)


def read_plain_text(file: GivenFile) -> Iterator[Bookmark]:
    """Read every http(s) URL in order; the text of a Markdown link is its title.

    A line that begins with ``#`` is a comment, unless a Markdown link stands in it. A line
    that is one word with a dot in it, such as ``example.com/page``, was meant as a URL: it is
    taken as it is where a person pastes it, and if it is none, they should hear that.
    """
    for line, whole in _lines(file.chunks()):
        if not line or (line.startswith(_COMMENT) and "](" not in line):
            continue
        if whole and _ONLY_URL.fullmatch(line):
            # Nothing but URLs: their last character is theirs, even if it is a full stop.
            for url in _NEXT_URL.split(line):
                yield Bookmark(Annotation(url.rstrip(",;")[:MAX_URL]))
        elif whole and _ONE_WORD.fullmatch(line) and _DOT_INSIDE.search(line):
            yield Bookmark(Annotation(with_scheme(line[:MAX_URL])))
        else:
            yield from links_in_text(line)


def _lines(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Split text into stripped lines, and say of each whether it is a whole one.

    A line that is too long comes in parts, cut where a word ends if there is a word.
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
    """Find where to cut a line that is too long: at the last space, else the last comma."""
    space = max(line.rfind(" ", 0, _MAX_LINE), line.rfind("\t", 0, _MAX_LINE))
    cut = space if space > 0 else line.rfind(",", 0, _MAX_LINE)
    return cut if cut > 0 else _MAX_LINE


def links_in_text(line: str) -> Iterator[Bookmark]:
    """Read the URLs inside other text, without the punctuation that belongs to the sentence."""
    for found in _URL.finditer(line):
        first, *others = _NEXT_URL.split(found[0])
        title = _markdown_title(line, found.start())
        yield Bookmark(Annotation(_trim(first), title=title))
        for url in others:
            yield Bookmark(Annotation(_trim(url)))


def _trim(url: str) -> str:
    return url.rstrip(_TRAILING)[:MAX_URL]


def _markdown_title(line: str, start: int) -> str:
    """Find the text of a Markdown link, ``[text](url``, whose URL starts there."""
    before = line[max(0, start - len("](<")) : start]
    if not before.endswith(_MARKDOWN_TARGETS):
        return ""
    close = line.rindex("]", 0, start)
    earliest = max(0, close - _MAX_TITLE)
    opening = close
    for _ in range(_MOST_BRACKETS):
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
    marked("any text with links in it: a list of addresses, notes, a mail, Markdown"),
)
