"""Removal of boilerplate.

Images, captions, data tables, code, formulas, quotations and definitions stay even if they contain
little text, unless the page marks their container as an advertisement, share bar, comments or
related links.
"""

import re
from dataclasses import dataclass

from lxml.etree import _Element as Element

from archiver.pages.article.blocks import find_data, has_block
from archiver.pages.article.elements import (
    FORM_CONTROLS,
    HEADINGS,
    SENTENCE,
    class_weight,
    is_named_by_its_heading,
    is_note,
    named,
)
from archiver.pages.article.scoring import Measure, take
from archiver.pages.article.tree import bottom_up, remove, text_in

SHORT = 500
MAX_CAPTION = 200

MAX_IN_BLOCK, MAX_IN_SENTENCE, MAX_IN_LINE, MAX_IN_CAPTION = 0.2, 0.33, 0.5, 0.6
"""Maximum link density of blocks, of blocks with sentences, of lines, and of captions, which cite
sources.
"""

SENTENCE_ENDS = (".", "。", "।")

MAX_LINKED = 0.75
"""Maximum link density of blocks whose class or id suggests content, such as lists of sources."""

NEARLY_ALL = 0.8
"""If more than this share of a block's text is in data tables, the block is kept."""

_CONDITIONAL = frozenset({"form", "fieldset", "table", "ul", "ol", "div", "section"})
_ASIDE = frozenset({"aside", "footer", "nav"})
_KEEPING = frozenset({"figure", "pre", "code", "math", "blockquote", "dl"})
"""Elements that are kept with all their descendants."""

