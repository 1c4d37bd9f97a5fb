"""Syntax of tags, raw text and character references.

A document in an ASCII-transparent encoding is rewritten as if each byte were a character (latin-1),
so that bytes outside of the rewritten parts stay the same, even if they are invalid. Attribute
values are decoded only if the rewriter needs their text.
"""

import re
from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from html import unescape
from html.entities import html5
from typing import Final

from archiver.http.text_decoders import Encoding, decode_part, encode_part
from archiver.pages.references import EVERYWHERE, HTML, MATHML, PAINT, ROOTS, SVG


class Treatment(StrEnum):
    """Ways to handle attributes that are not references but have an effect on replay.

    - ``INERT``: the attribute is disabled.
    - ``CROSSORIGIN``: it is disabled, except on a link to a font.
    - ``TARGET``: it becomes ``_self`` if the link would open outside of its frame.
    - ``BASE``: the base URL is read, then the attribute is disabled.
    - ``EQUIVALENT``: an ``http-equiv`` is disabled unless it is harmless.
    - ``REFERRER``: the name of a ``meta`` element is disabled if it is ``referrer``.
    """

    INERT = "inert"
    CROSSORIGIN = "crossorigin"
    TARGET = "target"
    BASE = "base"
    EQUIVALENT = "equivalent"
    REFERRER = "referrer"


Treatments = Mapping[str, Treatment]

PLAYERS: Final = frozenset({"audio", "video"})
_CROSSORIGIN: Final[Treatments] = {"crossorigin": Treatment.CROSSORIGIN}
_TARGET: Final[Treatments] = {"target": Treatment.TARGET}
_SUBMIT: Final[Treatments] = {"formtarget": Treatment.TARGET}
_FRAME: Final[Treatments] = {"csp": Treatment.INERT}

TREATMENTS: Final[Mapping[str, Treatments]] = {
    **dict.fromkeys(("image", "img", "script", "source", "track"), _CROSSORIGIN),
    **dict.fromkeys(("a", "area", "form"), _TARGET),
    **dict.fromkeys(("button", "input"), _SUBMIT),
    **dict.fromkeys(("frame", "iframe"), _FRAME),
    "base": {"href": Treatment.BASE, **_TARGET},
    "link": {**_CROSSORIGIN, **_TARGET},
    "meta": {"http-equiv": Treatment.EQUIVALENT, "name": Treatment.REFERRER},
}
"""Treatments by lower-case element name, in HTML and XML."""

GLOBAL_TREATMENTS: Final[Treatments] = {
    **dict.fromkeys(("nonce", "integrity", "referrerpolicy", "autofocus"), Treatment.INERT),
}

ALWAYS_EXAMINED: Final = frozenset({"meta", "param"})
"""HTML elements that are examined regardless of their attributes.

Their attributes are not in ``EXAMINED_ATTRIBUTES``, because many other elements have attributes of
the same names.
"""

EXAMINED_ATTRIBUTES: Final = frozenset(EVERYWHERE).union(
    GLOBAL_TREATMENTS,
    *(
        rules
        for table in (HTML, TREATMENTS)
        for name, rules in table.items()
        if name not in ALWAYS_EXAMINED
    ),
)
"""Attributes that cause HTML elements other than ``ALWAYS_EXAMINED`` to be examined."""

EVENT_HANDLER: Final = re.compile("on[a-z]{3,}+", re.ASCII)
"""Matches the lower-case names of event handlers, and only few other names."""

_ANIMATED = "attributename"
EXAMINED_IN_XML: Final = (EXAMINED_ATTRIBUTES | {_ANIMATED}).union(MATHML, *SVG.values()) - {*PAINT}
"""Attributes that cause an element of SVG, MathML or XML to be examined."""

_REFERENCE = re.compile(r"&(?:#[0-9]++;?|#[xX][0-9a-fA-F]++;?|([a-zA-Z][a-zA-Z0-9]*+)(;|=)?)")

_MAX_DIGITS = 7


def decode_references(value: str) -> str:
    """Decode character references in an attribute.

    A reference without a semicolon that is followed by a letter, a digit or ``=`` is not decoded in
    an attribute: ``?a=1&copy=2`` has no copyright sign.
    """
    return _REFERENCE.sub(_decode_reference, value) if "&" in value else value


def encode_references(value: str, quote: str, *, xml: bool = False) -> str:
    """Encode a value for an attribute with the given quotes; ``<`` must be encoded in XML only."""
    encoded = value.replace("&", "&amp;") if "&" in value else value
    if quote in encoded:
        encoded = encoded.replace(quote, "&quot;" if quote == '"' else "&#39;")
    return encoded.replace("<", "&lt;") if xml else encoded


def _decode_reference(reference: re.Match[str]) -> str:
    name, end = reference[1], reference[2]
    if name is None:
        return _character(reference[0][2:].rstrip(";"))
    if end == ";":
        return html5.get(f"{name};", reference[0])
    return reference[0] if end == "=" else html5.get(name, reference[0])


