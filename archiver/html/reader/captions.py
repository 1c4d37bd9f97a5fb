"""Captions stand in the figure that they are of, one in each, before all in it or behind."""

from lxml.etree import _Element as Element

from archiver.html.reader.tree import around, lead_with, lengths, remove

_CAPTIONED = ("img", "svg", "video", "audio", "table", "pre", "math", "blockquote")


def settle_captions(root: Element) -> None:
    """Make the captions of an article valid (HTML §4.4.12); one that is of nothing is a block."""
    loose = [each for each in root.iter("figcaption") if _figure_of(each) is None]
    sizes = lengths(root) if loose else {}
    pictured = around(root.iter(*_CAPTIONED)) if loose else set()
    for caption in loose:
        if _figure_of(caption) is None:
            _find_figure(caption, sizes, pictured)
    for figure in root.iter("figure"):
        _settle_figure(figure)


def _figure_of(caption: Element) -> Element | None:
    return next(caption.iterancestors("figure"), None)


def _find_figure(caption: Element, sizes: dict[Element, int], pictured: set[Element]) -> None:
    """What a caption stands beside, or in with a picture and nothing to read, is its figure."""
    above = caption.getparent()
    for beside in (caption.getprevious(), caption.getnext()):
        if beside is not None and beside.tag == "figure" and beside.find(".//figcaption") is None:
            remove(caption)
            caption.tail = None
            beside.append(caption)
            return
    is_all = sizes[above] == sizes[caption]
    if above.tag == "div" and is_all and above in pictured:
        above.tag = "figure"
    else:
        caption.tag = "div"


def _settle_figure(figure: Element) -> None:
    captions = [each for each in figure.iter("figcaption") if _figure_of(each) is figure]
    for caption in captions[1:]:
        caption.tag = "div"
    if not captions:
        return
    caption = captions[0]
    if next(figure.iter("figcaption", *_CAPTIONED)) is caption:
        lead_with(figure, caption)
    else:
        remove(caption)
        caption.tail = None
        figure.append(caption)
