"""Rewriter of references in style sheets.

Each reference is passed to a callback that may replace it. Style sheets are read in pieces. To
limit memory, a URL longer than ``MAX_BUFFERED`` is not passed to the callback: a ``data:`` URL is
copied, and any other URL is replaced by ``BLANK``.
"""

import re
from collections.abc import Callable
from sys import maxunicode
from typing import Final

from archiver.pages.references import Use

_NOT_IN_NAMES = tuple(
    mark for mark in map(chr, range(1, 0x80)) if not (mark.isalnum() or mark in "-_")
)
"""ASCII characters that can't be in an identifier.

Identifier patterns exclude these, because a class of all identifier characters compiles slowly.
"""


def _not_in_names(but: str = "") -> str:
    return "".join(f"\\x{ord(mark):02x}" for mark in _NOT_IN_NAMES if mark not in but)


_IDENT = f"[^{_not_in_names()}]"
_NON_PRINTABLE = r"\x01-\x08\x0b\x0e-\x1f\x7f"
"""Characters that are forbidden in an unquoted URL (CSS Syntax 3 §4.2).

U+0000 is allowed, because it is read as U+FFFD (§3.3).
"""
_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}+(?>(?:\r\n|[ \t\n\r\f])?)|[^\n\r\f0-9a-fA-F])"
_IMAGE = r"(?:-[a-zA-Z]+-)?[iI][mM][aA][gG][eE](?:-[sS][eE][tT])?"
_URL_FUNCTION = rf"(?:[uU][rR][lL]|[sS][rR][cC]|{_IMAGE})"

_BEGINNINGS = "\"'/\\@<#"
_MARKS = _BEGINNINGS + "()[];{} \t\n\r\f"

PLAIN_TOKENS: Final = re.compile(
    rf"""(?>(?: [{_not_in_names(but=_BEGINNINGS)}]++
    | \#{_IDENT}*+(?=[^\\]) | <(?:!--|(?=[^!]))
    | {_IDENT}++(?=[^\\(]) | (?!{_URL_FUNCTION}\(){_IDENT}++(?=\()
    | "[^"\\\n\r\f]*+" | '[^'\\\n\r\f]*+'
    | /(?=[^*])
    )*)""",
    re.VERBOSE,
)
"""Complete tokens that contain no URL."""

IDENT: Final = re.compile(rf"(?>(?:{_IDENT}++|{_ESCAPE})+)")
SPACE: Final = re.compile(r"[ \t\n\r\f]*+")
OTHER: Final = re.compile(f"[{_not_in_names(but=_MARKS)}]++")
CONTENT_BY_END: Final = {
    '"': re.compile(r'(?>(?:[^"\\\n\r\f]++|\\(?:\r\n|[^\r]|\r(?=[^\n])))*)'),
    "'": re.compile(r"(?>(?:[^'\\\n\r\f]++|\\(?:\r\n|[^\r]|\r(?=[^\n])))*)"),
    ")": re.compile(rf"""(?>(?:[^"'()\\ \t\n\r\f{_NON_PRINTABLE}]++|{_ESCAPE})*)"""),
}
"""Content of a string or of an unquoted ``url(…)``, by its closing character."""

REMNANTS: Final = re.compile(r"(?>(?:[^)\\]++|\\[\s\S])*)")
"""The rest of a bad url token (CSS Syntax 3 §4.3.14)."""

_ESCAPES = re.compile(r"\\(?:([0-9a-fA-F]{1,6}+)(?>(?:\r\n|[ \t\n\r\f])?)|(\r\n|[\s\S]))")
_LINES = frozenset({"\n", "\r\n", "\r", "\f"})


_LOADING = ("url(", "src(", "image(", "image-set(", "@import", "\\", "\0")


def may_load(sheet: str) -> bool:
    """Return whether a style sheet may name resources, which is much faster than reading it.

    Any escape may spell the name of a function. Bytes of UTF-16 contain U+0000.
    """
    lowered = sheet.lower()
    return any(each in lowered for each in _LOADING)


def end_of(pattern: re.Pattern[str], text: str, pos: int) -> int:
    """Return the end of a match that starts at ``pos``, or ``pos`` if nothing matches."""
    match = pattern.match(text, pos)
    return match.end() if match else pos


