"""An article as Markdown (CommonMark, with GitHub's tables), as notes programs show it.

What Markdown has no sign for stays HTML where that is a word in a line (``<sub>``), or stands by
itself (formulas, tables with cells that span others); all else gives its content.
"""

import re
from collections.abc import Callable, Iterator
from html import unescape

from lxml import etree
from lxml.etree import _Element as Element
from lxml.html import HTMLParser, fragment_fromstring

from archiver.patterns import late_pattern

_MOST_DEPTH = 80
"""What is nested deeper gives its text."""
_MOST_PARSED = 200
"""What is nested deeper is not parsed: the parser would leave it out."""
_TAG = late_pattern(r'<(/?)([a-zA-Z][a-zA-Z0-9]*)(?:[^<>"]|"[^"]*")*>')
_VOID = frozenset("br col hr img source wbr".split())
_SPECIAL = late_pattern(r"([\\`*_\[\]<>#$|~^=])|%(?=%)")
_LINE_START = late_pattern(r"^(\s*)([-+]|\d{1,9}[.)])(?=\s|$)", re.MULTILINE)
_SPACES = late_pattern(r"[ \t\n\r\f]+")
_UNSAFE = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})
_MARKS = {"em": "*", "i": "*", "strong": "**", "b": "**", "del": "~~", "s": "~~"}
_KEPT_INLINE = frozenset("sub sup kbd mark u small".split())
_BLOCKS = frozenset(
    "address article aside blockquote details div dl dt dd figure figcaption footer h1 h2 h3 h4 h5 "
    "h6 header hr li main ol p pre section summary table ul".split()
)
Address = Callable[[str], str]


def to_markdown(html: str, address: Address = str) -> str:
    """An article as Markdown.

    Args:
        html: sanitised.
        address: where a link or a picture leads to; empty for nowhere.
    """
    if not html.strip():
        return ""
    if _depth(html) > _MOST_PARSED:
        return f"{_escaped(' '.join(unescape(_TAG.sub(' ', html)).split()))}\n"
    parser = HTMLParser(encoding="utf-8", huge_tree=True)
    body = fragment_fromstring(html.encode("utf-8", "replace"), "div", parser=parser)
    blocks = _Writer(address).blocks(body, 0)
    return "\n\n".join(each for each in blocks if each.strip()) + "\n"


def _depth(html: str) -> int:
    depth = deepest = 0
    for tag in _TAG.finditer(html):
        if tag[2] not in _VOID:
            depth += -1 if tag[1] else 1
            deepest = max(deepest, depth)
    return deepest


class _Writer:
    def __init__(self, address: Address) -> None:
        self._address = address

    def blocks(self, element: Element, depth: int) -> Iterator[str]:
        """The blocks in an element; words between them are paragraphs."""
        if depth > _MOST_DEPTH:
            yield _escaped(" ".join("".join(element.itertext()).split()))
            return
        line = [_text(element.text)]
        for child in element:
            if _name(child) in _BLOCKS or _holds_blocks(child):
                yield _settled("".join(line))
                yield from self._block(child, depth + 1)
                line = []
            else:
                line.append(self._inline(child, depth + 1))
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
            yield self._table(element, depth)
        elif name in ("dt", "summary"):
            yield f"**{self._line(element, depth)}**"
        elif name == "figcaption":
            yield f"*{self._line(element, depth)}*"
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
        lines = [[self._line(cell, depth) for cell in row] for row in rows]
        lines = [row + [""] * (width - len(row)) for row in lines]
        lines.insert(1, ["---"] * width)
        return "\n".join(f"| {' | '.join(row)} |" for row in lines)

    def _line(self, element: Element, depth: int) -> str:
        return " ".join(self._within(element, depth).split())

    def _within(self, element: Element, depth: int) -> str:
        if depth > _MOST_DEPTH:
            return _text("".join(element.itertext()))
        parts = [_text(element.text)]
        for child in element:
            parts += [self._inline(child, depth + 1), _text(child.tail)]
        return "".join(parts)

    def _inline(self, element: Element, depth: int) -> str:
        name = _name(element)
        match name:
            case "br":
                return "\\\n"
            case "img":
                return self._picture(element)
            case "code":
                return _code("".join(element.itertext()))
            case "math" | "svg":
                return _whole(element)
        before, behind = self._signs(element, name)
        within = self._within(element, depth)
        return _marked(within, before, behind) if before else within

    def _signs(self, element: Element, name: str) -> tuple[str, str]:
        """What stands before and behind words; nothing where Markdown has no sign for it."""
        if name == "a":
            led = self._address(element.get("href", ""))
            return ("[", f"]({_link(led)})") if led else ("", "")
        if name in _KEPT_INLINE:
            return f"<{name}>", f"</{name}>"
        return _MARKS.get(name, ""), _MARKS.get(name, "")

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


def _marked(text: str, before: str, behind: str) -> str:
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


def _holds_blocks(element: Element) -> bool:
    return any(_name(each) in _BLOCKS for each in element.iterdescendants())


def _name(element: Element) -> str:
    return element.tag if isinstance(element.tag, str) else ""
