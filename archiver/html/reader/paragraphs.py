"""Paragraphs that a page does not mark: text between line breaks, or loose in a ``div``."""

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.names import BLOCKS, PHRASING, TRANSPARENT
from archiver.html.reader.tree import outermost, remove


def is_phrasing(element: Element) -> bool:
    """Whether an element stands in a line of text."""
    if element.tag in PHRASING:
        return True
    return element.tag in TRANSPARENT and all(
        each.tag in PHRASING or each.tag in TRANSPARENT for each in element.iterdescendants()
    )


def has_block(element: Element) -> bool:
    """Whether there is a block anywhere in an element."""
    return len(element) > 0 and next(element.iterdescendants(*BLOCKS), None) is not None


def part_at_breaks(root: Element) -> None:
    """Make paragraphs of what two or more line breaks part."""
    set_as_is = _within_pre(root)
    for first in list(root.iter("br")):
        if first.getparent() is None or first in set_as_is:
            continue
        following, count = first, 0
        while _is_break_behind(following):
            after = following.getnext()
            if count:
                remove(following)
            following, count = after, count + 1
        if count:
            if following is not first:
                _drop_break(following)
            _begin_paragraph(first)


def wrap_loose_text(block: Element) -> None:
    """Put each run of text and phrasing in a block that holds blocks, too, into a paragraph."""
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
    """Add to the run, or begin one; no run begins with a line break."""
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


def _is_break_behind(element: Element) -> bool:
    following = element.getnext()
    is_alone = not (element.tail and element.tail.strip())
    return is_alone and following is not None and following.tag == "br"


def _drop_break(element: Element) -> None:
    if element.getparent() is not None:
        remove(element)


def _begin_paragraph(first: Element) -> None:
    """Turn a line break into a paragraph of what follows it, up to the next pair of breaks."""
    paragraph = etree.Element("p")
    paragraph.text = first.tail
    first.tail = None
    first.getparent().replace(first, paragraph)
    following = paragraph.getnext()
    while following is not None and is_phrasing(following):
        if following.tag == "br" and _is_break_behind(following):
            break
        after = following.getnext()
        paragraph.append(following)
        following = after
    while len(paragraph) and paragraph[-1].tag == "br" and not (paragraph[-1].tail or "").strip():
        paragraph.remove(paragraph[-1])
    parent = paragraph.getparent()
    if parent.tag == "p":
        parent.tag = "div"
