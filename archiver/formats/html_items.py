"""Parser of HTML lists of links, which are split into items.

Titles in these files are often not escaped. An HTML parser given a whole file with ``About <script>
elements`` in a title parses all following bookmarks as a script. So the file is split before each
tag that begins an item, and no item can affect the next item.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag
from bs4.element import AttributeDict, NavigableString

MAX_PIECE = 1 << 21
"""Maximum characters of one piece; an icon in a ``data:`` URL may have a megabyte."""
_BATCH_PIECES = 1_000
_BATCH_CHARACTERS = 1 << 19
_MAX_HIDDEN = 8 << 20
"""Maximum characters of a comment or script, counted from the first link or list tag in it."""
_MAX_PIECES = 20_000

_CUT = re.compile(r"<(/?dl|/?dd|dt|h[1-3]|hr|a)(?=[\s/>])", re.IGNORECASE | re.ASCII)
_MAX_CUT = len("</dl>")
_HREF = re.compile(r"\bhref\s{0,20}=", re.IGNORECASE)
_WITH_TEXT = frozenset({"a", "dd", "h1", "h3"})
_TEXT_ENDS = {
    "a": re.compile(r"</a\b", re.IGNORECASE),
    **dict.fromkeys(("h1", "h2", "h3"), re.compile(r"</h[1-3]\b", re.IGNORECASE)),
}
_HIDDEN_STARTS = re.compile(r"<(!--|script\b|style\b)", re.IGNORECASE | re.ASCII)
_HIDDEN_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile(r"</script\b", re.IGNORECASE),
    "style": re.compile(r"</style\b", re.IGNORECASE),
}

_MARKUP = re.compile(
    r"<(?:(!--)|(/?)([a-z][^\s/>]*+)([^<>]*+)(>?)|(?=[!?/]))", re.IGNORECASE | re.ASCII
)
_PAGE_TAG = re.compile(r"</?(?:body|html)\b[^<>]*+>", re.IGNORECASE | re.ASCII)
_NAMES = re.compile(r"<(/?[a-z][^\s/>]*+)", re.ASCII)
_KNOWN = frozenset(
    "a abbr acronym b bdi bdo big blockquote br center cite code dd del dfn div em font h1 h2 h3 "
    "h4 h5 h6 hr i img ins kbd li mark nobr ol p pre q s samp small span strike strong sub sup tt "
    "u ul var wbr".split()
)
"""Elements that are markup in a title or note; other tags are text unless they have an end tag."""
_ITEM = "archiver-item"
_BARE_AMPERSAND = re.compile(
    r"&(?!#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[a-zA-Z][a-zA-Z0-9]{1,31};)"
)
_BLOCKS = frozenset("p div li tr h1 h2 h3 blockquote en-todo".split())


class Item(NamedTuple):
    """Tag that begins or ends an item.

    Attributes:
        name: ``a``, ``dd``, ``dl``, ``/dl``, ``h3`` and so on, in lower case; empty for the text
            before the first tag.
        element: the parsed element of a link, note or heading; None for other tags.
    """

    name: str
    element: Tag | None


class _Piece(NamedTuple):
    name: str
    html: str


def html_items(chunks: Iterable[str]) -> Iterator[list[Item]]:
    """Yield the links, notes, headings and list tags of an HTML file in order, in batches."""
    pieces = _joined_notes(_skip_hidden(_pieces(chunks)))
    while batch := _batch(pieces):
        elements = iter(_parsed([piece for piece in batch if piece.name in _WITH_TEXT]))
        yield [
            Item(piece.name, next(elements) if piece.name in _WITH_TEXT else None)
            for piece in batch
        ]


def element_text(element: Tag) -> str:
    """Return the text of an element, with line breaks around ``<p>``, at ``<br>`` and similar."""
    texts: list[str] = []
    for each in element.descendants:
        before = each.previous_sibling
        if isinstance(before, Tag) and before.name in _BLOCKS:
            texts.append("\n")
        if isinstance(each, Tag):
            if each.name == "br" or each.name in _BLOCKS:
                texts.append("\n")
        elif type(each) is NavigableString:  # not a comment, script or style
            texts.append(each)
    return "".join(texts)


def parse_fragment(html: str) -> BeautifulSoup:
    """Parse a fragment so that an unclosed element can't hide the text after it."""
    return _soup(f"<{_ITEM}>{_escape_text(html)}")


