"""Articles as Markdown.

A formula becomes LaTeX between dollar signs if the page contains its LaTeX. A block becomes a
footnote if a link leads to the block and the block links back. Pandoc, GitHub and Obsidian read
both forms. Some elements have no Markdown syntax: inline elements such as ``<sub>``, other formulas
and tables with spanning cells are written as HTML; any other element is replaced by its content.

The tree is first reduced to elements that markdownify supports: blocks contain blocks or
paragraphs, and headings and table cells contain one line. All text is escaped, so that none of it
is read as Markdown or HTML.
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement
from markdownify import ATX, BACKSLASH, MarkdownConverter

from archiver.pages.article.formulas import TEX

REFERENCE = "footnote-ref"
"""Name of elements that replace links to footnotes; the attribute ``label`` names the note."""

_MAX_LINKS = 2_000
_MAX_MARK = 12
"""Maximum number of characters in a link to a note, such as *1*, *[12]* or *note 3*."""
_MAX_ELEMENTS = 200
"""Number of elements at which a block is too large for a note."""
_LEVELS = 4
"""Number of ancestors in which the block of a note, or the text around a link, is searched."""

_BLOCKS = frozenset({"li", "p", "div", "dd", "section", "aside", "blockquote"})
_VERBATIM = ["table", "pre", "code", "math", "svg", "h1", "h2", "h3", "h4", "h5", "h6"]
"""Elements in which links never refer to notes."""
_MARK_ELEMENTS = frozenset({"sup", "sub", "span", "small", "b", "strong", "i", "em"})
_BRACKETS = re.compile(r"[\s,;()\[\]]*")


def attribute(element: Tag, name: str) -> str:
    """Return the value of an attribute; empty if the element does not have it."""
    value = element.get(name)
    return value if isinstance(value, str) else ""


def extract_notes(root: Tag, prefix: str = "") -> dict[str, Tag]:
    """Remove notes from a tree, and replace the links to them by ``REFERENCE`` elements.

    The label of a note is ``prefix`` and a number.

    Returns:
        The notes by label, without their links back to the text.
    """
    # Elements are identified by id(), because Beautiful Soup compares them by content.
    positions = {id(element): at for at, element in enumerate(root.find_all(True))}
    links = [*_links(root)]
    notes: dict[int, Tag] = {}
    for link, target in links:
        is_new = id(target) not in notes and positions[id(target)] > positions[id(link)]
        if is_new and _is_reference_mark(link) and (note := _find_note(target, link, links)):
            notes[id(target)] = note
    labels: dict[int, str] = {}
    elements_by_id: dict[str, Tag] = {}
    for link, target in links:
        note = notes.get(id(target))
        if note and positions[id(link)] < positions[id(note)] and _is_reference_mark(link):
            label = labels.setdefault(id(note), f"{prefix}{len(labels) + 1}")
            elements_by_id[label] = note
            _put_reference(link, label)
    for note in elements_by_id.values():
        inside = {id(each) for each in note.find_all("a")}
        for link, target in links:
            if id(link) in inside and positions[id(target)] < positions[id(note)]:
                link.extract()
        note.extract()
    return elements_by_id


def _links(root: Tag) -> Iterator[tuple[Tag, Tag]]:
    """Yield the links within an article, each with its target element."""
    named: dict[str, Tag] = {}
    for element in root.find_all(id=True):
        named.setdefault(attribute(element, "id"), element)
    for link in root.find_all("a", limit=_MAX_LINKS) if named else ():
        page, mark, fragment = attribute(link, "href").partition("#")
        target = named.get(unquote(fragment)) if mark and not page else None
        if target is not None and target is not link:
            yield link, target


def _is_reference_mark(link: Tag) -> bool:
    """Return whether the text and position of a link are those of a reference to a note."""
    return 0 < len(link.get_text().strip()) <= _MAX_MARK and not link.find_parent(_VERBATIM)


def _find_note(target: Tag, link: Tag, links: list[tuple[Tag, Tag]]) -> Tag | None:
    """Return the block at a link's target if the block has a link back; else None."""
    for element in (target, *islice(target.parents, _LEVELS)):
        if element.name in _BLOCKS:
            if len(element.find_all(True, limit=_MAX_ELEMENTS)) == _MAX_ELEMENTS:
                return None
            inside = {id(each) for each in element.find_all("a")}
            if id(link) in inside:
                return None
            if any(id(each) in inside and _is_position_of(place, link) for each, place in links):
                return element
    return None


