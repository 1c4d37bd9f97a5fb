"""Syntax of tags, raw text and character references.

Which of them are event handlers, their names tell.

All of them see what is whole; a tag that comes in pieces is gathered by ``partial_tag``.

A document in an encoding that is ASCII-transparent is rewritten as if each byte were a character
(latin-1), so that bytes that are not touched, invalid sequences among them, come out as they went
in. What stands in an attribute is decoded only when it has to be understood.
"""

import re
from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from html import unescape
from html.entities import html5
from typing import Final

from archiver.http.text_decoders import Encoding, decode_part, encode_part
from archiver.pages.reference_attributes import EVERYWHERE, HTML, MATHML, PAINT, ROOTS, SVG


class Treatment(StrEnum):
    """What is done to such an attribute."""

    INERT = "inert"
    CROSSORIGIN = "crossorigin"
    TARGET = "target"
    BASE = "base"
    EQUIVALENT = "equivalent"
    REFERRER = "referrer"
    RESTING = "resting"


Treatments = Mapping[str, Treatment]

_CROSSORIGIN: Final[Treatments] = {"crossorigin": Treatment.CROSSORIGIN}
_TARGET: Final[Treatments] = {"target": Treatment.TARGET}
_SUBMIT: Final[Treatments] = {"formtarget": Treatment.TARGET}
_FRAME: Final[Treatments] = {"csp": Treatment.INERT}

ACTING: Final[Mapping[str, Treatments]] = {
    **dict.fromkeys(("audio", "image", "img", "script", "source", "track", "video"), _CROSSORIGIN),
    **dict.fromkeys(("a", "area", "form"), _TARGET),
    **dict.fromkeys(("button", "input"), _SUBMIT),
    **dict.fromkeys(("frame", "iframe"), _FRAME),
    "base": {"href": Treatment.BASE, **_TARGET},
    "link": {**_CROSSORIGIN, **_TARGET},
    "meta": {"http-equiv": Treatment.EQUIVALENT, "name": Treatment.REFERRER},
}
"""By lower-case element name, in HTML and elsewhere."""

ACTING_EVERYWHERE: Final[Treatments] = {
    **dict.fromkeys(("nonce", "integrity", "referrerpolicy"), Treatment.INERT),
    "autofocus": Treatment.RESTING,
}

_COMMON: Final = frozenset({"content", "value"})
"""Attributes that point on a few elements and are found on many."""

LOOKED_AT: Final = frozenset(name for name, rules in HTML.items() if _COMMON & rules.keys())
"""Elements of HTML that are looked at whatever attributes they have."""

HOT: Final = frozenset(EVERYWHERE).union(
    ACTING_EVERYWHERE,
    *(rules for table in (HTML, ACTING) for name, rules in table.items() if name not in LOOKED_AT),
)
"""Attributes for which any other element of HTML is looked at."""

HANDLER: Final = re.compile("on[a-z]{3,}+", re.ASCII)
"""Names of event handlers, lower case, and of little else."""

_ANIMATED = "attributename"
HOT_ANYWHERE: Final = (HOT | {_ANIMATED}).union(MATHML, *SVG.values()) - {*PAINT}
"""The same in SVG, MathML and XML, where any attribute with a function is looked at, too."""

_REFERENCE = re.compile(r"&(?:#[0-9]++;?|#[xX][0-9a-fA-F]++;?|([a-zA-Z][a-zA-Z0-9]*+)(;|=)?)")

_MOST_DIGITS = 7


def decode_references(value: str) -> str:
    """The value that an attribute's source means.

    In an attribute a reference without semicolon that goes on with a letter, a digit or ``=`` is
    none: ``?a=1&copy=2`` holds no copyright sign.
    """
    return _REFERENCE.sub(_meaning, value) if "&" in value else value


def encode_references(value: str, quote: str, *, xml: bool = False) -> str:
    """The source of an attribute in those quotes that means ``value``."""
    encoded = value.replace("&", "&amp;") if "&" in value else value
    if quote in encoded:
        encoded = encoded.replace(quote, "&quot;" if quote == '"' else "&#39;")
    return encoded.replace("<", "&lt;") if xml else encoded


