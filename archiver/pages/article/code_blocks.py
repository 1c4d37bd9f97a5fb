"""Normalisation of code blocks."""

import re
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.tree import outermost, remove, replace, text_in

MAX_NAME = 32
MIN_LINES, MIN_SIMILAR_LINES, _MAX_DIGITS = 2, 3, 6
_MAX_STYLE = 200
"""Number of characters of a ``style`` attribute that are searched."""

_NUMBERS = re.compile(r"[\d\s.:|]*")
_NUMBERED = re.compile(
    r"\b(?:line-?no(?:s|number)?|linenumbers?|line-?numbers?(?:-rows)?|line_numbers?|ln-num|gutter"
    r"|linenr|hljs-ln-numbers|hljs-ln-n|lineno|ln|crayon-nums|rouge-gutter|blob-num)\b"
)
_LINE = re.compile(r"\b(?:line|code-line|cl|crayon-line|view-line|token-line|blob-code-inner)\b")
_LANGUAGE = re.compile(
    r"\b(?:lang(?:uage)?-|highlight-source-|highlight-|brush:\s*|hl-|sourceCode\s+|src-)"
    r"([A-Za-z][A-Za-z0-9+#.-]{0,31})"
)
_NAME = re.compile(r"[a-z][a-z0-9+#.-]{0,31}")
_NO_LANGUAGE = frozenset("none text plain plaintext default output wrapper".split())
_MARKUP = frozenset(
    {"a", "img", "svg", "math", "sub", "sup", "em", "strong", "b", "i", "u", "mark"}
)
_CODE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:highlight|highlighter|linenums|geshi|geshifilter|code|codeblock|prettyprint"
    r"|syntaxhighlighter|dp-[a-z]+)(?:$|[\s_-])"
)
_BLANK_LINE = re.compile(r"^[ \u200b\ufeff]+$", re.MULTILINE)
_BLOCKS = frozenset("div li p ol ul table tbody thead tr".split())
_LINE_BLOCKS = ("div", "p", "li", "tr")
_PLAIN = _BLOCKS | frozenset("span code font br tt samp nobr td th".split())
_DISPLAYED = re.compile(r"display\s*:\s*(?:block|flex|grid|table-row|list-item)", re.IGNORECASE)


def normalise_code(body: Element) -> None:
    """Remove line numbers and buttons from code, and mark its language."""
    for table in list(body.iter("table")):
        if table.getparent() is not None:
            _normalise_table(table)
    for numbered in list(body.iter("ol")):
        if _is_code_list(numbered) and next(numbered.iterancestors("pre"), None) is None:
            numbered.tag = "pre"
    for pre in outermost(body, "pre"):
        _normalise_pre(pre)


def _is_code_list(numbered: Element) -> bool:
    """Return whether each item of a list is a line of code, according to class names."""
    above = numbered.getparent()
    names = f"{numbered.get('class') or ''} {above.get('class') or ''}"
    if not _CODE_NAMES.search(names[:_MAX_STYLE]) or len(numbered) < MIN_LINES:
        return False
    return next(numbered.iter("p", "pre", "ul", "h2", "h3"), None) is None


def _normalise_table(table: Element) -> None:
    """Replace a layout table with line numbers and code by a ``pre`` with the code."""
    if next(table.iterdescendants("table"), None) is not None:
        return
    rows = list(table.iter("tr"))
    before = table.getprevious()
    is_after_code = before is not None and before.tag == "pre" and not (len(before) or before.text)
    if is_after_code and next(table.iter("th"), None) is None:
        lines = [text_in(row[-1]).rstrip("\n") for row in rows if len(row)]
        remove(before)  # The HTML parser has moved the table out of this ``pre``.
        replace(table, _make_pre(lines, table))
        return
    cells = [[each for each in row if each.tag in {"td", "th"}] for row in rows]
    if len(rows) >= MIN_LINES and all(len(row) == 1 and _is_only_code(row[0]) for row in cells):
        replace(table, _make_pre([text_in(row[0]).strip("\n") for row in cells], table))
        return
    if not cells or any(len(row) != 2 for row in cells):
        return
    if not all(_is_numbers(numbers) for numbers, _ in cells):
        return
    if len(cells) == 1 and (inner := next(cells[0][1].iter("pre"), None)) is not None:
        inner.tail = None
        replace(table, inner)
    elif len(cells) == 1 and any(
        _LINE.search(each.get("class") or "") for each in cells[0][1].iter()
    ):
        replace(table, _make_pre(_lines(cells[0][1]), table))
    elif all(
        next(row[1].iter("pre", "code"), None) is not None or _is_code(row[1]) for row in cells
    ):
        replace(table, _make_pre([text_in(row[1]).strip("\n") for row in cells], table))


def _is_numbers(cell: Element) -> bool:
    named = _NUMBERED.search(cell.get("class") or "") is not None
    text = text_in(cell)
    return _NUMBERS.fullmatch(text) is not None and (named or text.strip() != "")


def _is_code(cell: Element) -> bool:
    return "code" in (cell.get("class") or "")


def _is_only_code(cell: Element) -> bool:
    is_bare = not (cell.text or "").strip() and len(cell) == 1
    return is_bare and cell[0].tag == "code" and not (cell[0].tail or "").strip()


def _lines(cell: Element) -> list[str]:
    match = [each for each in cell.iter() if _LINE.search(each.get("class") or "")]
    return [text_in(each).rstrip("\n\xa0 ") for each in match]


def _make_pre(lines: list[str], table: Element) -> Element:
    pre = etree.Element("pre")
    pre.text = "\n".join(lines)
    if table.get("class"):
        pre.set("class", table.get("class"))
    return pre


