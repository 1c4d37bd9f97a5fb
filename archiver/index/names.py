"""Which of a few documents have a query's words in their names, told by reading these names."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import THESE
from archiver.index.dialect.functions import Gathered
from archiver.index.matching import is_open_ended
from archiver.index.schema import document, entry, entry_tag, tag
from archiver.query.forms import MOST_TERMS, forms_of
from archiver.query.tree import Node, Term, either, every
from archiver.query.words import fold, phrase_of, words_of


@dataclass(frozen=True, slots=True)
class Named:
    """Documents with the words in their names.

    Attributes:
        anywhere: those that have each in their title or tags.
        first: those of them whose title begins with the words.
    formed: others, that have some of the words in another form there.
    """

    anywhere: set[int]
    first: set[int]
    formed: set[int]


_TAGS = (
    select(func.aggregate_strings(tag.c.name, "\n"))
    .join(entry_tag, entry_tag.c.tag_id == tag.c.id)
    .where(entry_tag.c.entry_id == entry.c.id)
    .correlate(entry)
    .scalar_subquery()
)
_OWN = (
    select(document.c.id, entry.c.given_title, entry.c.page_title, _TAGS.label("tags"))
    .join(entry, entry.c.id == document.c.entry_id)
    .where(document.c.id.in_(THESE))
    .subquery()
)
_NAMES = select(*map(Gathered, _OWN.c))


async def named_among(
    conn: AsyncConnection, documents: Sequence[int], terms: Sequence[Term], words: Sequence[str]
) -> Named:
    """Which documents have all of some terms in their title or tags.

    Args:
        conn: a connection.
        documents: those that are read.
        terms: what is looked for, each in the one or in the other.
        words: what a title begins with that begins so; empty for none.
    """
    columns = (await conn.execute(_NAMES, {"these": documents})).one()
    forms_wanted = [forms_of(term) for term in terms]
    wanted = [[*map(_stretch_of, forms)] for forms in forms_wanted]
    letters = [[phrase_of(form.text) for form in forms] for forms in forms_wanted]
    beginning = _stretch(words, open_ended=False) if words else None
    anywhere, first, formed = set(), set(), set()
    for number, given, said, tags in zip(*(each or () for each in columns), strict=True):
        if not _may_have(fold(f"{given} {said} {tags or ''}"), letters):
            continue
        title = _stretch(words_of(" ".join(dict.fromkeys((given, said)))))
        names = title + _stretch(words_of(tags or ""))
        if all(term in names for term, *_ in wanted):
            anywhere.add(number)
            if beginning and title.startswith(beginning):
                first.add(number)
        elif _takes_forms(terms) and all(any(each in names for each in forms) for forms in wanted):
            formed.add(number)
    return Named(anywhere, first, formed)


def _may_have(names: str, letters: Sequence[Sequence[Sequence[str]]]) -> bool:
    """Whether of each term the words of a form are in a folded text: few names have to be split."""
    return all(any(all(word in names for word in form) for form in forms) for forms in letters)


def in_any_form(terms: Sequence[Term]) -> Node | None:
    """What has all of some terms, each in any of its forms; None where none is taken so."""
    forms = [*map(forms_of, terms)]
    if not _takes_forms(terms) or all(len(each) == 1 for each in forms):
        return None
    return every([either(each) for each in forms])


def _takes_forms(terms: Sequence[Term]) -> bool:
    return len(terms) <= MOST_TERMS


def _stretch_of(term: Term) -> str:
    return _stretch(phrase_of(term.text), open_ended=is_open_ended(term))


def _stretch(words: Sequence[str], *, open_ended: bool = False) -> str:
    """Words one after the other: a stretch of others if they follow each other there."""
    return f" {' '.join(words)}" + ("" if open_ended else " ")
