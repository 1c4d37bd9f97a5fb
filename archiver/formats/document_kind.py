"""What a document says that it is: XML by its root element, a web archive by its MIME header.

Their contents may be pages in CDATA sections, escaped or as they are, so nothing is searched for:
only what must stand at the start is read.
"""

import re
from dataclasses import dataclass

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
