"""Structure of a file as its first 64 KiB show it: XML root, JSON paths, table header."""

import csv
import re
from dataclasses import dataclass

from archiver.formats.guessing import URL_COLUMNS
from archiver.formats.rows import plain

# What a document says that it is: XML by its root element, a web archive by its MIME header.
#
# Their contents may be pages in CDATA sections, escaped or as they are, so nothing is searched for:
# only what must stand at the start is read.

_PROLOGUE = re.compile(
    r"""(?: [\s\ufeff]++
          | <\?(?> [^?]++ | \?(?!>) )*+ \?>
          | <!-- (?> [^-]++ | -(?!->) )*+ -->
          | <!doctype (?> [^\[\]<>"']++ | "[^"]*+" | '[^']*+'
                        | \[ (?> [^\]<"']++ | "[^"]*+" | '[^']*+' | <!--(?> [^-]++ | -(?!->) )*+-->
                               | <(?!!--) )*+ \] )*+ > )*+""",
    re.VERBOSE | re.IGNORECASE,
)
"""What may stand before the root element (XML §2.8), as tolerant as readers of feeds are."""
_DECLARATION = re.compile(r"[\s\ufeff]*+<\?xml[\s?]", re.IGNORECASE)
_NETSCAPE = re.compile(r"<!doctype\s++netscape-bookmark", re.IGNORECASE)
_ROOT = re.compile(r"<(?:[\w.-]++:)?+([\w.-]++)([^<>]*+)")
_KNOWN_ROOTS = frozenset("rss feed opml xbel plist en-export rdf posts bookmarks_export".split())
_HTML = frozenset(
    "a base blockquote body br center dd div dl dt font h1 h2 h3 h4 h5 h6 head hr html li link "
    "meta ol p script span style table title ul".split()
)
_MIME_HEADER = re.compile(r"(?:[!-9;-~]++:[^\r\n]*+(?:\r?\n[\t ][^\r\n]*+)*+\r?\n)++")
_RELATED = re.compile(r"^content-type:\s*+multipart/related\b", re.IGNORECASE | re.MULTILINE)
_ALONE = re.compile(r"^content-type:\s*+text/html\b", re.IGNORECASE | re.MULTILINE)
_PLACE = re.compile(
    r"^(?:[\w-]{0,20}-)?content-location:\s*+https?://", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class XmlRoot:
    """The root element of a document.

    Attributes:
        name: lower case, without a prefix.
        attributes: what stands behind the name, as it does.
    """

    name: str
    attributes: str


def xml_root(head: str) -> XmlRoot | None:
    """The root of a text that is XML; None for HTML, bookmark files, and what is neither."""
    is_declared = _DECLARATION.match(head) is not None
    end = end_of_prologue(head)
    if _NETSCAPE.search(head, 0, end):
        return None
    root = _ROOT.match(head, end)
    if root is None:
        return XmlRoot("", "") if is_declared else None
    name = root[1].lower()
    if name in _KNOWN_ROOTS or (is_declared and name not in _HTML):
        return XmlRoot(name, root[2])
    return None


def end_of_prologue(head: str) -> int:
    """Where the root element begins, or would."""
    before = _PROLOGUE.match(head)
    return before.end() if before else 0


def is_mhtml(head: str) -> bool:
    """Whether it is a saved page (RFC 2557); a letter that is no page is text.

    It has its parts, or none and says where it was.
    """
    header = _MIME_HEADER.match(head.lstrip())
    if header is None:
        return False
    is_page_alone = _ALONE.search(header[0]) and _PLACE.search(header[0])
    return _RELATED.search(header[0]) is not None or is_page_alone is not None


# What is in JSON, and where, told from its first bytes: nothing is parsed that may be cut.

_BEGINS = re.compile(
    r"""\s*+(?: \{ \s*+ (?: \} | "[^"]*+" \s*+ : )
          | \[ \s*+ (?: \{ | \] \s*+ \Z | \[ \s*+ ["{\[]
                      | "[^"]*+" \s*+ (?: , | \] \s*+ \Z ) ) )""",
    re.VERBOSE,
)
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|([\[\]{}])', re.DOTALL)
_MOST_NAMES = 5000
_DEEPEST = 100
_MOST_DEPTH = 8
TOP = "."


def json_paths(head: str) -> frozenset[str]:
    """The names that the head of a JSON text holds, by their place; empty if it is none.

    ``[]`` stands for what an array holds: ``[].href``, ``bookmarks[].content.url``. The top itself
    is ``.``, so that it is never empty for JSON, and ``[]`` or ``{}`` says what that is.

    >>> sorted(json_paths('{"a": [{"b": 1}'))
    ['.', 'a', 'a[].b', '{}']
    """
    begin = _BEGINS.match(head)
    if begin is None:
        return frozenset()
    found = {TOP, "[]" if head.lstrip().startswith("[") else "{}"}
    stack: list[str] = []
    here = slot = ""
    for token in _TOKEN.finditer(head):
        bracket = token[3]
        if bracket is None:
            if token[2] and len(stack) <= _MOST_DEPTH:
                slot = f"{here}.{token[1]}".removeprefix(".")
                found.add(slot)
            continue
        if bracket in "{[":
            stack.append(here)
            here = f"{slot}[]" if bracket == "[" else slot
        else:
            here = stack.pop() if stack else ""
        slot = here
        if len(found) > _MOST_NAMES or len(stack) > _DEEPEST:
            break
    return frozenset(found)


# The header of a table (CSV, TSV): what it is separated by, and what its columns are called.

DELIMITERS = (",", ";", "\t", "|")
_HINT = "sep="
_SUFFIXES = ("csv", "tsv", "tab")


@dataclass(frozen=True, slots=True)
class TableHead:
    """What a table looks like.

    Attributes:
        delimiter: between its cells.
        header: the cells of its first line, as it spells them; empty if that is a row already.
        columns: the same, as ``rows.plain`` spells them.
    """

    delimiter: str
    header: tuple[str, ...]
    columns: frozenset[str]


def table_head(head: str, suffix: str) -> TableHead | None:
    """What a text looks like as a table; None if it seems to be none."""
    text = head.lstrip("\ufeff \r\n")
    if text[: len(_HINT)].lower() == _HINT:
        text = text.partition("\n")[2]
    found = [(delimiter, _first_cells(text, delimiter)) for delimiter in DELIMITERS]
    for delimiter, cells in found:
        columns = frozenset(map(plain, cells))
        if len(cells) > 1 and columns & URL_COLUMNS and not _has_address(cells):
            return TableHead(delimiter, tuple(cells), columns)
    if suffix not in _SUFFIXES:
        return None
    delimiter, cells = max(found, key=lambda each: len(each[1]))
    if len(cells) < 2:
        return None
    if _has_address(cells):
        return TableHead(delimiter, (), frozenset())
    return TableHead(delimiter, tuple(cells), frozenset(map(plain, cells)))


def _first_cells(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(text[: 1 << 14].splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return []


def _has_address(cells: list[str]) -> bool:
    return any("://" in cell for cell in cells)
