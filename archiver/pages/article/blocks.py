"""Normalisation of lists, tables and paragraphs of an article."""

from collections.abc import Container
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.elements import BLOCKS, OUTLINED, PHRASING, TRANSPARENT
from archiver.pages.article.tree import outermost, remove, unwrap


def is_phrasing(element: Element) -> bool:
    """Return whether an element is phrasing content."""
    if element.tag in PHRASING:
        return True
    return element.tag in TRANSPARENT and all(
        each.tag in PHRASING or each.tag in TRANSPARENT for each in element.iterdescendants()
    )


def has_block(element: Element) -> bool:
    """Return whether an element contains a block."""
    return len(element) > 0 and next(element.iterdescendants(*BLOCKS), None) is not None


def part_at_breaks(root: Element) -> None:
    """Split text into paragraphs wherever two or more line breaks follow each other."""
    set_as_is = _within_pre(root)
    for first in list(root.iter("br")):
        if first.getparent() is None or first in set_as_is:
            continue
        following, count = first, 0
        while _is_break_after(following):
            after = following.getnext()
            if count:
                remove(following)
            following, count = after, count + 1
        if count:
            if following is not first:
                _drop_break(following)
            _begin_paragraph(first)


def wrap_loose_text(block: Element) -> None:
    """Wrap each run of text and phrasing content between blocks in a paragraph."""
    run: Element | None = None
    if block.text and block.text.strip():
        run = etree.Element("p")
        run.text, block.text = block.text, None
        block.insert(0, run)
    for child in list(block):
        if child is run:
            continue
        if is_phrasing(child):
            run = _take_in(run, child)
        else:
            run = None
            if child.tail and child.tail.strip():
                run = etree.Element("p")
                run.text, child.tail = child.tail, None
                child.addnext(run)


def _within_pre(root: Element) -> set[Element]:
    return {each for pre in outermost(root, "pre") for each in pre.iter("br")}


def _take_in(run: Element | None, child: Element) -> Element | None:
    """Add a child to the run, or start a run. Line breaks without text never start a run."""
    if run is not None:
        run.append(child)
        return run
    tail = child.tail
    if child.tag == "br" and not (tail and tail.strip()):
        return None
    run = etree.Element("p")
    child.addprevious(run)
    run.append(child)
    return run


def _is_break_after(element: Element) -> bool:
    following = element.getnext()
    is_alone = not (element.tail and element.tail.strip())
    return is_alone and following is not None and following.tag == "br"


def _drop_break(element: Element) -> None:
    if element.getparent() is not None:
        remove(element)


def _begin_paragraph(first: Element) -> None:
    """Replace a line break by a paragraph with the content up to the next pair of line breaks."""
    paragraph = etree.Element("p")
    paragraph.text = first.tail
    first.tail = None
    first.getparent().replace(first, paragraph)
    following = paragraph.getnext()
    while following is not None and is_phrasing(following):
        if following.tag == "br" and _is_break_after(following):
            break
        after = following.getnext()
        paragraph.append(following)
        following = after
    while len(paragraph) and paragraph[-1].tag == "br" and not (paragraph[-1].tail or "").strip():
        paragraph.remove(paragraph[-1])
    parent = paragraph.getparent()
    if parent.tag == "p":
        parent.tag = "div"


_PLAIN_PHRASING = frozenset({"span", "rt", "ruby", "time", "q", "bdo"})
"""Phrasing elements that need not be applied to the blocks inside them."""

_FILLED = frozenset({"p", "div", "li", "dd", "td"})
_MAX_NAMES = 4
"""Maximum number of phrasing elements that are pushed into a block, since a page may nest many."""


def unwrap_blocks(phrases: list[Element]) -> dict[Element, str]:
    """Turn phrasing elements that contain blocks into blocks, innermost first.

    Return the former names of the elements, without those in ``_PLAIN_PHRASING``.
    """
    opened = {}
    for phrase in reversed(phrases):
        if phrase.tag not in _PLAIN_PHRASING:
            opened[phrase] = phrase.tag
        _make_block(phrase)
        if phrase in opened:
            wrap_loose_text(phrase)
    return opened


