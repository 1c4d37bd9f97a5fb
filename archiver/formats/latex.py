r"""LaTeX as it stands in fields of BibTeX, read as text: ``{\"o}``, ``\'e``, ``\ss``, ``--``.

What it knows is what Zotero, Mendeley, JabRef and biber write for letters that are not ASCII; any
other command stays as it stands.
"""

import re
from unicodedata import normalize

_ABOVE = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    '"': "\u0308",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "r": "\u030a",
    "c": "\u0327",
    "k": "\u0328",
    "d": "\u0323",
    "b": "\u0331",
}
"""Accents by their commands (The LaTeX Companion, table of text accents)."""
_NAMES = (
    "ss ae AE oe OE aa AA o O l L dh DH th TH dj DJ ng NG i j textendash textemdash ldots dots "
    "textquoteleft textquoteright textquotesingle textquotedblleft textquotedblright "
    "quotedblbase guillemotleft guillemotright textbackslash textasciitilde textasciicircum "
    "textunderscore textdegree texteuro pounds copyright"
)
_SIGNS = "ßæÆœŒåÅøØłŁðÐþÞđĐŋŊ\u0131\u0237\u2013\u2014……\u2018\u2019'“”„«»\\~^_°€£©"
_LETTERS = dict(zip(_NAMES.split(), _SIGNS, strict=True))
_ACCENTED = re.compile(
    r"""\\(?:([`'^~"=.])\s{0,9}|([uvHrckdb])(?:\s{1,9}|(?=[{\\])))"""
    r"""(?:\{\s{0,9}(?:\\([ij])(?![a-zA-Z])|([^\W\d_]))\s{0,9}\}|\\([ij])(?![a-zA-Z])\s?|([^\W\d_]))"""
)
_LETTER = re.compile(r"\\([a-zA-Z]{1,20})(?![a-zA-Z])(?:\{\}|\s{1,9})?")
_ESCAPE = re.compile(r"\\(?=[&%$#_ ])")
_ALONE = re.compile(r"\{([^\x00-\x7f{}])\}")
_BRACES = re.compile(r"[{}]")
_DASHES = re.compile(r"---?")


def text_of_latex(text: str) -> str:
    r"""A field's text as it is read; braces that hold more than a letter stay.

    >>> text_of_latex('G{\\"o}del, Erd\\H{o}s and \\O rsted')
    'Gödel, Erdős and Ørsted'
    """
    if "\\" in text:
        text = _LETTER.sub(_letter, _ACCENTED.sub(_accented, text))
        text = _ALONE.sub(r"\1", _ESCAPE.sub("", text))
    if "--" in text and "://" not in text:
        text = _DASHES.sub(lambda found: "\u2014" if len(found[0]) > 2 else "\u2013", text)
    return text


def without_braces(text: str) -> str:
    """A title or an address without what protects its letters."""
    return _BRACES.sub("", _ESCAPE.sub("", text))


def _accented(found: re.Match[str]) -> str:
    accent, named, *letters = found.groups()
    letter = next(filter(None, letters))
    return normalize("NFC", letter + _ABOVE[accent or named])


def _letter(found: re.Match[str]) -> str:
    return _LETTERS.get(found[1], found[0])
