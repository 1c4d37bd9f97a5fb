"""What style sheets point at (CSS Syntax 3, CSS Images 4); linear in their length."""

import re
from collections.abc import Iterator

from archiver.model.requisite import Requisite, RequisiteKind
from archiver.urls.parse import join


def _name(name: str) -> str:
    """A pattern for a name whose letters may be written as escapes (CSS Syntax 3 §4.3.7)."""
    return "".join(map(_letter, name))


def _letter(letter: str) -> str:
    if not letter.isalpha():
        return re.escape(letter)
    codes = "|".join(f"{ord(each):x}" for each in (letter.upper(), letter))
    plain = "" if letter in "abcdef" else rf"|\\{letter}"
    return rf"(?:{letter}{plain}|\\0{{0,4}}(?:{codes})[ \t\n\r\f]?)"


_TOKEN = re.compile(
    rf"""
      (?P<comment>/\*.*?(?:\*/|\Z))
    | (?P<import>@{_name("import")})\b
    | (?P<face>@{_name("font-face")})\b
    | {_name("url")}\(\s*(?:"(?P<dq>(?:[^"\\\n]|\\.)*)"|'(?P<sq>(?:[^'\\\n]|\\.)*)'
        |(?P<raw>(?:[^\s"'()\\]|\\.)*))\s*\)
    | "(?P<ds>(?:[^"\\\n]|\\.)*)" | '(?P<ss>(?:[^'\\\n]|\\.)*)'
    | (?P<sets>{_name("image-set")}\()
    | (?P<mark>[{{}};)])
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n]?|(\n)|(.))", re.DOTALL)


def find_css_urls(css: str, base_url: str) -> tuple[Requisite, ...]:
    """Everything a style sheet makes a browser load, in order, each once."""
    found: dict[str, RequisiteKind] = {}
    for reference, kind in _references(css):
        url = join(base_url, reference)
        if url:
            found.setdefault(url, kind)
    return tuple(Requisite(url, kind) for url, kind in found.items())


def _references(css: str) -> Iterator[tuple[str, RequisiteKind]]:
    importing = in_face = in_set = False
    for token in _TOKEN.finditer(css):
        kind = token.lastgroup
        if kind == "comment":
            continue
        if kind == "import":
            importing = True
        elif kind == "face":
            in_face = True
        elif kind == "sets":
            in_set = True
        elif kind == "mark":
            importing = importing and token[0] not in ";{}"
            in_face = in_face and token[0] != "}"
            in_set = False
        elif kind in ("ds", "ss") and not (importing or in_set):
            continue
        else:
            reference = unescape(token[kind or 0]).strip()
            if reference and not reference.startswith("#"):
                yield reference, _kind(importing=importing, in_face=in_face)
            importing = False


def unescape(text: str) -> str:
    """The text that CSS escapes stand for."""
    return _ESCAPE.sub(_unescape_one, text) if "\\" in text else text


def _unescape_one(found: re.Match[str]) -> str:
    if found[1]:
        number = int(found[1], 16)
        return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return found[3] or ""


def _kind(*, importing: bool, in_face: bool) -> RequisiteKind:
    if importing:
        return RequisiteKind.STYLE
    return RequisiteKind.FONT if in_face else RequisiteKind.IMAGE