def _is_position_of(place: Tag, link: Tag) -> bool:
    """Return whether ``place``, the target of a link back, is at ``link``.

    That is the case if ``place`` is the link, an inline element around the link, or the element
    directly before one of these, or if ``place`` contains the link.
    """
    around = (link, *islice(link.parents, _LEVELS))
    signs = [each for each in around if each.name not in _BLOCKS]
    before = [each.find_previous_sibling() for each in signs]
    return any(place is each for each in (*signs, *before)) or _holds(place, link)


def _holds(element: Tag, inner: Tag) -> bool:
    return any(parent is element for parent in inner.parents)


def _put_reference(link: Tag, label: str) -> None:
    """Replace a link by a reference; remove a ``sup`` or brackets around the link."""
    reference = Tag(name=REFERENCE, attrs={"label": label})
    link.replace_with(reference)
    around = reference.parent
    if around is None or around.name not in _MARK_ELEMENTS:
        return
    is_whole = all(each.name == REFERENCE for each in around.find_all(True))
    if is_whole and _BRACKETS.fullmatch(around.get_text()):
        for text in around.find_all(string=True):
            text.extract()
        around.unwrap()


_MAX_DEPTH = 80
"""Maximum depth of elements; deeper elements are replaced by their text."""
_CONTAINERS = frozenset(
    "address article aside blockquote body dd details div dl figure footer header li main ol "
    "section table tbody td tfoot th thead tr ul".split()
)
_LINES = {"dt": "strong", "summary": "strong", "figcaption": "em", "caption": "em"}
"""Blocks that become one line, and the element that emphasises it."""
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_LINE_BLOCKS = _HEADINGS | _LINES.keys() | {"td", "th"}
_BLOCKS_MARKDOWN = (
    _CONTAINERS | _HEADINGS | frozenset({*_LINES, "hr", "p", "pre", "block-markdown"})
)
_AS_DIV = frozenset("address article aside body dd details dl figure footer header main".split())
_SAME = {"i": "em", "b": "strong", "s": "del", "samp": "code"}
_EMPHASIS = {"em": "*", "strong": "**", "del": "~~"}
_DRAWINGS = frozenset({"math", "svg"})
_NOT_IN_CELL = ["ul", "ol", "pre", "table"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>#$|~^=])|%(?=%)")
_LINE_START = re.compile(r"^(\s*)(-(?=-)|(?:[-+]|\d{1,9}[.)])(?=\s|$))", re.MULTILINE)
_UNSAFE = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})
_BREAK = "\\\n"
_PIPE = re.compile(r"(?<!\\)\|")
_HTML_OR_LINK = re.compile(r"<(?=[a-zA-Z/!?])|\](?=[(\[:])")
"""Start of text that programs without support for formulas would read as HTML or a link."""
Address = Callable[[str], str]


def to_markdown(html: str, address: Address = str, *, labelled: str = "") -> str:
    """Return an article as Markdown.

    Args:
        html: sanitised HTML.
        address: function that returns the target in the output, given the URL of a link or image.
            The target is empty if the output has none.
        labelled: prefix of footnote labels, for an output that contains several articles.
    """
    soup = BeautifulSoup(html, "html.parser", multi_valued_attributes=None)
    root = Tag(name="div")
    root.extend([*soup.contents])
    _limit_depth(root)
    notes = extract_notes(root, labelled)
    converter = _Converter(address)
    blocks = [converter.convert_soup(_reduced(root)).strip()]
    for label, note in notes.items():
        within = Tag(name="div")
        within.append(note)
        note.name = "div" if note.name == "li" else note.name
        text = converter.convert_soup(_reduced(within)).strip()
        blocks.append(_indented(text, f"[^{label}]: ", "    "))
    text = "\n\n".join(filter(None, blocks))
    return f"{text}\n" if text else ""