def _character(number: str) -> str:
    """Return the character of a numeric reference, which may have any number of leading zeros."""
    is_hex = number[0] in "xX"
    digits = number[is_hex:].lstrip("0")
    if len(digits) > _MAX_DIGITS:
        return "\ufffd"
    return unescape(f"&#{'x' * is_hex}{digits or '0'};")


RAW_TEXT: Final = frozenset({"textarea", "title", "xmp", "iframe", "noembed", "noframes"})
"""Raw text elements besides ``style``, ``script`` and ``plaintext``.

``noscript`` is not among them, because it contains markup if scripting is disabled.
"""

_ENDS = {
    name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
    for name in (*RAW_TEXT, "style")
}
_SCRIPT = re.compile(r"<!--|-->|</?script(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
_MAX_END_TAG = len("</noframes")


def text_end(name: str, text: str, pos: int) -> int:
    """Return the start of the end tag of a raw text element, or -1."""
    match = _ENDS[name].search(text, pos)
    return match.start() if match else -1


def waiting_from(text: str, pos: int, marks: str = "<") -> int:
    """Return the position from which text must wait for more input.

    An incomplete end tag, or another mark of a script, may start there. The result is the end of
    the text if nothing has to wait.

    Args:
        text: the text.
        pos: the position from which it is searched.
        marks: characters with which an end tag or mark can start.
    """
    start = max(pos, len(text) - _MAX_END_TAG)
    places = [place for mark in marks if (place := text.find(mark, start)) >= 0]
    return min(places, default=len(text))


class _ScriptState(Enum):
    DATA = auto()
    ESCAPED = auto()
    DOUBLE_ESCAPED = auto()


class ScriptEnd:
    """Search for the end tag of a script, which ``<!--`` and ``<script`` in the script can hide."""

    def __init__(self) -> None:
        self._state = _ScriptState.DATA

    def find(self, text: str, pos: int) -> tuple[int, bool]:
        """Continue the search from `pos`.

        Returns:
            The end of the script's text, and whether its end tag starts there. If not, the text
                after that position must be passed again, with more text.
        """
        while match := _SCRIPT.search(text, pos):
            mark = match[0].lower()
            if mark == "</script" and self._state is not _ScriptState.DOUBLE_ESCAPED:
                return match.start(), True
            self._state = self._after(mark)
            pos = match.start() + 2 if mark == "<!--" else match.end()
        return waiting_from(text, pos, "<-"), False

    def _after(self, mark: str) -> _ScriptState:
        if mark == "-->":
            return _ScriptState.DATA
        if mark == "<!--":
            return _ScriptState.ESCAPED if self._state is _ScriptState.DATA else self._state
        if mark == "<script":
            return (
                _ScriptState.DATA
                if self._state is _ScriptState.DATA
                else _ScriptState.DOUBLE_ESCAPED
            )
        return _ScriptState.ESCAPED


_SPACE = r"\t\n\f\r "
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|[^{_SPACE}>"'][^{_SPACE}>]*+|(?=>))"""
_ATTRIBUTE = (
    rf"[{_SPACE}/]*+[^{_SPACE}/>][^{_SPACE}/>=]*+[{_SPACE}]*+(?:=[{_SPACE}]*+{_VALUE}|(?!=))"
)

TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)(?>(?:{_ATTRIBUTE})*)[{_SPACE}/]*+>")
"""Matches a complete tag: groups are the slash of an end tag, and the name."""

ATTRIBUTE: Final = re.compile(
    rf"([^{_SPACE}/>][^{_SPACE}/>=]*+)"
    rf"(?>(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^{_SPACE}>\"'][^{_SPACE}>]*+)|(?=>)))?)"
)
"""Matches one attribute inside a complete tag: name; double-quoted, single-quoted, unquoted value.
"""

_ELEMENT_NAME = r"[a-z][a-z0-9-]*+"
_SPECIAL = "|".join(
    sorted(
        {*RAW_TEXT, *PLAYERS, *ROOTS, *ALWAYS_EXAMINED}
        | {"script", "style", "noscript", "plaintext"},
    )
)
_EXAMINED = "|".join([*sorted(EXAMINED_ATTRIBUTES), EVENT_HANDLER.pattern])
PLAIN: Final = re.compile(
    rf"""(?>(?: [^<]++
    | </[a-zA-Z][^{_SPACE}/>]*+>
    | <(?!(?:{_SPECIAL})[{_SPACE}/>]){_ELEMENT_NAME}
      (?>(?:[{_SPACE}]++(?!(?:{_EXAMINED})[{_SPACE}=/>])[a-z_:@.-][a-z0-9_:@.-]*+
        (?:="[^"]*+"|='[^']*+'|=[^{_SPACE}>"'][^{_SPACE}>]*+|(?!=))
      )*)[{_SPACE}]*+/?>
    | <(?=[^a-zA-Z/!?])
    )*)""".replace(_SPACE, _SPACE.replace(" ", r"\x20")),
    re.VERBOSE,
)
"""Matches text, end tags and start tags that are copied unchanged because they have no references.
"""

NAME: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)")
"""Matches the start of a tag: groups are the slash of an end tag, and the name."""