def _meaning(reference: re.Match[str]) -> str:
    name, end = reference[1], reference[2]
    if name is None:
        return _character(reference[0][2:].rstrip(";"))
    if end == ";":
        return html5.get(f"{name};", reference[0])
    return reference[0] if end == "=" else html5.get(name, reference[0])


def _character(number: str) -> str:
    """The character of a numeric reference; zeros in front of it may go on for ever."""
    is_hex = number[0] in "xX"
    digits = number[is_hex:].lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return "\ufffd"
    return unescape(f"&#{'x' * is_hex}{digits or '0'};")


RAW_TEXT: Final = frozenset({"textarea", "title", "xmp", "iframe", "noembed", "noframes"})
"""Besides ``style``, ``script`` and ``plaintext``. ``noscript`` holds markup: no script runs."""

_ENDS = {
    name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
    for name in (*RAW_TEXT, "style")
}
_SCRIPT = re.compile(r"<!--|-->|</?script(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
_LONGEST = len("</noframes")


def text_end(name: str, text: str, at: int) -> int:
    """Where the end tag of raw text starts, or -1."""
    found = _ENDS[name].search(text, at)
    return found.start() if found else -1


def held_from(text: str, at: int, marks: str = "<") -> int:
    """From where text must be held back, since what ends it may have begun."""
    start = max(at, len(text) - _LONGEST)
    found = [place for mark in marks if (place := text.find(mark, start)) >= 0]
    return min(found, default=len(text))


class _State(Enum):
    DATA = auto()
    ESCAPED = auto()
    DOUBLE_ESCAPED = auto()


class ScriptEnd:
    """Finds the end of one script, in which ``<!--`` and ``<script`` hide end tags."""

    def __init__(self) -> None:
        self._state = _State.DATA

    def find(self, text: str, at: int) -> tuple[int, bool]:
        """Look on from ``at``.

        Returns:
            Up to where the text is the script's, and whether its end tag starts there; if not,
            what comes behind that place must be looked at again with more text.
        """
        while found := _SCRIPT.search(text, at):
            mark = found[0].lower()
            if mark == "</script" and self._state is not _State.DOUBLE_ESCAPED:
                return found.start(), True
            self._state = self._after(mark)
            at = found.start() + 2 if mark == "<!--" else found.end()
        return held_from(text, at, "<-"), False

    def _after(self, mark: str) -> _State:
        if mark == "-->":
            return _State.DATA
        if mark == "<!--":
            return _State.ESCAPED if self._state is _State.DATA else self._state
        if mark == "<script":
            return _State.DATA if self._state is _State.DATA else _State.DOUBLE_ESCAPED
        return _State.ESCAPED


_SPACE = r"\t\n\f\r "
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|[^{_SPACE}>"'][^{_SPACE}>]*+|(?=>))"""
_ATTRIBUTE = (
    rf"[{_SPACE}/]*+[^{_SPACE}/>][^{_SPACE}/>=]*+[{_SPACE}]*+(?:=[{_SPACE}]*+{_VALUE}|(?!=))"
)

TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)(?>(?:{_ATTRIBUTE})*)[{_SPACE}/]*+>")
"""A whole tag: whether it is an end tag, its name."""

ATTRIBUTE: Final = re.compile(
    rf"([^{_SPACE}/>][^{_SPACE}/>=]*+)"
    rf"(?>(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^{_SPACE}>\"'][^{_SPACE}>]*+)|(?=>)))?)"
)
"""One attribute inside a whole tag: name; value in double quotes, in single quotes, in none."""

_COLD_NAME = r"[a-z][a-z0-9-]*+"
_SPECIAL = "|".join(
    sorted(
        {*RAW_TEXT, "script", "style", "noscript", "plaintext", *ROOTS, *LOOKED_AT},
    )
)
_HOT = "|".join([*sorted(HOT), HANDLER.pattern])
PLAIN: Final = re.compile(
    rf"""(?>(?: [^<]++
    | </[a-zA-Z][^{_SPACE}/>]*+>
    | <(?!(?:{_SPECIAL})[{_SPACE}/>]){_COLD_NAME}
      (?>(?:[{_SPACE}]++(?!(?:{_HOT})[{_SPACE}=/>])[a-z_:@.-][a-z0-9_:@.-]*+
        (?:="[^"]*+"|='[^']*+'|=[^{_SPACE}>"'][^{_SPACE}>]*+|(?!=))
      )*)[{_SPACE}]*+/?>
    | <(?=[^a-zA-Z/!?])
    )*)""".replace(_SPACE, _SPACE.replace(" ", r"\x20")),
    re.VERBOSE,
)
"""Text, end tags, and start tags that point nowhere: what is left as it is outside SVG, MathML."""

NAME: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)")
"""The start of a tag: whether it is an end tag, its name."""

