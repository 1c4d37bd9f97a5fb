"""A tokenizer for the HTML of bookmark files: tags and the text between, nothing else.

Not a parser of pages: no tree, no error recovery of the standard's, but constant memory, one pass
and linear time on any input. Comments, scripts and styles are left out. Every token is bounded:
a tag or comment that is not closed can't make the reader hold more than ``MAX_TAG`` characters.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import NamedTuple

from archiver.formats.growing_text import GrowingText

MAX_TAG = 1 << 20
"""Characters of one tag; room for an icon in a ``data:`` URL, which producers write inside."""
_MAX_TEXT = 1 << 12
"""Characters of text given at once; longer runs come in several tokens."""
_MAX_RECOVERED = 1 << 12
"""A tag longer than this is not looked into for a quote that was forgotten."""

# All quantifiers are possessive and each branch begins with another character, so a match costs
# as much as it is long. A quoted value that is not closed runs to the end of the buffer, where no
# ">" follows: the match fails and more is read.
_TAG = re.compile(
    r"""<(/?[a-zA-Z][^\s/>]*+)((?>(?:[^>=]++|=\s*+(?>(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?))*))>"""
)
_LENIENT_TAG = re.compile(r"<(/?[a-zA-Z][^\s/>]*+)([^>]*+)>")
_ATTRIBUTE = re.compile(
    r"""([^\s=/>"']++)(?>(?:\s*+=\s*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\s>]++)))?)"""
)
_SWALLOWED = re.compile(r"<(?:/?a|/?dl|dt|dd|h3)\b", re.IGNORECASE | re.ASCII)
_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,7}+;?+|#[xX][0-9a-fA-F]{1,6}+;?+|[a-zA-Z][a-zA-Z0-9]{1,31}+;)"
)
# A bookmark as nearly all are written: nothing in it that could be read in two ways.
_LINK = re.compile(
    r"""<[dD][tT]><[aA]((?:\s++[^\s=<>"'/]++="[^"<>]*+")++)>([^<]{0,4000}+)</[aA]>\s*+"""
)
_RAW_END = {
    name: re.compile(f"(?=</{name})", re.IGNORECASE | re.ASCII) for name in ("script", "style")
}
_COMMENT_END = re.compile("-->")
_TAG_END = re.compile(">")
_LONGEST_END = len("</script")


class Tag(NamedTuple):
    """One tag.

    Attributes:
        name: lower case, with a leading ``/`` if it is an end tag.
        attributes: what stands between the name and the ``>``; see ``attributes_of``.
    """

    name: str
    attributes: str


class Link(NamedTuple):
    """``<dt>``, ``<a>``, the text in it, ``</a>``, and white space behind, all at once.

    Attributes:
        attributes: of the ``<a>``, as a tag has them.
        text: references left in.
    """

    attributes: str
    text: str


def tokenize(chunks: Iterable[str]) -> Iterator[Tag | str]:
    """Split text into tags and (a string each, references left in) the text between them."""
    return _Tokenizer(iter(chunks)).tokens()


def tokenize_list(chunks: Iterable[str]) -> Iterator[Tag | str | Link]:
    """The same; what is a plain item of a list comes as one token in the place of its five."""
    return _Tokenizer(iter(chunks)).tokens_and_links()


def attributes_of(tag: Tag | Link) -> dict[str, str]:
    """Read the attributes of a tag: names lower case, references resolved, the first one wins."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag.attributes):
        found.setdefault(name.lower(), resolve(double or single or bare))
    return found


def resolve(text: str) -> str:
    """Resolve character references.

    Named ones only with their semicolon: ``?a=1&copy=2`` in an attribute is no copyright sign
    (HTML, §13.2.5.73), and exporters that forget to escape are many.
    """
    if "&" not in text:
        return text
    return _REFERENCE.sub(lambda reference: unescape(reference[0]), text)


class _Tokenizer(GrowingText):
    """The state of one pass."""

    def __init__(self, chunks: Iterator[str]) -> None:
        super().__init__(chunks)
        self._lenient_until = 0

    def tokens_and_links(self) -> Iterator[Tag | str | Link]:
        # What ``tokens`` gives is behind ``_at`` by then, so what stands there may be taken away.
        others = self.tokens()
        while True:
            while link := _LINK.match(self._buffer, self._at):
                self._at = link.end()
                yield Link(link[1], link[2])
            token = next(others, None)
            if token is None:
                return
            yield token

    def tokens(self) -> Iterator[Tag | str]:
        while True:
            start = self._buffer.find("<", self._at)
            if start < 0:
                yield from self._text(len(self._buffer))
                if not self._more():
                    return
            elif start > self._at:
                yield from self._text(start)  # whoever asked may have taken more away since
            elif self._buffer.startswith("<!", start):
                self._skip_declaration()
            elif token := self._tag():
                if isinstance(token, Tag) and token.name in _RAW_END:
                    self._skip_to(_RAW_END[token.name])
                yield token

    def _text(self, end: int) -> Iterator[str]:
        while self._at < end:
            start, self._at = self._at, min(end, self._at + _MAX_TEXT)
            yield self._buffer[start : self._at]

    def _tag(self) -> Tag | str:
        """Read the tag at the position, or the "<" that begins none; empty for half a tag."""
        while True:
            lenient = self._at < self._lenient_until
            match = (_LENIENT_TAG if lenient else _TAG).match(self._buffer, self._at)
            if match:
                return self._accept(match)
            if not self._could_be_tag():
                self._at += 1
                return "<"
            if len(self._buffer) - self._at < MAX_TAG and self._more():
                continue
            if not lenient:
                # It is not closed, or one of its quotes is not: from here to where the buffer
                # ends a tag ends at the first ">", so that nothing is looked at again and again.
                self._lenient_until = len(self._buffer)
                continue
            self._skip_to(_TAG_END)
            return ""

    def _accept(self, match: re.Match[str]) -> Tag:
        name, attributes = match[1], match[2]
        self._at = match.end()
        if ">" in attributes and len(attributes) < _MAX_RECOVERED:
            # A ">" inside can only be in a quoted value: a title, or a quote somebody forgot,
            # which would swallow the next bookmarks.
            swallowed = _SWALLOWED.search(attributes, attributes.index(">"))
            if swallowed:
                attributes = attributes[: attributes.index(">")]
                self._at = match.start(2) + len(attributes) + 1
        return Tag(name.lower(), attributes)

    def _could_be_tag(self) -> bool:
        name = self._buffer[self._at + 1 : self._at + 3].removeprefix("/")[:1]
        return name.isascii() and name.isalpha() if name else not self._ended

    def _skip_declaration(self) -> None:
        """Skip a comment, a doctype or a CDATA mark."""
        while len(self._buffer) - self._at < len("<!--") and self._more():
            pass
        if self._buffer.startswith("<!--", self._at):
            self._at += len("<!")  # "<!-->" is a whole comment (HTML, §13.2.5.43)
            self._skip_to(_COMMENT_END)
        else:
            self._skip_to(_TAG_END)

    def _skip_to(self, end: re.Pattern[str]) -> None:
        """Move behind the next match; to the end of the text if there is none."""
        while not (match := end.search(self._buffer, self._at)):
            self._at = max(self._at, len(self._buffer) - _LONGEST_END)
            if not self._more():
                self._at = len(self._buffer)
                return
        self._at = match.end()

    def _more(self) -> bool:
        self._lenient_until -= self._at
        return super()._more()