TO_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
"""Translation to lower case for ASCII letters only, as HTML requires for names."""


class BytesText:
    """Converter between text and latin-1 characters that represent bytes.

    Args:
        encoding: the document's ASCII-transparent encoding, if the characters represent bytes; None
            if they are text.
    """

    def __init__(self, encoding: Encoding | None = None) -> None:
        self._encoding = encoding

    def to_text(self, raw: str) -> str:
        """Decode `raw`; invalid bytes become U+FFFD."""
        if self._encoding is None or raw.isascii():
            return raw
        return decode_part(raw.encode("latin-1", "replace"), self._encoding)

    def from_text(self, text: str) -> str:
        """Encode `text` for an attribute; characters outside the encoding become references."""
        if self._encoding is None or text.isascii():
            return text
        return encode_part(text, self._encoding).decode("latin-1")


MAX_TAG_LENGTH: Final = 8 << 20
"""Maximum length of a tag that is rewritten; data URLs of images can be long."""

_MAX_NAME_LENGTH = 64


class _PartialTagState(Enum):
    """Tokenizer states within a tag."""

    TAG_NAME = auto()
    BEFORE = auto()
    NAME = auto()
    AFTER = auto()
    VALUE = auto()
    DOUBLE = auto()
    SINGLE = auto()
    UNQUOTED = auto()


_STATE_ENDS = {
    _PartialTagState.TAG_NAME: re.compile(rf"[{_SPACE}/>]"),
    _PartialTagState.BEFORE: re.compile(rf"[^{_SPACE}/]"),
    _PartialTagState.NAME: re.compile(rf"[{_SPACE}/>=]"),
    _PartialTagState.AFTER: re.compile(rf"[^{_SPACE}]"),
    _PartialTagState.VALUE: re.compile(rf"[^{_SPACE}]"),
    _PartialTagState.DOUBLE: re.compile('"'),
    _PartialTagState.SINGLE: re.compile("'"),
    _PartialTagState.UNQUOTED: re.compile(rf"[{_SPACE}>]"),
}
_TRANSITIONS: dict[_PartialTagState, tuple[dict[str, _PartialTagState], _PartialTagState]] = {
    _PartialTagState.TAG_NAME: ({}, _PartialTagState.BEFORE),
    _PartialTagState.BEFORE: ({}, _PartialTagState.NAME),
    _PartialTagState.NAME: (
        {"=": _PartialTagState.VALUE, "/": _PartialTagState.BEFORE},
        _PartialTagState.AFTER,
    ),
    _PartialTagState.AFTER: (
        {"=": _PartialTagState.VALUE, "/": _PartialTagState.BEFORE},
        _PartialTagState.NAME,
    ),
    _PartialTagState.VALUE: (
        {'"': _PartialTagState.DOUBLE, "'": _PartialTagState.SINGLE},
        _PartialTagState.UNQUOTED,
    ),
    _PartialTagState.DOUBLE: ({}, _PartialTagState.BEFORE),
    _PartialTagState.SINGLE: ({}, _PartialTagState.BEFORE),
    _PartialTagState.UNQUOTED: ({}, _PartialTagState.BEFORE),
}
_QUOTED = frozenset({_PartialTagState.DOUBLE, _PartialTagState.SINGLE})


class PartialTag:
    """A tag that arrives in pieces, from its ``<`` or ``</`` on.

    A tag longer than ``MAX_TAG_LENGTH`` keeps its name but loses its attributes, because these can
    contain references that were not rewritten.
    """

    def __init__(self, opening: str) -> None:
        self._state = _PartialTagState.TAG_NAME
        self._buffer = [opening]
        self._length = len(opening)

    def take(self, piece: str, pos: int) -> int:
        """Accept text; return the end of the tag in this piece, or -1."""
        end = self._find_end(piece, pos)
        text = piece[pos:end] if end >= 0 else piece[pos:]
        self._buffer.append(text)
        self._length += len(text)
        if self._is_too_long:
            self._buffer = ["".join(self._buffer)[: _MAX_NAME_LENGTH + len("</>")]]
        return end

    def source(self) -> str:
        """Return the tag, which is complete once its end was found."""
        source = "".join(self._buffer)
        return _without_attributes(source) if self._is_too_long else source

    @property
    def _is_too_long(self) -> bool:
        return self._length > MAX_TAG_LENGTH

    def _find_end(self, piece: str, pos: int) -> int:
        state = self._state
        while match := _STATE_ENDS[state].search(piece, pos):
            pos = match.end()
            character = match[0]
            if character == ">" and state not in _QUOTED:
                return pos
            special, other = _TRANSITIONS[state]
            state = special.get(character, other)
        self._state = state
        return -1


def _without_attributes(source: str) -> str:
    """Return a tag with its name only; "" if the name is incomplete."""
    match = NAME.match(source)
    if not match or len(match[2]) > _MAX_NAME_LENGTH:
        return ""
    return f"<{match[1]}{match[2]}>"