def plain_text(html: str) -> str:
    """Return the plain text of a title or note, which may have markup and character references."""
    return element_text(parse_fragment(html)) if "<" in html or "&" in html else html


def _pieces(chunks: Iterable[str]) -> Iterator[_Piece]:
    """Split a text before each tag that begins or ends an item."""
    name, parts, size, text_after = "", list[str](), 0, ""
    for chunk in chain(chunks, [" " * _MAX_CUT]):
        text = text_after + chunk
        last = text.rfind("<", max(0, len(text) - _MAX_CUT))
        text, text_after = (text[:last], text[last:]) if last >= 0 else (text, "")
        pos = 0
        for cut in _CUT.finditer(text):
            parts.append(text[pos : cut.start()][: MAX_PIECE - size])
            yield _Piece(name, "".join(parts))
            name, parts, size, pos = cut[1].lower(), [], 0, cut.start()
        if size < MAX_PIECE:
            parts.append(text[pos:][: MAX_PIECE - size])
            size += len(parts[-1])
    yield _Piece(name, "".join(parts))


def _skip_hidden(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Skip comments, scripts and styles that begin outside of titles and notes.

    If a comment is not closed, this comment and all later comments are text. Scripts and styles are
    treated in the same way.
    """
    replayed: deque[_Piece] = deque()
    unclosed: set[str] = set()

    while piece := replayed.popleft() if replayed else next(pieces, None):
        opened = _find_hidden(piece, unclosed)
        if opened is None:
            yield piece
            continue
        kind = opened[1].lower()
        skipped, size = list[_Piece](), 0
        end: re.Match[str] | None = None
        while not end and size < _MAX_HIDDEN and len(skipped) < _MAX_PIECES:
            skip = replayed.popleft() if replayed else next(pieces, None)
            if skip is None:
                break
            skipped.append(skip)
            if skip.name == "dt" and kind != "!--":
                break
            size += len(skip.html)
            end = _HIDDEN_ENDS[kind].search(skip.html)
        if end is None:
            unclosed.add(kind)
            replayed.extendleft(reversed(skipped))
            replayed.appendleft(piece)
            continue
        last = skipped.pop().html
        yield _Piece(piece.name, piece.html[: opened.start()])
        replayed.appendleft(_Piece("", last[end.end() :]))


def _find_hidden(piece: _Piece, unclosed: set[str]) -> re.Match[str] | None:
    """Find a comment, script or style that begins outside of a title or note and spans pieces.

    ``unclosed`` are the kinds that are treated as text, because one of them has no end.
    """
    if piece.name == "dd" or not _HIDDEN_STARTS.search(piece.html):
        return None
    pos = 0
    if text_ends := _TEXT_ENDS.get(piece.name):
        end = text_ends.search(piece.html)
        pos = end.end() if end else len(piece.html)
    while match := _HIDDEN_STARTS.search(piece.html, pos):
        if match[1].lower() in unclosed:
            pos = match.end()
        elif end := _HIDDEN_ENDS[match[1].lower()].search(piece.html, match.start() + 2):
            pos = end.end()
        else:
            return match
    return None


def _joined_notes(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Join pieces of a title or note that were split before an ``<a>`` tag.

    Such a tag is part of the text if it has no URL. In the note of a ``<DT>`` item that has a link,
    all ``<a>`` tags are part of the text.
    """
    name, parts, size = "", list[str](), 0
    is_item = has_link = False
    for piece in pieces:
        in_note = name == "dd" and is_item and has_link
        if not piece.name or (piece.name == "a" and (in_note or not _HREF.search(piece.html))):
            if size < MAX_PIECE:
                parts.append(piece.html)
                size += len(piece.html)
            continue
        yield _Piece(name, "".join(parts))
        if piece.name == "dt":
            is_item, has_link = True, False
        elif piece.name == "a":
            has_link = True
        elif piece.name != "dd":
            is_item = has_link = False
        name, parts, size = piece.name, [piece.html], len(piece.html)
    yield _Piece(name, "".join(parts))


def _batch(pieces: Iterator[_Piece]) -> list[_Piece]:
    batch, size = [], 0
    for piece in islice(pieces, _BATCH_PIECES):
        batch.append(piece)
        size += len(piece.html)
        if size > _BATCH_CHARACTERS:
            break
    return batch


def _parsed(pieces: list[_Piece]) -> list[Tag]:
    """Parse pieces together for speed; if one of them affects another, parse both halves."""
    texts = [_escape_text(_cut_at_end_tag(piece), piece.name) for piece in pieces]
    names = [_ITEM if piece.name == "dd" else piece.name for piece in pieces]
    soup = _soup(
        "".join(
            f"<{name}>{text}</{name}>" if name == _ITEM else f"{text}</{name}>"
            for name, text in zip(names, texts, strict=True)
        )
    )
    elements = [each for each in soup.body.contents if isinstance(each, Tag)] if soup.body else []
    if [each.name for each in elements] == names:
        return elements
    if len(pieces) == 1:
        return [_parsed_alone(pieces[0], texts[0])]
    middle = len(pieces) // 2
    return _parsed(pieces[:middle]) + _parsed(pieces[middle:])


def _parsed_alone(piece: _Piece, text: str) -> Tag:
    """Parse one piece; a tag with an unclosed quote ends at the first ``>``."""
    tag, _, content = text.partition(">")
    for repaired in (text, f'{tag}">{content}', f"{tag}'>{content}"):
        soup = _soup(f"<{_ITEM}>{repaired}")
        item = soup.find(_ITEM)
        first = item.contents[0] if item and item.contents else None
        if item and isinstance(first, Tag) and first.name == piece.name:
            return item if piece.name == "dd" else first
    return Tag(name=piece.name)


def _soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(
        html, "lxml", multi_valued_attributes=None, attribute_dict_class=AttributeDict
    )


def _cut_at_end_tag(piece: _Piece) -> str:
    end = _TEXT_ENDS.get(piece.name)
    match = end.search(piece.html) if end else None
    return piece.html[: match.start()] if match else piece.html


def _escape_text(html: str, element: str = "") -> str:
    """Escape each ``<`` that is not markup and each ``&`` that is not a reference.

    Args:
        html: a fragment.
        element: the name of the element that the fragment begins with.
    """
    if "&" in html:
        html = _BARE_AMPERSAND.sub("&amp;", html)
    if html.count("<") < 2 and element:
        return html
    html = _PAGE_TAG.sub("", html)
    names = frozenset(_NAMES.findall(html.lower()))
    last_comment = html.rfind("-->")

    def is_markup(match: re.Match[str]) -> bool:
        comment, slash, name, name_rest, closed = match.groups()
        if comment or not name:
            return bool(comment) and last_comment >= match.end()
        if not closed or (match.start() == 0 and element):
            return match.start() == 0 and bool(element)
        name = name.lower()
        if name in _KNOWN:
            return not (element == "a" and name == "a")
        has_other_tag = (name if slash else f"/{name}") in names
        return name != _ITEM and (has_other_tag or name_rest.endswith("/"))

    return _MARKUP.sub(
        lambda markup: markup[0] if is_markup(markup) else f"&lt;{markup[0][1:]}", html
    )
