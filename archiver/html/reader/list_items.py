"""Lists hold items and nothing else; lists of definitions hold terms, each with a definition."""

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.models import OUTLINED
from archiver.html.reader.tree import unwrap

_LISTS = frozenset({"ul", "ol"})
_DEFINED = frozenset({"dt", "dd"})


def settle_lists(root: Element) -> None:
    """Make every list of an article one that is valid (HTML §4.4)."""
    for each in list(root.iter("dl")):
        _settle_definitions(each)
    for part in list(root.iter("dt", "dd")):
        if part.getparent().tag != "dl":
            part.tag = "div"
    for each in list(root.iter("ul", "ol")):
        _settle_items(each)
    for item in list(root.iter("li")):
        above = item.getparent()
        if above.tag not in _LISTS:
            _make_list(item)
        elif above.tag == "ul":
            item.attrib.pop("value", None)


def _settle_items(holder: Element) -> None:
    """Everything in a list stands in an item: a list in the one before it, the rest in its own."""
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
    """Take an element away that stands between a list and its items; give the last of them."""
    _settle_items(element)
    last = element[-1]
    unwrap(element)
    return last


def _make_list(item: Element) -> None:
    """An item outside of a list begins one, with the items that follow it."""
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


def _settle_definitions(holder: Element) -> None:
    if any(next(term.iter(*OUTLINED), None) is not None for term in holder.iter("dt")):
        _make_blocks(holder)
        return
    for group in holder.findall("div"):
        if group.find("dt") is None and group.find("dd") is None:
            group.tag = "dd"
        else:
            unwrap(group)
    _settle_terms(holder)
    if not len(holder):
        holder.tag = "div"


def _make_blocks(holder: Element) -> None:
    """What defines headings is no list of definitions: they would be lost."""
    for part in [each for each in holder.iter("dt", "dd") if _list_of(each) is holder]:
        part.tag = "div"
    holder.tag = "div"


def _settle_terms(group: Element) -> None:
    """Terms, then definitions; a term without one gets it empty, and the other way about."""
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
    """The text before the first child, in an item of its own."""
    if not (holder.text and holder.text.strip()):
        return None
    item = etree.Element(tag)
    item.text, holder.text = holder.text, None
    holder.insert(0, item)
    return item


def _add_tail(
    holder: Element, item: Element | None, child: Element, tail: str, tag: str
) -> Element:
    """Put text behind a child into the item of that child, or into one of its own."""
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
    """An element before another."""
    made = etree.Element(tag)
    element.addprevious(made)
    return made
