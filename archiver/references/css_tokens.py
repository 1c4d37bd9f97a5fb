"""The few tokens of CSS that matter for finding URLs (CSS Syntax 3 §4). Each pattern is linear."""

import re
from sys import maxunicode
from typing import Final

_BESIDE = tuple(mark for mark in map(chr, range(1, 0x80)) if not (mark.isalnum() or mark in "-_"))
"""What stands in no identifier: of ASCII alone, and a class of few is compiled in no time."""


def _beside(but: str = "") -> str:
    return "".join(f"\\x{ord(mark):02x}" for mark in _BESIDE if mark not in but)


_IDENT = f"[^{_beside()}]"
_NON_PRINTABLE = r"\x01-\x08\x0b\x0e-\x1f\x7f"
"""No part of a URL without quotes; U+0000 is read as U+FFFD, which may be (§3.3, §4.2)."""
_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}+(?>(?:\r\n|[ \t\n\r\f])?)|[^\n\r\f0-9a-fA-F])"
_IMAGE = r"(?:-[a-zA-Z]+-)?[iI][mM][aA][gG][eE](?:-[sS][eE][tT])?"
_URL_FUNCTION = rf"(?:[uU][rR][lL]|[sS][rR][cC]|{_IMAGE})"

_BEGINNINGS = "\"'/\\@<#"
_MARKS = _BEGINNINGS + "()[];{} \t\n\r\f"

PLAIN: Final = re.compile(
    rf"""(?>(?: [{_beside(but=_BEGINNINGS)}]++
    | \#{_IDENT}*+(?=[^\\]) | <(?:!--|(?=[^!]))
    | (?!{_URL_FUNCTION}\(){_IDENT}++(?=[^\\])
    | "[^"\\\n\r\f]*+" | '[^'\\\n\r\f]*+'
    | /(?=[^*])
    )*)""",
    re.VERBOSE,
)
"""What can hold no URL, as far as it is surely complete."""

IDENT: Final = re.compile(rf"(?>(?:{_IDENT}++|{_ESCAPE})+)")
SPACE: Final = re.compile(r"[ \t\n\r\f]*+")
OTHER: Final = re.compile(f"[{_beside(but=_MARKS)}]++")
BODIES: Final = {
    '"': re.compile(r'(?>(?:[^"\\\n\r\f]++|\\(?:\r\n|[^\r]|\r(?=[^\n])))*)'),
    "'": re.compile(r"(?>(?:[^'\\\n\r\f]++|\\(?:\r\n|[^\r]|\r(?=[^\n])))*)"),
    ")": re.compile(rf"""(?>(?:[^"'()\\ \t\n\r\f{_NON_PRINTABLE}]++|{_ESCAPE})*)"""),
}
"""What stands in a string, or in ``url(…)`` without quotes, up to what ends it."""

REMNANTS: Final = re.compile(r"(?>(?:[^)\\]++|\\[\s\S])*)")
"""The rest of a bad url token (CSS Syntax 3 §4.3.14)."""

_ESCAPES = re.compile(r"\\(?:([0-9a-fA-F]{1,6}+)(?>(?:\r\n|[ \t\n\r\f])?)|(\r\n|[\s\S]))")
_LINES = frozenset({"\n", "\r\n", "\r", "\f"})


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a match that starts at ``at`` ends; ``at`` itself where there is none."""
    found = pattern.match(text, at)
    return found.end() if found else at


def decode_escapes(text: str) -> str:
    """What an identifier, string or URL means (CSS Syntax 3 §3.3, §4.3.7)."""
    text = text.replace("\0", "\ufffd")
    return _ESCAPES.sub(_character, text) if "\\" in text else text


def encode_escapes(url: str, end: str) -> str:
    """A URL as it can stand in a string with that quote, or in ``url(…)`` with ``end`` ``)``."""
    special = "\"'()\\ " if end == ")" else f"{end}\\"
    if not any(character in url for character in special):
        return url
    return "".join(f"\\{each}" if each in special else each for each in url)


def _character(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return "" if escape[2] in _LINES else escape[2]
    point = int(escape[1], 16)
    return chr(point) if point and point <= maxunicode and not _is_surrogate(point) else "\ufffd"


def _is_surrogate(point: int) -> bool:
    return "\ud800" <= chr(point) <= "\udfff"