def _normalise_pre(pre: Element) -> None:
    language = _language(pre)
    _drop_label(pre)
    for element in list(pre.iter("button", "input", "textarea", "span", "td", "i", "a", "div")):
        if element.getparent() is not None and _is_extra(element):
            remove(element)
    _normalise_lines(pre)
    if all(each.tag in _PLAIN for each in pre.iterdescendants()):
        text = _text_of(pre)
    elif any(each.tag in _MARKUP for each in pre.iterdescendants()):
        _separate_lines(pre)
        return
    else:
        text = text_in(pre)
    _rewrite(pre, text, language)


def _separate_lines(pre: Element) -> None:
    """Turn blocks that are lines into inline elements that end with a line break."""
    for line in list(pre.iterdescendants(*_LINE_BLOCKS)):
        if next(line.iterdescendants(*_LINE_BLOCKS), None) is None:
            line.tag = "span"
            if not text_in(line).endswith("\n"):
                line.tail = "\n" + (line.tail or "").removeprefix("\n")


def _normalise_lines(pre: Element) -> None:
    """Turn elements into blocks if each is a line of code without a line break after it.

    Line numbers at the start of these elements are removed.
    """
    holder = pre
    while len(holder) == 1 and not (holder.text or "").strip():
        holder = holder[0]
    lines = [each for each in holder if each.tag not in {"br", "tbody"}]
    between = "".join(filter(None, (holder.text, *(each.tail for each in lines))))
    if len(lines) < MIN_LINES or len(lines) < len(holder) or "\n" in between.strip(" \t"):
        return
    is_grid = "grid" in (holder.get("style") or "")[:_MAX_STYLE]
    if not (is_grid or all(_is_line(each, pre) for each in lines)) and (
        between or not _are_similar(lines)
    ):
        return
    for each in lines:
        each.tag = "div"
    first = [each[0] if len(each) > 1 and not (each.text or "").strip() else each for each in lines]
    numbers = [text_in(each).strip() for each in first]
    is_number = numbers[0].isdecimal() and len(numbers[0]) <= _MAX_DIGITS
    if is_number and numbers == [str(int(numbers[0]) + n) for n in range(len(lines))]:
        for each in first:
            remove(each)


def _are_similar(lines: list[Element]) -> bool:
    """Return whether each element is a line: all have the same class, and none has a line break.

    Parts of one line, such as keywords and names, have different classes.
    """
    names = {each.get("class") for each in lines}
    has_breaks = any("\n" in text for each in lines for text in each.itertext())
    return (
        len(lines) >= MIN_SIMILAR_LINES and len(names) == 1 and None not in names and not has_breaks
    )


def _is_line(element: Element, pre: Element) -> bool:
    if element.tag in _BLOCKS or (element.tag == "code" and element.getparent() is pre):
        return True
    if "data-line" in element.attrib:
        return True
    is_shown_so = _DISPLAYED.search((element.get("style") or "")[:_MAX_STYLE]) is not None
    return is_shown_so or _LINE.search(element.get("class") or "") is not None


def _drop_label(pre: Element) -> None:
    """Remove the name of the language that is shown above the code."""
    frame, label = pre.getparent(), pre.getprevious()
    if frame is None or label is None or label.tag not in {"span", "div"} or len(label):
        return
    named = _name_in(frame)
    if named and (label.text or "").strip().lower() == named and not (label.tail or "").strip():
        remove(label)


def _rewrite(pre: Element, text: str, language: str) -> None:
    is_code = bool(language) or next(pre.iter("code"), None) is not None
    tail, name = pre.tail, pre.get("id")
    pre.clear()
    pre.tail = tail
    if name:
        pre.set("id", name)
    holder = etree.SubElement(pre, "code") if is_code else pre
    holder.text = _BLANK_LINE.sub("", text.replace("\xa0", " ")).strip("\n")
    if language:
        holder.set("class", f"language-{language}")


def _is_extra(element: Element) -> bool:
    if element.tag in {"button", "input", "textarea"}:
        return True
    if not _NUMBERED.search(element.get("class") or ""):
        is_target = element.get("id") or element.get("name")
        return element.tag == "a" and not is_target and not text_in(element).strip()
    return _NUMBERS.fullmatch(text_in(element)) is not None


def _text_of(pre: Element) -> str:
    """Return the text of a code block, with a line for each block element."""
    pieces: list[str] = []
    for piece in _pieces(pre):
        if piece == "\r":
            if pieces and not pieces[-1].endswith("\n"):
                pieces.append("\n")
        elif piece:
            pieces.append(piece)
    return "".join(pieces)


def _pieces(pre: Element) -> Iterator[str]:
    """Yield pieces of text in order, and a carriage return where a block begins or ends."""
    walk = etree.iterwalk(pre, events=("start", "end"))
    for event, element in walk:
        is_block = element.tag in _BLOCKS and element is not pre
        if event == "start":
            if element.tag == "br":
                yield "\n"
            elif is_block:
                yield "\r"
            yield element.text or ""
        else:
            if is_block:
                yield "\r"
            if element is not pre:
                yield element.tail or ""


def _language(pre: Element) -> str:
    """Return the language named by the attributes of a code block or the elements around it."""
    inner = next(pre.iter("code"), None)
    above = pre.getparent()
    further = above.getparent() if above is not None else None
    for element in (inner, pre, above, further):
        if element is None:
            continue
        if (name := _name_in(element)) and name not in _NO_LANGUAGE:
            return name
    return ""


def _name_in(element: Element) -> str:
    """Return the language named by an element's own attributes; empty if there is none."""
    language = element.get("data-lang") or element.get("data-language") or ""
    match = _LANGUAGE.search(element.get("class") or "")
    name = (language or (match[1] if match else "")).strip().lower().rstrip(";,.-")
    return name if _NAME.fullmatch(name) else ""