def decode_escapes(text: str) -> str:
    """Decode the escapes of an identifier, string or URL (CSS Syntax 3 §3.3, §4.3.7)."""
    text = text.replace("\0", "\ufffd")
    return _ESCAPES.sub(_character, text) if "\\" in text else text


def encode_escapes(url: str, end: str) -> str:
    """Escape a URL for a string with the quote ``end``, or for ``url(…)`` if ``end`` is ``)``."""
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


_MAX_NESTED: Final = 1024
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_SET: Final = "set"
_FACE: Final = "face"
_CLOSED_BY: Final = {_SET: ")", _FACE: "}"}


class Nesting:
    """Open brackets in ``image-set()`` and ``@font-face``; other brackets are not tracked.

    A closing bracket that does not match the innermost open one is ignored (CSS Syntax 3 §5.4.8).
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._face_depth = -1
        """Number of open brackets around an ``@font-face`` whose block has not begun; else -1."""
        self.in_face = False

    @property
    def is_active(self) -> bool:
        """Return whether brackets are being tracked."""
        return bool(self._open) or self._face_depth >= 0

    @property
    def in_set(self) -> bool:
        """Return whether a string at the current position is a URL, as in ``image-set()``."""
        return bool(self._open) and self._open[-1] is _SET

    def expect_font_face(self) -> None:
        """Record that the block of an ``@font-face`` rule follows."""
        self._face_depth = len(self._open)

    def open_set(self) -> None:
        """Enter a function whose strings are URLs."""
        self._push(_SET)

    def process(self, bracket: str) -> None:
        """Process a bracket, or a semicolon, which ends an at-rule without a block."""
        if not self.is_active:
            return
        is_face = self._face_depth == len(self._open) and bracket in "{};"
        if is_face:
            self._face_depth = -1
        if bracket in _CLOSING:
            self._push(_FACE if is_face else bracket)
        elif bracket != ";":
            self._close(bracket)

    def _push(self, bracket: str) -> None:
        if len(self._open) < _MAX_NESTED:
            self._open.append(bracket)
            self.in_face = self.in_face or bracket is _FACE

    def _close(self, bracket: str) -> None:
        if self._open and (_CLOSED_BY.get(self._open[-1]) or _CLOSING[self._open[-1]]) == bracket:
            self.in_face = self._open.pop() is not _FACE and self.in_face


Rewrite = Callable[[str, Use], str | None]
"""Callback: given a reference and its use, return its replacement, or None to keep it."""

MAX_BUFFERED: Final = 64 << 10
"""Maximum length of a URL in the source: 8,192 characters, each an escape of 8 characters."""

BLANK: Final = "data:,"
"""Replacement of a URL that is too long or that the callback removes."""

_MAX_NAME = 256
_STRING_FUNCTIONS = frozenset({"image-set", "-webkit-image-set", "image", "src"})
_UNFINISHED_NAME = ("", "\\")
_UNFINISHED_STRING = ("", "\\", "\\\r")
_MAX_UNFINISHED = 2
_PRELUDE_ENDS = frozenset(";{}")
_COMMENT_MARK = "<!--"
_BRACKETS = frozenset("()[]{};")


def rewrite_css(css: str, rewrite: Rewrite) -> str:
    """Rewrite the references of a whole style sheet, or of a ``style`` attribute."""
    sheet = CssReferences(rewrite)
    return sheet.feed(css) + sheet.close()


class CssReferences:
    """Streaming rewriter of one style sheet, fed in pieces of any size.

    Args:
        rewrite: callback for each reference.
        to_text: function that decodes a URL, if each character of the source represents a byte.
    """

    def __init__(self, rewrite: Rewrite, to_text: Callable[[str], str] = str) -> None:
        self._rewrite = rewrite
        self._to_text = to_text
        self._end = ")"
        self._text = ""
        self._out: list[str] = []
        self._final = False
        self._import = False
        self._namespace = False
        self._nesting = Nesting()
        self._step: Callable[[int], int | None] = self._tokens
        """State of the tokenizer: the method that processes the input from an offset on.

        It returns the offset of the rest, or None if it needs more input.
        """

    def feed(self, css: str) -> str:
        """Process more input; return the output that is ready."""
        self._text += css
        pos = 0
        while pos < len(self._text):
            after = self._step(pos)
            if after is None:
                break
            pos = after
        self._text = self._text[pos:]
        ready = "".join(self._out)
        self._out.clear()
        return ready

    def close(self) -> str:
        """Return the rest of the output; open constructs end here (CSS Syntax 3 §5)."""
        self._final = True
        ready = self.feed("")
        text, self._text = self._text, ""
        return ready + text

    def _copy(self, start: int, end: int) -> int:
        self._out.append(self._text[start:end])
        return end

    def _tokens(self, pos: int) -> int | None:
        text = self._text
        if not (self._import or self._namespace or self._nesting.is_active):
            end = end_of(PLAIN_TOKENS, text, pos)
            if end > pos:
                return self._copy(pos, end)
        first = text[pos]
        if first in "\"'":
            return self._string(pos)
        if first == "/":
            return self._slash(pos)
        if first == "<":
            return self._comment_mark(pos)
        if first in "@#\\" or IDENT.match(text, pos):
            return self._named(pos)
        return self._punctuation(pos)

    def _string(self, pos: int) -> int:
        """Process a string, which is a URL after ``@import`` and directly in ``image-set()``."""
        self._end = self._text[pos]
        is_url = self._import or self._nesting.in_set
        self._step = self._string_url if is_url and not self._namespace else self._copy_rest
        return self._copy(pos, pos + 1)

    def _slash(self, pos: int) -> int | None:
        if pos + 1 == len(self._text) and not self._final:
            return None
        if self._text.startswith("/*", pos):
            self._step = self._comment
            return self._copy(pos, pos + 2)
        self._import = False
        return self._copy(pos, pos + 1)

    def _comment_mark(self, pos: int) -> int | None:
        """Process ``<!--``, which is a token and not the start of a name."""
        start_mark = self._text[pos : pos + len(_COMMENT_MARK)]
        if start_mark == _COMMENT_MARK:
            self._import = False
            return self._copy(pos, pos + len(_COMMENT_MARK))
        if _COMMENT_MARK.startswith(start_mark) and not self._final:
            return None
        return self._punctuation(pos)

    def _punctuation(self, pos: int) -> int:
        space = end_of(SPACE, self._text, pos)
        if space > pos:
            return self._copy(pos, space)
        self._import = False
        first = self._text[pos]
        if first in _PRELUDE_ENDS:
            self._namespace = False
        if first in _BRACKETS:
            self._nesting.process(first)
            return self._copy(pos, pos + 1)
        return self._copy(pos, max(pos + 1, end_of(OTHER, self._text, pos)))

    def _named(self, pos: int) -> int | None:
        """Process an identifier, at-keyword, hash or function, possibly with escapes."""
        is_keyword, is_hash = self._text[pos] == "@", self._text[pos] == "#"
        start = pos + (is_keyword or is_hash)
        end = end_of(IDENT, self._text, start)
        is_short = end - start <= _MAX_NAME
        if self._may_continue(end):
            return None if is_short else self._long_name(pos, end)
        name = decode_escapes(self._text[start:end]).lower() if is_short else ""
        if is_keyword:
            self._import, self._namespace = name == "import", name == "namespace"
            if name == "font-face":
                self._nesting.expect_font_face()
            return self._copy(pos, end)
        if self._text.startswith("(", end) and end > start and not is_hash:
            return self._function(name, pos, end + 1)
        self._import = False
        return self._copy(pos, max(end, pos + 1))

    def _may_continue(self, end: int) -> bool:
        """Return whether a token that ends at ``end`` may continue in the next piece."""
        return not self._final and self._rest_is(end, _UNFINISHED_NAME)

    def _rest_is(self, end: int, unfinished: tuple[str, ...]) -> bool:
        """Return whether the text after ``end`` is empty, or one of the incomplete escapes."""
        return len(self._text) - end <= _MAX_UNFINISHED and self._text[end:] in unfinished

    def _long_name(self, pos: int, end: int) -> int:
        self._import = False
        if self._text[pos] == "@":
            self._namespace = False
        self._step = self._name_rest
        return self._copy(pos, end)

    def _name_rest(self, pos: int) -> int | None:
        """Process the rest of a name that is too long to be relevant."""
        end = end_of(IDENT, self._text, pos)
        if self._may_continue(end):
            return self._copy(pos, end) if end > pos else None
        self._step = self._tokens
        return self._copy(pos, end)

    def _function(self, name: str, pos: int, end: int) -> int:
        if name == "url":
            self._step = self._url
            return self._copy(pos, end)
        self._import = self._import and name == "src"
        if name in _STRING_FUNCTIONS:
            self._nesting.open_set()
        else:
            self._nesting.process("(")
        return self._copy(pos, end)

    def _comment(self, pos: int) -> int | None:
        end = self._text.find("*/", pos)
        if end >= 0:
            self._step = self._tokens
            return self._copy(pos, end + 2)
        end_of_text = len(self._text) - (not self._final and self._text.endswith("*"))
        return self._copy(pos, end_of_text) if end_of_text > pos else None

    def _url(self, pos: int) -> int | None:
        """Process the content of ``url(``: white space, then a string or an unquoted URL."""
        text = self._text
        start = end_of(SPACE, text, pos)
        if start > pos:
            return self._copy(pos, start)
        if text[pos] in "\"'":
            self._end, self._step = text[pos], self._string_url
            self._nesting.process("(")
            return self._copy(pos, pos + 1)
        self._end = ")"
        body = end_of(CONTENT_BY_END[")"], text, pos)
        end = end_of(SPACE, text, body)
        if end - pos > MAX_BUFFERED:
            return self._too_long(pos, end)
        if self._may_continue(end):
            return None
        if text.startswith(")", end) or self._rest_is(end, _UNFINISHED_NAME):
            self._step = self._tokens
            self._nesting.process("(")
            return self._rewrite_url(pos, body)
        return self._begin_copying(pos, end)

    def _string_url(self, pos: int) -> int | None:
        """Process a string that is a URL, after its opening quote."""
        text = self._text
        end = end_of(CONTENT_BY_END[self._end], text, pos)
        if end - pos > MAX_BUFFERED:
            return self._too_long(pos, end)
        is_cut = self._rest_is(end, _UNFINISHED_STRING)
        if is_cut and not self._final:
            return None
        if is_cut or text.startswith(self._end, end):
            self._step = self._copy_rest
            return self._rewrite_url(pos, end)
        return self._begin_copying(pos, end)

    def _rewrite_url(self, start: int, end: int) -> int:
        raw = self._text[start:end]
        use = Use.STYLE if self._import else Use.FONT if self._nesting.in_face else Use.PAINT
        value = decode_escapes(self._to_text(raw))
        replacement = None if self._namespace else self._rewrite(value, use)
        self._import = False
        self._out.append(
            raw if replacement is None else encode_escapes(replacement or BLANK, self._end)
        )
        return end

    def _begin_copying(self, pos: int, end: int) -> int:
        self._import = False
        self._step = self._copy_rest
        return self._copy(pos, end)

    def _too_long(self, pos: int, end: int) -> int:
        """Copy a ``data:`` URL over ``MAX_BUFFERED``; replace any other URL by ``BLANK``."""
        start = decode_escapes(self._text[pos : pos + _MAX_NAME]).lstrip().lower()
        if start.startswith("data:"):
            return self._begin_copying(pos, end)
        self._import = False
        self._out.append(BLANK)
        self._step = self._skip_rest
        return end

    def _copy_rest(self, pos: int) -> int | None:
        """Copy the rest of a string, or of an unquoted URL, including its closing character."""
        end = self._rest_of_body(pos)
        self._out.append(self._text[pos:end])
        return self._end_body(pos, end)

    def _skip_rest(self, pos: int) -> int | None:
        return self._end_body(pos, self._rest_of_body(pos))

    def _rest_of_body(self, pos: int) -> int:
        pattern = REMNANTS if self._end == ")" else CONTENT_BY_END[self._end]
        return end_of(pattern, self._text, pos)

    def _end_body(self, pos: int, end: int) -> int | None:
        """Process the closing character; a string also ends at the end of its line."""
        if self._rest_is(end, _UNFINISHED_STRING):
            return end if end > pos else None
        self._step = self._tokens
        return self._copy(end, end + self._text.startswith(self._end, end))