class _Converter(MarkdownConverter):
    """Converter of a reduced tree to Markdown."""

    def __init__(self, address: Address) -> None:
        super().__init__(
            heading_style=ATX,
            newline_style=BACKSLASH,
            table_infer_header=True,
            wrap=True,  # Line breaks in the source have no meaning.
            wrap_width=None,
        )
        self._address = address

    def escape(self, text: str, _within: set[str]) -> str:
        return _escaped(text)

    def convert_a(self, element: Tag, text: str, **_within: object) -> str:
        target = self._address(attribute(element, "href"))
        return _around_words(text, "[", f"]({_link(target)})") if target else text

    def convert_img(self, element: Tag, _text: str, **_within: object) -> str:
        words = _escaped(" ".join(attribute(element, "alt").split()))
        target = self._address(attribute(element, "src"))
        if not target:
            return f"*{words or 'image not archived'}*"
        return f"![{words}]({_link(target)})"

    def convert_br(self, _element: Tag, _text: str, **_within: object) -> str:
        return _BREAK

    def convert_code(self, element: Tag, _text: str, **_within: object) -> str:
        text = element.get_text()
        ticks = _backticks(text, 1)
        space = " " if text.startswith("`") or text.endswith("`") else ""
        words = " ".join(text.split())
        return f"{ticks}{space}{words}{space}{ticks}" if words else text

    def convert_pre(self, element: Tag, _text: str, **_within: object) -> str:
        text = element.get_text().strip("\n")
        fence = _backticks(text, 3)
        classes = [attribute(each, "class") for each in element.find_all("code", limit=1)]
        language = "".join(classes).removeprefix("language-")
        named = language if re.fullmatch(r"[\w+#.-]{1,30}", language) else ""
        return f"\n\n{fence}{named}\n{text}\n{fence}\n\n"

    def convert_em(self, element: Tag, text: str, **_within: object) -> str:
        return _emphasised(element, text)

    convert_strong = convert_em
    convert_del = convert_em

    def convert_sub(self, element: Tag, text: str, **_within: object) -> str:
        return _around_words(text, f"<{element.name}>", f"</{element.name}>")

    convert_sup = convert_mark = convert_u = convert_small = convert_sub
    convert_ruby = convert_rt = convert_rp = convert_sub

    def convert_kbd(self, element: Tag, _text: str, **_within: object) -> str:
        return _around_words(_escaped(element.get_text()), "<kbd>", "</kbd>")

    def convert_video(self, _element: Tag, text: str, **_within: object) -> str:
        return text

    def convert_p(self, _element: Tag, text: str, **_within: object) -> str:
        lines = [line.strip() for line in text.strip().split("\n")]
        joined = "\n".join(lines).removesuffix("\\")
        settled = _LINE_START.sub(
            lambda match: f"{match[1]}{match[2][:-1]}\\{match[2][-1]}", joined
        )
        return f"\n\n{settled}\n\n" if settled.strip("\\\n") else ""

    def convert_hN(self, n: int, _element: Tag, text: str, _within: set[str]) -> str:  # noqa: N802
        line = _one_line(text, " ")
        return f"\n\n{'#' * n} {line}\n\n" if line else ""

    def convert_li(self, element: Tag, text: str, **_within: object) -> str:
        mark = attribute(element, "mark")
        return f"{_indented(text.strip(), mark, ' ' * len(mark))}\n"

    def convert_td(self, _element: Tag, text: str, **_within: object) -> str:
        line = _PIPE.sub(r"\\|", _one_line(text, "<br>"))
        return f" {line} |"

    convert_th = convert_td

    def convert_inline_markdown(self, element: Tag, _text: str, **_within: object) -> str:
        return attribute(element, "text")

    def convert_block_markdown(self, element: Tag, _text: str, **_within: object) -> str:
        return f"\n\n{attribute(element, 'text')}\n\n"

    def convert_footnote_ref(self, element: Tag, _text: str, **_within: object) -> str:
        return f"[^{attribute(element, 'label')}]"