def wrap_content(
    elements: list[Element], opened: dict[Element, str], holding: Container[Element]
) -> None:
    """Wrap the content of blocks in the phrasing elements that were around the blocks.

    Args:
        elements: all elements of the article in document order.
        opened: the result of ``unwrap_blocks``.
        holding: the elements that contain blocks; they are not wrapped themselves.
    """
    around: dict[Element, tuple[str, ...]] = {}
    for element in elements:
        names = around.get(element.getparent(), ())
        name = opened.get(element)
        if name is not None and name not in names and len(names) < _MAX_NAMES:
            names = (*names, name)
        if names:
            around[element] = names
    for element, names in around.items():
        if element.tag in _FILLED and element not in holding and (element.text or len(element)):
            _fill(element, names)


def _make_block(phrase: Element) -> None:
    phrase.tag = "div"
    for name, value in phrase.attrib.items():
        if name not in {"id", "lang", "dir"} or not value:
            del phrase.attrib[name]


def _fill(block: Element, names: tuple[str, ...]) -> None:
    """Wrap the content of a block in elements with these names, from outermost to innermost."""
    for name in reversed(names):
        inner = etree.Element(name)
        inner.text, block.text = block.text, None
        inner.extend(list(block))
        block.append(inner)


MANY_ROWS = 10
MANY_COLUMNS = 4
MANY_CELLS = 10
_MARKS = frozenset({"col", "colgroup", "tfoot", "thead", "th"})


@dataclass(slots=True)
class _Table:
    """Statistics of a table without the tables nested in it."""

    is_marked: bool = False
    is_nesting: bool = False
    rows: int = 0
    columns: int = 0


def find_data(root: Element) -> set[Element]:
    """Return the tables that contain data: tables with header markup, and large tables."""
    tables = {each: _Table(is_marked=_is_marked(each)) for each in root.iter("table")}
    for element in root.iter("table", "tr", *_MARKS) if tables else ():
        around = tables.get(next(element.iterancestors("table"), root))
        if around is not None:
            _count(around, element)
    return {each for each, cells in tables.items() if _is_data(each, cells)}


def _is_marked(table: Element) -> bool:
    caption = table.find("caption")
    has_caption = caption is not None and (len(caption) > 0 or bool((caption.text or "").strip()))
    return bool(table.get("summary")) or has_caption


def _count(table: _Table, element: Element) -> None:
    if element.tag in _MARKS:
        table.is_marked = True
    elif element.tag == "table":
        table.is_nesting = True
    else:
        table.rows += _span(element, "rowspan")
        table.columns = max(table.columns, sum(_span(cell, "colspan") for cell in element))


def _is_data(element: Element, table: _Table) -> bool:
    if element.get("role") == "presentation" or element.get("datatable") == "0":
        return False
    if table.is_marked:
        return True
    if table.is_nesting or table.columns == 1 or table.rows == 1:
        return False
    is_large = table.rows >= MANY_ROWS or table.columns > MANY_COLUMNS
    return is_large or table.rows * table.columns > MANY_CELLS


def _span(element: Element, name: str) -> int:
    value = element.get(name) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 4 else 1


_LISTS = frozenset({"ul", "ol"})
_DEFINED = frozenset({"dt", "dd"})


def normalise_lists(root: Element) -> None:
    """Make every list of an article valid (HTML §4.4)."""
    for each in list(root.iter("dl")):
        _normalise_definitions(each)
    for part in list(root.iter("dt", "dd")):
        if part.getparent().tag != "dl":
            part.tag = "div"
    for each in list(root.iter("ul", "ol")):
        _normalise_items(each)
    for item in list(root.iter("li")):
        above = item.getparent()
        if above.tag not in _LISTS:
            _make_list(item)
        elif above.tag == "ul":
            item.attrib.pop("value", None)


