"""Captions stand in the figure that they are of, one in each, before all in it or behind."""

from lxml.etree import _Element as Element

from archiver.html.reader.tree import lead_with, remove

_CAPTIONED = ("img", "svg", "video", "audio", "table", "pre", "math", "blockquote")


def settle_captions(root: Element) -> None:
    """Make the captions of an article valid (HTML §4.4.12); one that is of nothing is a block."""
    for caption in list(root.iter("figcaption")):
        if _figure_of(caption) is None:
            _find_figure(caption)
    for figure in root.iter("figure"):
        _settle_figure(figure)


def _figure_of(caption: Element) -> Element | None:
    return next(caption.iterancestors("figure"), None)


def _find_figure(caption: Element) -> None:
    """What a caption stands beside, or in with a picture and nothing to read, is its figure."""
    above = caption.getparent()
    for beside in (caption.getprevious(), caption.getnext()):
        if beside is not None and beside.tag == "figure" and beside.find(".//figcaption") is None:
            remove(caption)
            caption.tail = None
            beside.append(caption)
            return
    words = "".join(above.itertext()).split()
    is_all = words == "".join(caption.itertext()).split()
    if above.tag == "div" and is_all and next(above.iter(*_CAPTIONED), None) is not None:
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