def _limit_depth(root: Tag) -> None:
    depths = {id(root): 0}
    for element in root.find_all(True):
        depth = depths.get(id(element.parent))
        if depth is None:
            continue  # An ancestor is already replaced by its text.
        if depth < _MAX_DEPTH:
            depths[id(element)] = depth + 1
        else:
            element.string = element.get_text()


def _reduced(root: Tag) -> Tag:
    """Reduce a tree to the elements that the converter supports."""
    for formula in _elements(root, _DRAWINGS):
        if not formula.find_parent([*_DRAWINGS]):
            _put_markdown(formula, _formula(formula), is_block=formula.get("display") == "block")
    for table in root.find_all("table"):
        _reduce_table(table)
    for line in _elements(root, _LINE_BLOCKS):
        _reduce_line(line)
    for element in _elements(root, _AS_DIV | _SAME.keys()):
        element.name = _SAME.get(element.name, "div")
    for element in _elements(root, _EMPHASIS):
        if element.find_parent(element.name):
            element.unwrap()
    for one in root.find_all(["ul", "ol"]):
        _reduce_list(one)
    _split_around_blocks(root)
    for container in (root, *_elements(root, {"div", "li", "blockquote"})):
        _wrap_lines(container)
    return root


def _elements(root: Tag, names: Container[str]) -> list[Tag]:
    """Return the elements with these names, faster than ``find_all``."""
    return [each for each in root.descendants if isinstance(each, Tag) and each.name in names]


def _put_markdown(element: Tag, text: str, *, is_block: bool) -> None:
    """Replace an element by an element whose text is written unchanged to the output."""
    name = "block-markdown" if is_block else "inline-markdown"
    element.replace_with(Tag(name=name, attrs={"text": text}))


def _reduce_table(table: Tag) -> None:
    """Normalise a table to one header row and rows of equal length, or write it as HTML."""
    for caption in table.find_all("caption"):
        table.insert_before(caption)
    rows = [row.find_all(["td", "th"], recursive=False) for row in table.find_all("tr")]
    if not any(rows) or any(_needs_html(cell) for row in rows for cell in row):
        _put_markdown(table, _as_html(table), is_block=True)
        return
    width = max(map(len, rows))
    head, body = Tag(name="thead"), Tag(name="tbody")
    for number, cells in enumerate(rows):
        row = Tag(name="tr")
        row.extend([*cells, *(Tag(name="td") for _ in range(width - len(cells)))])
        for cell in row.find_all(["td", "th"]):
            cell.name = "td" if number else "th"
        (body if number else head).append(row)
    table.clear()
    table.extend([head, body])


def _needs_html(cell: Tag) -> bool:
    """Return whether a cell has content or spans that a Markdown table cannot represent."""
    spans = {attribute(cell, "colspan") or "1", attribute(cell, "rowspan") or "1"}
    return spans != {"1"} or cell.find(_NOT_IN_CELL) is not None


def _reduce_line(line: Tag) -> None:
    """Replace blocks in a one-line block by line breaks; captions become emphasised paragraphs."""
    for block in _elements(line, _BLOCKS_MARKDOWN):
        block.insert_before(Tag(name="br"))
        block.insert_after(Tag(name="br"))
        if block.name == "block-markdown":
            block.name = "inline-markdown"
        else:
            block.unwrap()
    if line.name in _LINES:
        for each in line.find_all("br"):
            each.replace_with(" ")
        emphasis = Tag(name=_LINES[line.name])
        emphasis.extend([*line.contents])
        line.append(emphasis)
        line.name = "p"


def _reduce_list(element: Tag) -> None:
    """Put each child of a list into an item, and store the list marker in the item."""
    start = attribute(element, "start")
    number = int(start) if start.isdecimal() and len(start) < 9 else 1
    if not element.get_text(strip=True) and not element.find("img"):
        element.extract()  # All items of the list were notes.
        return
    for child in [*element.contents]:
        if not isinstance(child, Tag) and not str(child).strip():
            child.extract()
            continue
        item = (
            child if isinstance(child, Tag) and child.name == "li" else child.wrap(Tag(name="li"))
        )
        item["mark"] = f"{number}. " if element.name == "ol" else "- "
        number += 1


