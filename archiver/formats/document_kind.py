"""What a document says that it is: XML by its root element, a web archive by its MIME header.

Their contents may be pages in CDATA sections, escaped or as they are, so nothing is searched for:
only what must stand at the start is read.
"""

import re

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
_RSS_NAMESPACES = ("http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/")
_KINDS = {
    "rss": "an RSS file",
    "feed": "an Atom file",
    "opml": "an OPML file",
    "xbel": "an XBEL file",
    "plist": "a property list (plist) file",
    "en-export": "an Evernote (ENEX) file",
}
_HTML = frozenset(
    "a base blockquote body br center dd div dl dt font h1 h2 h3 h4 h5 h6 head hr html li link "
    "meta ol p script span style table title ul".split()
)
_MIME_HEADER = re.compile(r"(?:[!-9;-~]++:[^\r\n]*+(?:\r?\n[\t ][^\r\n]*+)*+\r?\n)++")
_RELATED = re.compile(r"^content-type:\s*+multipart/related\b", re.IGNORECASE | re.MULTILINE)
XML = "an XML file"
MHTML = "an MHTML file"


def kind_of_document(head: str) -> str:
    """What a text is, such as ``an OPML file``; empty for HTML, and for what is neither."""
    return _kind_of_xml(head) or _kind_of_mime(head)


def _kind_of_xml(head: str) -> str:
    is_declared = _DECLARATION.match(head) is not None
    before = _PROLOGUE.match(head)
    end = before.end() if before else 0
    if _NETSCAPE.search(head, 0, end):
        return ""
    root = _ROOT.match(head, end)
    if root is None:
        return XML if is_declared else ""
    name = root[1].lower()
    if name == "rdf":
        return _KINDS["rss"] if any(each in root[2] for each in _RSS_NAMESPACES) else "an RDF file"
    if name in _KINDS:
        return _KINDS[name]
    return XML if is_declared and name not in _HTML else ""


def _kind_of_mime(head: str) -> str:
    """A saved page with its parts (RFC 2557); a letter that is no page is text."""
    header = _MIME_HEADER.match(head.lstrip())
    return MHTML if header and _RELATED.search(header[0]) else ""
