"""What is called a comment and is what the matter answers: in a live blog or a list of questions.

Comments on a text stand behind it. In one of several posts alike, what a reader asked stands before
the answer, in the same post.
"""

from itertools import chain, islice

from lxml.etree import _Element as Element

from archiver.html.reader.names import is_beside, named

FEWEST_POSTS = 3
MOST_LOOKED_AT = 50
"""Siblings, each way."""
_QUOTING = ("blockquote", "p")


def is_answered(element: Element) -> bool:
    """Whether something said stands before what is said to it, in one of several posts alike."""
    asked = element
    while (post := asked.getparent()) is not None and _is_comment(post):
        asked = post
    if post is None or not _is_comment(asked) or next(asked.iter(*_QUOTING), None) is None:
        return False
    behind = islice(asked.itersiblings(), MOST_LOOKED_AT)
    if not any(next(each.iter("p"), None) is not None and _is_likely(each) for each in behind):
        return False
    return any(_is_one_of_several(each) for each in (post, post.getparent()) if each is not None)


def _is_comment(element: Element) -> bool:
    return "comment" in named(element).lower()


def _is_likely(element: Element) -> bool:
    return not is_beside(named(element))


def _is_one_of_several(element: Element) -> bool:
    name = element.get("class")
    before = islice(element.itersiblings(preceding=True), MOST_LOOKED_AT)
    beside = chain(before, islice(element.itersiblings(), MOST_LOOKED_AT))
    alike = sum(each.tag == element.tag and each.get("class") == name for each in beside)
    return bool(name) and alike + 1 >= FEWEST_POSTS