def _split_around_blocks(root: Tag) -> None:
    """Unwrap inline elements that contain blocks; paragraphs with blocks become containers."""
    holding: dict[int, Tag] = {}
    for block in _elements(root, _BLOCKS_MARKDOWN):
        for parent in block.parents:
            if parent is root or parent.name in _CONTAINERS:
                break
            holding[id(parent)] = parent
    for element in holding.values():
        if element.name in ("p", "pre"):
            element.name = "div"
        else:
            element.unwrap()


def _wrap_lines(container: Tag) -> None:
    """Wrap text between the blocks of a container in paragraphs."""
    run: list[PageElement] = []
    for child in [*container.contents, None]:
        is_block = child is None or (isinstance(child, Tag) and child.name in _BLOCKS_MARKDOWN)
        if not is_block and child is not None:
            run.append(child)
            continue
        if any(isinstance(each, Tag) or str(each).strip() for each in run):
            paragraph = Tag(name="p")
            run[0].insert_before(paragraph)
            paragraph.extend(run)
        run = []


def _formula(element: Tag) -> str:
    """Return a formula as LaTeX between dollar signs.

    Return HTML if the page has no LaTeX of the formula, or if the LaTeX contains ``$`` or ``%``.

    The page controls the LaTeX. A space is inserted where the LaTeX could be read as HTML or as a
    link; in LaTeX the space has no effect.
    """
    sources = element.find_all("annotation", encoding=TEX, limit=1)
    text = "".join(each.get_text() for each in sources)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or any("$" in line or "%" in line for line in lines):
        return _as_html(element)
    lines = [_HTML_OR_LINK.sub(r"\g<0> ", line) for line in lines]
    if element.get("display") == "block":
        return "\n".join(["$$", *lines, "$$"])
    return f"${' '.join(lines)}$"


def _as_html(element: Tag) -> str:
    """Return an element as HTML without empty lines, which would end an HTML block in Markdown."""
    return re.sub(r"\n\s*\n", "\n", str(element))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text).replace("&", "&amp;")


def _one_line(text: str, between: str) -> str:
    lines = (" ".join(each.split()) for each in text.split(_BREAK))
    return between.join(filter(None, lines))


def _emphasised(element: Tag, text: str) -> str:
    """Return emphasised text, with HTML tags where Markdown markers have no effect.

    A marker between a letter and punctuation has no effect (CommonMark §6.2).
    """
    words, sign = text.strip(), _EMPHASIS[element.name]
    if not words:
        return text
    before = _last_character(element.previous_sibling) if text.startswith(words) else " "
    behind = _first_character(element.next_sibling) if text.endswith(words) else " "
    if (_is_letter(before) and not _is_letter(words[0])) or (
        _is_letter(behind) and not _is_letter(words[-1])
    ):
        return _around_words(text, f"<{element.name}>", f"</{element.name}>")
    return _around_words(text, sign, sign)


def _last_character(element: PageElement | None) -> str:
    return element[-1:] if isinstance(element, NavigableString) else ""


def _first_character(element: PageElement | None) -> str:
    return element[:1] if isinstance(element, NavigableString) else ""


def _is_letter(character: str) -> bool:
    """Return whether a character is neither space nor punctuation."""
    if not character or character.isspace():
        return False
    return unicodedata.category(character)[0] not in "PS"


def _around_words(text: str, before: str, behind: str) -> str:
    """Put markers around text; spaces at its ends stay outside of the markers."""
    words = text.strip()
    if not words:
        return text
    start = text.index(words[0])
    return f"{text[:start]}{before}{words}{behind}{text[start + len(words) :]}"


def _indented(text: str, first: str, other: str) -> str:
    lines: Iterable[str] = text.split("\n")
    first_line, *further = lines
    return "\n".join(
        [f"{first}{first_line}".rstrip(), *(f"{other}{each}".rstrip() for each in further)]
    )


def _backticks(text: str, least: int) -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _link(address: str) -> str:
    return "".join(address.split()).translate(_UNSAFE)