_MAY_BE_NAVIGATION = frozenset({"div", "section", "ul", "ol", "p", "footer"})
_NAVIGATION = re.compile(
    r"(?:^|[\s_-])(?:nav(?:igation)?|(?:bread)?crumbs?)(?:$|[\s_-])", re.IGNORECASE
)
_PROSE = frozenset({"p", "blockquote", "ul", "ol", "dl", "pre", "figure", "table"}) | HEADINGS
_PROMOTED = re.compile(
    r"newsletter|subscri|sign-?up|donat|support|promo|sponsor|related|more|read|teaser|recirc"
    r"|(?:^|[\s_-])(?:ads?|cta)(?:$|[\s_-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Strictness of the removal.

    Attributes:
        conditional: whether to remove blocks because of their content, such as mostly links or form
            controls.
        weighted: whether class and id names count for or against a block.
    """

    conditional: bool = True
    weighted: bool = True


def remove_boilerplate(root: Element, rules: Rules, before: dict[Element, Measure]) -> Measure:
    """Remove boilerplate from an article; return the measure of the rest.

    ``before`` has the measures of elements before the removal. Those of unchanged elements are used
    again. The children of ``root`` are measured again, because ``Scores`` may have changed their
    tags.
    """
    data = find_data(root)
    keeping = _within_kept(root, data) | _between_paragraphs(root, before)
    measures: dict[Element, Measure] = {}
    changed = {root, *root}
    for element in bottom_up(root):
        is_data = element in data
        unchanged = None if is_data or element in changed else before.get(element)
        measure = unchanged or take(element, measures)
        if is_data:
            measure.tabled, measure.has_more = measure.text, True
        stays = is_data or element is root or element in keeping
        goes = not stays and _is_removable(element, measure, rules)
        if goes or unchanged is None:
            changed.add(element.getparent())
        if goes:
            remove(element)
        else:
            measures[element] = measure
    return measures[root]


def _within_kept(root: Element, data: set[Element]) -> set[Element]:
    """Return all descendants of data tables, notes and the elements in ``_KEEPING``."""
    within: set[Element] = set()
    for element in root.iterdescendants():
        if element in within:
            continue
        if element in data or element.tag in _KEEPING or _is_named_note(element):
            within.update(element.iterdescendants())
    return within


def _is_named_note(element: Element) -> bool:
    name = element.get("class")
    if not name or not is_note(name):
        return False
    return next(element.iter("select"), None) is None  # ``select``: caption settings of a player


def _is_removable(element: Element, measure: Measure, rules: Rules) -> bool:
    tag = element.tag
    if _is_navigation(element, measure):
        return True
    if tag in _CONDITIONAL:
        return rules.conditional and _is_boilerplate(element, measure, rules)
    if tag in _ASIDE:
        return not _is_note(element, measure)
    if tag == "p":
        return not measure.text and not measure.kept_empty
    return tag in FORM_CONTROLS


def _is_navigation(element: Element, measure: Measure) -> bool:
    """Return whether a short element is named as navigation, and all of its text is in links."""
    if element.tag not in _MAY_BE_NAVIGATION or not 0 < measure.text < SHORT or measure.pictures:
        return False
    if measure.linked < measure.text or measure.essential:
        return False
    return _NAVIGATION.search(named(element)) is not None


def _is_note(element: Element, measure: Measure) -> bool:
    """Return whether an ``aside`` or ``footer`` is a note by the author."""
    if is_note(named(element)) or (element.get("role") or "").startswith("doc-"):
        return True
    above = element.getparent()
    return above is not None and above.tag == "blockquote" and measure.text < SHORT


def _between_paragraphs(root: Element, before: dict[Element, Measure]) -> set[Element]:
    """Return the asides with few links between blocks of prose, such as quotations and boxes."""
    return {each for each in root.iter("aside") if _is_remark(each, before.get(each, Measure()))}


def _is_prose(element: Element) -> bool:
    """Return whether an element is a block of prose, or a section that begins with one."""
    if element.tag not in {"div", "section"}:
        return element.tag in _PROSE
    return len(element) > 0 and element[0].tag in _PROSE


def _is_remark(element: Element, measure: Measure) -> bool:
    around = (element.getprevious(), element.getnext())
    is_within = all(each is not None and _is_prose(each) for each in around)
    leads = measure.link_density >= MAX_IN_BLOCK or _PROMOTED.search(named(element))
    if not is_within or not measure.text or leads or class_weight(element) < 0:
        return False
    return next(element.iter(*FORM_CONTROLS), None) is None


def _is_boilerplate(element: Element, measure: Measure, rules: Rules) -> bool:
    """Return whether a block is boilerplate because of its content."""
    if is_note(named(element)):
        return False
    weight = class_weight(element) if rules.weighted else 0
    if measure.tabled > NEARLY_ALL * measure.text:
        return False
    is_probably_boilerplate = weight < 0 and not measure.essential and not _is_picture(measure)
    if is_probably_boilerplate and not is_named_by_its_heading(element):
        return True
    if measure.commas >= 10:
        return False
    if (measure.essential and measure.link_density < 0.5) or _is_wrapped_text(element, measure):
        return False
    return _is_made_of_links(element, measure, weight)


def _is_wrapped_text(element: Element, measure: Measure) -> bool:
    """Return whether a block is only the wrapper of a paragraph of the text.

    The paragraph is a sentence, or a line with few links next to lines of the same class, such as a
    step of instructions. Paragraphs without a wrapper are kept even if they consist of a link, so
    wrapped paragraphs are kept too. A title of a related page is not taken for a sentence, because
    it does not end with a full stop.
    """
    if len(element) != 1 or element[0].tag != "p" or (element.text or "").strip():
        return False
    paragraph = element[0]
    if measure.pictures or has_block(paragraph):
        return False
    if measure.link_density < MAX_IN_LINE and _is_among_lines(element):
        return True
    text = text_in(paragraph).rstrip()
    return measure.text > SENTENCE and text.endswith(SENTENCE_ENDS)


def _is_among_lines(element: Element) -> bool:
    """Return whether an element has an adjacent paragraph of the same class."""
    around = (element.getprevious(), element.getnext())
    name = element.get("class")
    return any(
        each is not None and each.tag == "p" and each.get("class") == name for each in around
    )


def _is_picture(measure: Measure) -> bool:
    """Return whether a block is an unlinked image with at most a caption.

    Many such blocks have the class ``media``, which counts against other blocks.
    """
    is_redirected_nowhere = measure.pictures > measure.linked_pictures and not measure.linked
    return is_redirected_nowhere and not measure.headed and measure.text <= MAX_CAPTION


def _is_made_of_links(element: Element, measure: Measure, weight: int) -> bool:
    is_list = element.tag in {"ul", "ol"} or measure.listed > 0.9 * measure.text
    if is_list and measure.items == measure.pictures > 0:
        return False
    return _is_mostly_controls(measure, is_list=is_list) or _is_linked(
        measure, weight, is_list=is_list
    )


def _is_mostly_controls(measure: Measure, *, is_list: bool) -> bool:
    if not is_list and measure.items - 100 > measure.paragraphs:
        return True
    if measure.controls > measure.paragraphs // 3:
        return True
    shows = measure.pictures > 0 or measure.embedded > 0
    return not shows and not measure.textish


def _is_linked(measure: Measure, weight: int, *, is_list: bool) -> bool:
    density = measure.link_density
    if not is_list and measure.headed < 0.9 * measure.text and measure.text < 25 and density > 0:
        return measure.pictures == 0 or measure.pictures > 2
    if measure.pictures > measure.linked_pictures:
        return False
    if not is_list and weight < 25 and density > _most_linked(measure):
        return True
    return weight >= 25 and density > MAX_LINKED


def _most_linked(measure: Measure) -> float:
    """Return the maximum link density of a content block; higher for captions and sentences."""
    if measure.pictures:
        return MAX_IN_CAPTION
    return MAX_IN_SENTENCE if measure.text - measure.linked > SENTENCE else MAX_IN_BLOCK
