"""Highlights of articles."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_hex

from archiver.db import entries
from archiver.db.engine import Database
from archiver.errors import InputError, NotFound
from archiver.formats.entry_markdown import highlights_markdown
from archiver.http.text_decoders import well_formed
from archiver.model.annotation import (
    MOST_HIGHLIGHTS,
    MOST_QUOTE,
    MOST_REMARK,
    Annotation,
    Colour,
    Highlight,
)
from archiver.model.entry import Entry
from archiver.model.listing import ListingQuery
from archiver.model.message import Message
from archiver.pages.highlight_anchors import look_up, quoted
from archiver.search.query_parser import parse_query
from archiver.search.query_tree import (
    All,
    Column,
    Condition,
    Is,
    Mark,
    Node,
    Not,
    Term,
    conjunction,
    disjunction,
    negate,
    positive_terms,
    write,
)
from archiver.search.query_tree import Any as AnyOf
from archiver.search.snippets import match_positions
from archiver.services.editing import Editing
from archiver.services.entries import Entries, SnapshotDetail
from archiver.services.reader_view import article_of
from archiver.services.search import Search, matching_entries
from archiver.warc.annotation_json import CONTEXT, write_web_annotation

PAGE = 200


@dataclass(frozen=True, slots=True)
class HighlightedEntry:
    """An entry, and those of its highlights that were asked for."""

    entry: Entry
    highlights: tuple[Highlight, ...]


@dataclass(frozen=True, slots=True)
class HighlightList:
    """A page of what was marked, entry by entry; ``after`` is the cursor of the next."""

    items: tuple[HighlightedEntry, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class Highlighted:
    """A highlight that was made or changed, and the edit by which that can be undone."""

    highlight: Highlight
    edit_id: int


class Highlights:
    """Highlights of entries."""

    def __init__(self, db: Database, entries_: Entries, search: Search, editing: Editing) -> None:
        self._db = db
        self._entries = entries_
        self._search = search
        self._editing = editing

    async def add(
        self,
        ref: str,
        quote: str,
        *,
        start: int | None = None,
        colour: str = Colour.YELLOW,
        note: str = "",
        timestamp: str | None = None,
    ) -> Highlighted:
        """Mark words of an entry's article.

        Args:
            ref: hash_url or URL of the entry.
            quote: the words; their spaces need not be those of the article.
            start: where they begin in the text of the article as it is shown, in characters.
            colour: one of ``Colour``.
            note: what is said of them.
            timestamp: of the snapshot they are marked in; None for the newest.

        Raises:
            NotFound: there is no such entry, or it has no article.
            InputError: there are no words, they are too long, or the colour is none.
        """
        words = _checked(Message("words"), quote, MOST_QUOTE)
        if not words:
            raise InputError("Say which words are to be marked.")
        shown = await self._entries.snapshot(ref, timestamp)
        if not shown.article:
            raise NotFound("There is no text on this page to mark words in.")
        made = await asyncio.to_thread(_highlight, shown, words, start)
        remark = _checked(Message("note"), note, MOST_REMARK)
        made = replace(made, colour=_colour(colour), note=remark)
        edited = await self._editing.become(ref, lambda before: _with(before, made))
        return Highlighted(made, edited.id)

    async def change(
        self, ref: str, key: str, *, colour: str | None = None, note: str | None = None
    ) -> Highlighted:
        """Give a highlight another colour, or say something else of it; None leaves either.

        Raises:
            NotFound: there is no such entry or highlight.
            InputError: the colour is none, or the note is too long.
        """
        wanted = None if colour is None else _colour(colour)
        remark = None if note is None else _checked(Message("note"), note, MOST_REMARK)
        changed: list[Highlight] = []

        def other(each: Highlight) -> Highlight:
            after = replace(
                each,
                colour=each.colour if wanted is None else wanted,
                note=each.note if remark is None else remark,
            )
            changed.append(after)
            return after

        edited = await self._editing.become(ref, _each_of(key, lambda each: (other(each),)))
        return Highlighted(changed[-1], edited.id)

    async def remove(self, ref: str, key: str) -> int:
        """Take a highlight away; the edit by which that can be undone.

        Raises:
            NotFound: there is no such entry or highlight.
        """
        edited = await self._editing.become(ref, _each_of(key, lambda _: ()))
        return edited.id

    async def listing(self, q: str = "", after: str = "", limit: int = 50) -> HighlightList:
        """What was marked, of the entries that were saved last first.

        Args:
            q: a search; its words are looked for in highlights and notes.
            after: the cursor that the page before gave.
            limit: entries on a page, 1 to 200.

        Raises:
            InvalidQuery: the search can't be read.
            InputError: the cursor or the limit is not one.
        """
        query = _query(q)
        found = await self._search.listing(replace(query, sort="newest", after=after, limit=limit))
        tree = parse_query(q)
        items = [_narrowed(each.entry, tree) for each in found.items]
        return HighlightList(tuple(items), found.after)

    async def all(self, q: str = "") -> AsyncIterator[HighlightedEntry]:
        """The same of all entries, for an export."""
        tree = parse_query(q)
        async with self._db.read() as conn:
            async for some in matching_entries(conn, _query(q), limit=PAGE):
                found = await entries.by_ids(conn, some)
                for each in some:
                    if each in found:
                        yield _narrowed(found[each], tree)

    async def markdown(self, q: str = "") -> AsyncGenerator[str, None]:
        """All of them as Markdown, entry by entry."""
        yield "# Highlights\n\n"
        async for each in self.all(q):
            yield highlights_markdown(each.entry, each.highlights)

    async def web_annotations(self, q: str = "") -> AsyncGenerator[str, None]:
        """All of them as one page of W3C Web Annotations (JSON-LD)."""
        between = f'{{"@context":"{CONTEXT}","type":"AnnotationPage","items":[\n'
        async for each in self.all(q):
            for one in each.highlights:
                document = write_web_annotation(one, each.entry.url)
                yield between + json.dumps(document, ensure_ascii=False)
                between = ",\n"
        yield "\n]}\n" if between == ",\n" else between + "]}\n"


def _query(q: str) -> ListingQuery:
    """What finds entries with highlights in which words of a search stand."""
    return ListingQuery(
        q=write(conjunction([Is(Condition.IS, Mark.HIGHLIGHTED), _noted(parse_query(q))]))
    )


def _noted(node: Node) -> Node:
    """The same, but words that may stand anywhere stand in notes and highlights."""
    if isinstance(node, Term):
        return node if node.column else replace(node, column=Column.NOTE)
    if isinstance(node, Not):
        return negate(_noted(node.node))
    if isinstance(node, All):
        return conjunction([_noted(each) for each in node.nodes])
    if isinstance(node, AnyOf):
        return disjunction([_noted(each) for each in node.nodes])
    return node


def _narrowed(entry: Entry, tree: Node) -> HighlightedEntry:
    """An entry with the highlights that hold words of a search; with all, if none does."""
    marked = tuple(sorted(entry.annotation.highlights, key=lambda each: each.start))
    if not any(positive_terms(tree)):
        return HighlightedEntry(entry, marked)
    hit = tuple(each for each in marked if match_positions(f"{each.quote}\n{each.note}", tree))
    return HighlightedEntry(entry, hit or marked)


def _highlight(shown: SnapshotDetail, words: str, start: int | None) -> Highlight:
    """Words of an article with where they stand; as they were given, where they stand nowhere."""
    text = article_of(shown).text
    now = datetime.now(UTC).replace(microsecond=0)
    made = Highlight(token_hex(8), words, made_at=now, timestamp=shown.snapshot.timestamp)
    if start is not None and text.startswith(words, start):
        place: tuple[int, int] | None = (start, start + len(words))
    else:
        place = look_up(text, words)
    if place is None:
        return made
    quote, prefix, suffix = quoted(text, *place)
    return replace(made, quote=quote, prefix=prefix, suffix=suffix, start=place[0])


def _each_of(
    key: str, become: Callable[[Highlight], Sequence[Highlight]]
) -> Callable[[Annotation], Annotation]:
    """What puts others in the place of one highlight."""

    def changed(before: Annotation) -> Annotation:
        if not any(each.id == key for each in before.highlights):
            raise NotFound("There is no such highlight on this page.")
        kept = [
            other
            for each in before.highlights
            for other in (become(each) if each.id == key else (each,))
        ]
        return replace(before, highlights=tuple(kept))

    return changed


def _colour(name: str) -> Colour:
    if name not in set(Colour):
        raise InputError("A colour is one of {known}.", known=", ".join(Colour))
    return Colour(name)


def _with(before: Annotation, made: Highlight) -> Annotation:
    """An annotation with one more highlight.

    Raises:
        InputError: it has as many as it may.
    """
    if len(before.highlights) >= MOST_HIGHLIGHTS:
        raise InputError("{most} highlights of one page are the most.", most=MOST_HIGHLIGHTS)
    return replace(before, highlights=(*before.highlights, made))


def _checked(what: Message, text: str, most: int) -> str:
    if len(text) > most:
        raise InputError(
            "“{name}” is too long; {most} characters is the most.", name=what, most=most
        )
    return well_formed(text.replace("\r\n", "\n").strip())