def _normalise_items(holder: Element) -> None:
    """Put all content of a list into items; a nested list goes into the preceding item."""
    item = _take_text(holder, "li")
    for each in list(holder):
        child, tail = each, each.tail
        child.tail = None
        if child.tag == "li":
            item = None
        elif _holds_items(child):
            item = None
            child = _open(child)
        else:
            before = child.getprevious()
            if item is None and child.tag in _LISTS and before is not None and before.tag == "li":
                before.append(child)
            else:
                item = item if item is not None else _put_before(child, "li")
                item.append(child)
        if tail and tail.strip():
            item = _add_tail(holder, item, child, tail, "li")
        elif tail and child.getparent() is holder:
            child.tail = tail


def _holds_items(element: Element) -> bool:
    return element.tag not in _LISTS and element.find("li") is not None


def _open(element: Element) -> Element:
    """Unwrap an element between a list and its items; return the last of the items."""
    _normalise_items(element)
    last = element[-1]
    unwrap(element)
    return last


def _make_list(item: Element) -> None:
    """Wrap an item outside of a list, and the items that follow it, in a list."""
    holder = _put_before(item, "ul")
    following: Element | None = item
    while following is not None and following.tag == "li":
        item, following = following, following.getnext()
        if item.tail and item.tail.strip():
            tail, item.tail = item.tail, None
            holder.append(item)
            holder.tail = tail
            return
        holder.append(item)


def _normalise_definitions(holder: Element) -> None:
    if any(next(term.iter(*OUTLINED), None) is not None for term in holder.iter("dt")):
        _make_blocks(holder)
        return
    for group in holder.findall("div"):
        if group.find("dt") is None and group.find("dd") is None:
            group.tag = "dd"
        else:
            unwrap(group)
    _normalise_terms(holder)
    if not len(holder):
        holder.tag = "div"


def _make_blocks(holder: Element) -> None:
    """Turn a definition list into blocks, because its terms contain headings."""
    for part in [each for each in holder.iter("dt", "dd") if _list_of(each) is holder]:
        part.tag = "div"
    holder.tag = "div"


def _normalise_terms(group: Element) -> None:
    """Put loose content into definitions; add a missing first term or last definition."""
    item = _take_text(group, "dd")
    for child in list(group):
        tail, child.tail = child.tail, None
        if child.tag in _DEFINED:
            item = None
        else:
            item = item if item is not None else _put_before(child, "dd")
            item.append(child)
        if tail and tail.strip():
            item = _add_tail(group, item, child, tail, "dd")
        elif tail and child.getparent() is group:
            child.tail = tail
    _complete(group)


def _complete(group: Element) -> None:
    parts = [each for each in group if each.tag in _DEFINED]
    if parts and parts[0].tag == "dd":
        parts[0].addprevious(etree.Element("dt"))
    if parts and parts[-1].tag == "dt":
        added = etree.Element("dd")
        added.tail, parts[-1].tail = parts[-1].tail, None
        parts[-1].addnext(added)


def _list_of(part: Element) -> Element | None:
    return next(part.iterancestors("dl"), None)


def _take_text(holder: Element, tag: str) -> Element | None:
    """Move text before the first child into a new item; return the item."""
    if not (holder.text and holder.text.strip()):
        return None
    item = etree.Element(tag)
    item.text, holder.text = holder.text, None
    holder.insert(0, item)
    return item


def _add_tail(
    holder: Element, item: Element | None, child: Element, tail: str, tag: str
) -> Element:
    """Move text after a child into the current item, or into a new item; return the item."""
    if item is None:
        item = etree.Element(tag)
        at = child
        while at.getparent() is not holder:
            at = at.getparent()
        item.tail, at.tail = at.tail, None
        at.addnext(item)
    if child.getparent() is item:
        child.tail = tail
    elif len(item):
        item[-1].tail = (item[-1].tail or "") + tail
    else:
        item.text = (item.text or "") + tail
    return item


def _put_before(element: Element, tag: str) -> Element:
    """Insert a new element before an element; return the new element."""
    wrapper = etree.Element(tag)
    element.addprevious(wrapper)
    return wrapper
