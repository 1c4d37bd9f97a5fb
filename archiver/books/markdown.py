"""An article as Markdown (CommonMark, with GitHub's tables), as notes programs show it.

Formulas are LaTeX between dollars where the page gave it, and notes are footnotes, as Pandoc,
GitHub and Obsidian read both. What Markdown has no sign for stays HTML where that is a word in a
line (``<sub>``), or stands by itself (other formulas, tables with cells that span others); all else
gives its content.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from html import unescape

from lxml import etree
from lxml.etree import _Element as Element
from lxml.html import HTMLParser, fragment_fromstring

from archiver.books.footnotes import take_notes
from archiver.html.reader.mathematics import TEX

_MOST_DEPTH = 80
"""What is nested deeper gives its text."""
_MOST_PARSED = 200
"""What is nested deeper is not parsed: the parser would leave it out."""
_TAG = re.compile(r'<(/?)([a-zA-Z][a-zA-Z0-9]*)(?:[^<>"]|"[^"]*")*>')
_VOID = frozenset("br col hr img source wbr".split())
_SPECIAL = re.compile(r"([\\`*_\[\]<>#$|~^=])|%(?=%)")
_LINE_START = re.compile(r"^(\s*)(-(?=-)|(?:[-+]|\d{1,9}[.)])(?=\s|$))", re.MULTILINE)
_SPACES = re.compile(r"[ \t\n\r\f]+")
_UNSAFE = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})
_MARKS = {
    **dict.fromkeys(("em", "i", "figcaption"), "*"),
    **dict.fromkeys(("strong", "b", "dt", "summary"), "**"),
    **dict.fromkeys(("del", "s"), "~~"),
}
_LINES = frozenset({"dt", "summary", "figcaption"})
_TAGS = {"*": "em", "**": "strong", "~~": "del"}
"""For words at which signs of Markdown would be none."""
_KEPT_INLINE = frozenset("sub sup kbd mark u small ruby rt rp".split())
_BREAK = "\\\n"
_PIPE = re.compile(r"(?<!\\)\|")
_AROUND_LABEL = re.compile(r"[\s,;()\[\]]*")
_HTML_OR_LINK = re.compile(r"<(?=[a-zA-Z/!?])|\](?=[(\[:])")
"""Where something begins that would be no formula to a reader that knows none."""
_BLOCKS = frozenset(
    "address article aside blockquote details div dl dt dd figure figcaption footer h1 h2 h3 h4 h5 "
    "h6 header hr li main ol p pre section summary table ul".split()
)
Address = Callable[[str], str]


def to_markdown(html: str, address: Address = str, *, labelled: str = "") -> str:
    """An article as Markdown.

    Args:
        html: sanitised.
        address: where a link or a picture leads to; empty for nowhere.
        labelled: what the labels of its notes begin with, where others stand in the same text.
    """
    if not html.strip():
        return ""
    if _depth(html) > _MOST_PARSED:
        return f"{_escaped(' '.join(unescape(_TAG.sub(' ', html)).split()))}\n"
    parser = HTMLParser(encoding="utf-8", huge_tree=True)
    body = fragment_fromstring(html.encode("utf-8", "replace"), "div", parser=parser)
    notes = take_notes(body, labelled)
    writer = _Writer(address, notes.labels)
    blocks = [*writer.blocks(body, 0)]
    for label, note in notes.blocks.items():
        blocks.append(_before(writer.blocks(note, 0), f"[^{label}]: ", "    "))
    return "\n\n".join(each for each in blocks if each.strip()) + "\n"


def _depth(html: str) -> int:
    depth = deepest = 0
    for tag in _TAG.finditer(html):
        if tag[2] not in _VOID:
            depth += -1 if tag[1] else 1
            deepest = max(deepest, depth)
    return deepest


class _Writer:
    def __init__(self, address: Address, labels: Mapping[Element, str]) -> None:
        self._address = address
        self._labels = labels

    def blocks(self, element: Element, depth: int) -> Iterator[str]:
        """The blocks in an element; words between them are paragraphs."""
        if depth > _MOST_DEPTH:
            yield _escaped(" ".join("".join(element.itertext()).split()))
            return
        line = [_text(element.text)]
        for child in element:
            if _is_block(child) or _holds_blocks(child):
                yield _settled("".join(line))
                yield from self._block(child, depth + 1)
                line = [""]
            else:
                around = (line[-1][-1:], (child.tail or "")[:1])
                line.append(self._inline(child, depth + 1, around))
            line.append(_text(child.tail))
        yield _settled("".join(line))

    def _block(self, element: Element, depth: int) -> Iterator[str]:
        name = _name(element)
        if re.fullmatch("h[1-6]", name):
            yield f"{'#' * int(name[1])} {self._line(element, depth)}"
        elif name == "pre":
            yield _fenced(element)
        elif name == "hr":
            yield "---"
        elif name == "blockquote":
            yield _before(self.blocks(element, depth), "> ", "> ")
        elif name in ("ul", "ol"):
            yield self._list(element, depth)
        elif name == "table":
            yield from (f"*{self._line(each, depth)}*" for each in element.iter("caption"))
            yield self._table(element, depth)
        elif name in _LINES:
            yield _marked(self._line(element, depth), _MARKS[name])
        elif name == "math":
            yield _formula(element)
        else:
            yield from self.blocks(element, depth)

    def _list(self, element: Element, depth: int) -> str:
        start = element.get("start", "1")
        number = int(start) if start.isdecimal() and len(start) < 9 else 1
        made = []
        for item in element:
            mark = f"{number}. " if _name(element) == "ol" else "- "
            made.append(_before(self.blocks(item, depth), mark, " " * len(mark)))
            number += 1
        return "\n".join(made)

    def _table(self, element: Element, depth: int) -> str:
        rows = [[*row] for row in element.iter("tr")]
        cells = [cell for row in rows for cell in row]
        if not cells or any(_is_odd(each) for each in cells):
            return _whole(element)
        width = max(map(len, rows))
        lines = [[self._cell(cell, depth) for cell in row] for row in rows]
        lines = [row + [""] * (width - len(row)) for row in lines]
        lines.insert(1, ["---"] * width)
        return "\n".join(f"| {' | '.join(row)} |" for row in lines)

    def _cell(self, element: Element, depth: int) -> str:
        return _PIPE.sub(r"\\|", self._line(element, depth, between="<br>"))

    def _line(self, element: Element, depth: int, between: str = " ") -> str:
        """What an element holds, in one line, whatever it breaks."""
        lines = (" ".join(each.split()) for each in self._within(element, depth).split(_BREAK))
        return between.join(filter(None, lines))

    def _within(self, element: Element, depth: int) -> str:
        if depth > _MOST_DEPTH:
            return _text("".join(element.itertext()))
        parts = [_text(element.text)]
        for child in element:
            around = (parts[-1][-1:], (child.tail or "")[:1])
            inner = self._inline(child, depth + 1, around)
            parts += [f"{_BREAK}{inner}{_BREAK}" if _is_block(child) else inner, _text(child.tail)]
        return "".join(parts)

    def _inline(self, element: Element, depth: int, around: tuple[str, str]) -> str:
        """What stands in a line; ``around`` are the characters before and behind it."""
        match _name(element):
            case "br":
                return _BREAK
            case "img":
                return self._picture(element)
            case "code":
                return _code("".join(element.itertext()))
            case "math" | "svg":
                return _formula(element)
        return self._words(element, depth, around)

    def _words(self, element: Element, depth: int, around: tuple[str, str]) -> str:
        """An element around words, with the signs of what it is."""
        if element in self._labels or self._is_around_labels(element):
            return "".join(f"[^{self._labels[each]}]" for each in element.iter("a"))
        name = _name(element)
        within = self._within(element, depth)
        if name in _MARKS:
            return _marked(within, "" if _is_marked(element) else _MARKS[name], around)
        before, behind = self._signs(element, name)
        return _between(within, before, behind) if before else within

    def _signs(self, element: Element, name: str) -> tuple[str, str]:
        """What stands before and behind words; nothing where Markdown has no sign for it."""
        if name == "a":
            led = self._address(element.get("href", ""))
            return ("[", f"]({_link(led)})") if led else ("", "")
        if name in _KEPT_INLINE:
            return f"<{name}>", f"</{name}>"
        return "", ""

    def _is_around_labels(self, element: Element) -> bool:
        """Whether there is nothing in it but signs of notes, in brackets: each is raised itself."""
        if not len(element) or not all(each in self._labels for each in element):
            return False
        beside = [element.text, *(each.tail for each in element)]
        return all(_AROUND_LABEL.fullmatch(each or "") for each in beside)

    def _picture(self, element: Element) -> str:
        words = _escaped(" ".join(element.get("alt", "").split()))
        led = self._address(element.get("src", ""))
        return f"![{words}]({_link(led)})" if led else f"*{words or 'a picture that was not kept'}*"


def _text(text: str | None) -> str:
    return _escaped(_SPACES.sub(" ", text)) if text else ""


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text).replace("&", "&amp;")


def _settled(text: str) -> str:
    """A paragraph, none of whose lines begins as a list or a heading does."""
    lines = (line.strip() for line in text.strip().split("\n"))
    joined = "\n".join(lines).removesuffix("\\")
    return _LINE_START.sub(lambda found: f"{found[1]}{found[2][:-1]}\\{found[2][-1]}", joined)


def _marked(text: str, sign: str, around: tuple[str, str] = ("", "")) -> str:
    """Words between signs of emphasis, or between tags where signs would be none (CommonMark §6.2).

    They stand right at the words, and mean nothing between a letter and another sign.
    """
    words = text.strip()
    if not words or not sign:
        return text
    before = around[0] if text.startswith(words) else " "
    behind = around[1] if text.endswith(words) else " "
    if (_is_letter(before) and not _is_letter(words[0])) or (
        _is_letter(behind) and not _is_letter(words[-1])
    ):
        return _between(text, f"<{_TAGS[sign]}>", f"</{_TAGS[sign]}>")
    return _between(text, sign, sign)


def _is_letter(character: str) -> bool:
    """Whether it is neither space nor punctuation; nothing is neither."""
    if not character or character.isspace():
        return False
    return unicodedata.category(character)[0] not in "PS"


def _is_marked(element: Element) -> bool:
    """Whether it stands in what has the same sign already."""
    sign = _MARKS[_name(element)]
    return any(_MARKS.get(_name(each)) == sign for each in element.iterancestors())


def _between(text: str, before: str, behind: str) -> str:
    """Signs stand at words: spaces go out of them."""
    words = text.strip()
    if not words:
        return text
    start = text.index(words[0])
    return f"{text[:start]}{before}{words}{behind}{text[start + len(words) :]}"


def _before(blocks: Iterator[str], first: str, other: str) -> str:
    """Blocks with signs before their lines."""
    text = "\n\n".join(each for each in blocks if each.strip())
    lines = text.split("\n")
    rest = [f"{other}{line}".rstrip() for line in lines[1:]]
    return "\n".join([f"{first}{lines[0]}".rstrip(), *rest])


def _code(text: str) -> str:
    ticks = _ticks(text, 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}" if text.strip() else text


def _fenced(element: Element) -> str:
    text = "".join(element.itertext()).strip("\n")
    fence = _ticks(text, 3)
    classes = [each.get("class", "") for each in element.iter("code")]
    language = next(iter(classes), "").removeprefix("language-")
    named = language if re.fullmatch(r"[\w+#.-]{1,30}", language) else ""
    return f"{fence}{named}\n{text}\n{fence}"


def _ticks(text: str, least: int) -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _formula(element: Element) -> str:
    """LaTeX between dollars, where it is known and has none in it; else the element as it is.

    Nothing in it is HTML or a link: a page may give what it likes for a source, and LaTeX is the
    same with a space there.
    """
    sources = (
        each.text or "" for each in element.iter("annotation") if each.get("encoding") == TEX
    )
    lines = [line.strip() for line in next(sources, "").splitlines() if line.strip()]
    if not lines or any("$" in line or "%" in line for line in lines):
        return _whole(element)
    lines = [_HTML_OR_LINK.sub(r"\g<0> ", line) for line in lines]
    if _is_block(element):
        return "\n".join(["$$", *lines, "$$"])
    return f"${' '.join(lines)}$"


def _link(address: str) -> str:
    return "".join(address.split()).translate(_UNSAFE)


def _is_odd(cell: Element) -> bool:
    """Whether a cell is none of a table of Markdown."""
    spans = {cell.get("colspan", "1"), cell.get("rowspan", "1")} != {"1"}
    return spans or any(_name(each) in {"ul", "ol", "pre", "table"} for each in cell.iter())


def _whole(element: Element) -> str:
    """An element as HTML, on lines of which none is empty: an empty one would end it."""
    text: str = etree.tostring(element, encoding="unicode", method="html", with_tail=False)
    return re.sub(r"\n\s*\n", "\n", text)


def _is_block(element: Element) -> bool:
    name = _name(element)
    return name in _BLOCKS or (name == "math" and element.get("display") == "block")


def _holds_blocks(element: Element) -> bool:
    return any(_is_block(each) for each in element.iterdescendants())


def _name(element: Element) -> str:
    return element.tag if isinstance(element.tag, str) else ""