UPPER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
"""ASCII only: names that differ in other letters differ."""


class Raw:
    """Between characters that stand for bytes and the text they mean.

    Args:
        encoding: of the document, ASCII-transparent, where the characters rewritten stand for
            bytes; None where they are text already.
    """

    def __init__(self, encoding: Encoding | None = None) -> None:
        self._encoding = encoding

    def to_text(self, raw: str) -> str:
        """The text that ``raw`` means; what is no text becomes U+FFFD."""
        if self._encoding is None or raw.isascii():
            return raw
        return decode_part(raw.encode("latin-1", "replace"), self._encoding)

    def from_text(self, text: str) -> str:
        """How ``text`` is written in an attribute: what the encoding lacks as a reference."""
        if self._encoding is None or text.isascii():
            return text
        return encode_part(text, self._encoding).decode("latin-1")


MOST_HELD: Final = 8 << 20
"""Characters of the longest tag that is rewritten; images given as data can be large."""

_LONGEST_NAME = 64


class _PartialTagState(Enum):
    """Where in a tag the next character stands."""

    TAG_NAME = auto()
    BEFORE = auto()
    NAME = auto()
    AFTER = auto()
    VALUE = auto()
    DOUBLE = auto()
    SINGLE = auto()
    UNQUOTED = auto()


_STOPS = {
    _PartialTagState.TAG_NAME: re.compile(rf"[{_SPACE}/>]"),
    _PartialTagState.BEFORE: re.compile(rf"[^{_SPACE}/]"),
    _PartialTagState.NAME: re.compile(rf"[{_SPACE}/>=]"),
    _PartialTagState.AFTER: re.compile(rf"[^{_SPACE}]"),
    _PartialTagState.VALUE: re.compile(rf"[^{_SPACE}]"),
    _PartialTagState.DOUBLE: re.compile('"'),
    _PartialTagState.SINGLE: re.compile("'"),
    _PartialTagState.UNQUOTED: re.compile(rf"[{_SPACE}>]"),
}
_NEXT: dict[_PartialTagState, tuple[dict[str, _PartialTagState], _PartialTagState]] = {
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
    """A tag from its ``<`` or ``</`` on, in pieces.

    One longer than ``MOST_HELD`` keeps its name and loses its attributes, so that what was not
    rewritten is not loaded.
    """

    def __init__(self, opening: str) -> None:
        self._state = _PartialTagState.TAG_NAME
        self._held = [opening]
        self._length = len(opening)

    def take(self, piece: str, at: int) -> int:
        """Take what belongs to the tag; return where it ends in this piece, or -1."""
        end = self._find_end(piece, at)
        taken = piece[at:end] if end >= 0 else piece[at:]
        self._held.append(taken)
        self._length += len(taken)
        if self._is_too_long:
            self._held = ["".join(self._held)[: _LONGEST_NAME + len("</>")]]
        return end

    def source(self) -> str:
        """The tag, whole once its end was found."""
        source = "".join(self._held)
        return _without_attributes(source) if self._is_too_long else source

    @property
    def _is_too_long(self) -> bool:
        return self._length > MOST_HELD

    def _find_end(self, piece: str, at: int) -> int:
        state = self._state
        while found := _STOPS[state].search(piece, at):
            at = found.end()
            character = found[0]
            if character == ">" and state not in _QUOTED:
                return at
            special, other = _NEXT[state]
            state = special.get(character, other)
        self._state = state
        return -1


def _without_attributes(source: str) -> str:
    """A tag of which only the start is known: its name, if that is a name."""
    found = NAME.match(source)
    if not found or len(found[2]) > _LONGEST_NAME:
        return ""
    return f"<{found[1]}{found[2]}>"
