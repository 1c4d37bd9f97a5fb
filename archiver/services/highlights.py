"""Highlights of articles."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from archiver.db import entries
from archiver.db.engine import Database
from archiver.errors import InputError, NotFound
from archiver.formats.entry_markdown import highlights_markdown
from archiver.model.annotation import (
    MAX_HIGHLIGHTS,
    MAX_QUOTE,
    MAX_REMARK,
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
    FieldCondition,
    IsValue,
    Node,
    Not,
    Term,
    conjunction,
    disjunction,
    negate,
    positive_terms,
    query_text,
)
from archiver.search.query_tree import Any as AnyOf
from archiver.search.snippets import match_positions
from archiver.services.editing import Editing, checked_text
from archiver.services.entries import Entries, SnapshotDetail
from archiver.services.reader_view import shown_article
from archiver.services.search import Search, matching_entries
from archiver.warc.metadata_records import CONTEXT, write_web_annotation

PAGE = 200


@dataclass(frozen=True, slots=True)
class HighlightedEntry:
    """An entry with its matching highlights."""

    entry: Entry
    highlights: tuple[Highlight, ...]


@dataclass(frozen=True, slots=True)
class HighlightList:
    """A page of highlights by entry; ``after`` is the cursor of the next page."""

    items: tuple[HighlightedEntry, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class Highlighted:
    """A new or changed highlight, and the edit to undo it with."""

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
        """Highlight a passage of an entry's article.

        Args:
            ref: hash_url or URL of the entry.
            quote: the passage; whitespace may differ from the article.
            start: character offset in the text of the article.
            colour: one of ``Colour``.
            note: the user's note on the passage.
            timestamp: timestamp of the snapshot; None for the newest snapshot.

        Raises:
            NotFound: there is no such entry, or it has no article.
            InputError: the passage is empty or too long, or the colour is invalid.
        """
        words = checked_text(Message("words"), quote, MAX_QUOTE)
        if not words:
            raise InputError("Select the text to highlight.")
        detail = await self._entries.snapshot(ref, timestamp)
        if not detail.article:
            raise NotFound("This page has no text to highlight.")
        highlight = await asyncio.to_thread(_highlight, detail, words, start)
        remark = checked_text(Message("note"), note, MAX_REMARK)
        highlight = replace(highlight, colour=_colour(colour), note=remark)
        edited = await self._editing.apply(ref, lambda before: _adding(before, highlight))
        return Highlighted(highlight, edited.id)

    async def change(
        self, ref: str, key: str, *, colour: str | None = None, note: str | None = None
    ) -> Highlighted:
        """Change the colour or note of a highlight; None leaves it unchanged.

        Raises:
            NotFound: there is no such entry or highlight.
            InputError: the colour is invalid, or the note is too long.
        """
        changes: dict[str, Any] = {} if colour is None else {"colour": _colour(colour)}
        if note is not None:
            changes["note"] = checked_text(Message("note"), note, MAX_REMARK)
        changed: list[Highlight] = []

        def change(before: Highlight) -> list[Highlight]:
            changed[:] = [replace(before, **changes)]
            return changed

        edited = await self._editing.apply(ref, _replacing(key, change))
        return Highlighted(changed[0], edited.id)

    async def remove(self, ref: str, key: str) -> int:
        """Delete a highlight; return the edit to undo it with.

        Raises:
            NotFound: there is no such entry or highlight.
        """
        edited = await self._editing.apply(ref, _replacing(key, lambda _: ()))
        return edited.id

    async def listing(self, q: str = "", after: str = "", limit: int = 50) -> HighlightList:
        """Return highlights by entry, most recently saved entries first.

        Args:
            q: search in highlights and notes.
            after: cursor from the previous page; empty for the first page.
            limit: entries per page, 1 to 200.

        Raises:
            InvalidQuery: the search can't be parsed.
            InputError: the cursor or the limit is invalid.
        """
        query = _query(q)
        page = await self._search.listing(replace(query, sort="newest", after=after, limit=limit))
        tree = parse_query(q)
        items = [_with_matching_highlights(each.entry, tree) for each in page.items]
        return HighlightList(tuple(items), page.after)

    async def all(self, q: str = "") -> AsyncIterator[HighlightedEntry]:
        """Yield all entries with highlights, for an export."""
        tree = parse_query(q)
        async with self._db.read() as conn:
            async for batch in matching_entries(conn, _query(q), limit=PAGE):
                by_id = await entries.by_ids(conn, batch)
                for each in batch:
                    if each in by_id:
                        yield _with_matching_highlights(by_id[each], tree)

    async def markdown(self, q: str = "") -> AsyncGenerator[str, None]:
        """Yield all highlights as Markdown, by entry."""
        yield "# Highlights\n\n"
        async for each in self.all(q):
            yield highlights_markdown(each.entry, each.highlights)

    async def web_annotations(self, q: str = "") -> AsyncGenerator[str, None]:
        """Yield all highlights as one page of W3C Web Annotations (JSON-LD)."""
        between = f'{{"@context":"{CONTEXT}","type":"AnnotationPage","items":[\n'
        async for each in self.all(q):
            for one in each.highlights:
                document = write_web_annotation(one, each.entry.url)
                yield between + json.dumps(document, ensure_ascii=False)
                between = ",\n"
        yield "\n]}\n" if between == ",\n" else between + "]}\n"


def _query(q: str) -> ListingQuery:
    """Return the query for entries with highlights that match a search."""
    return ListingQuery(
        q=query_text(
            conjunction(
                [
                    FieldCondition(Condition.IS, IsValue.HIGHLIGHTED),
                    _in_notes_and_highlights(parse_query(q)),
                ]
            )
        )
    )


def _in_notes_and_highlights(node: Node) -> Node:
    """Restrict words of a query to notes and highlights."""
    if isinstance(node, Term):
        return node if node.column else replace(node, column=Column.NOTE)
    if isinstance(node, Not):
        return negate(_in_notes_and_highlights(node.node))
    if isinstance(node, All):
        return conjunction([_in_notes_and_highlights(each) for each in node.nodes])
    if isinstance(node, AnyOf):
        return disjunction([_in_notes_and_highlights(each) for each in node.nodes])
    return node


def _with_matching_highlights(entry: Entry, tree: Node) -> HighlightedEntry:
    """Return an entry with its matching highlights, or all if none matches."""
    marked = tuple(sorted(entry.annotation.highlights, key=lambda each: each.start))
    if not any(positive_terms(tree)):
        return HighlightedEntry(entry, marked)
    hit = tuple(each for each in marked if match_positions(f"{each.quote}\n{each.note}", tree))
    return HighlightedEntry(entry, hit or marked)


def _highlight(snapshot: SnapshotDetail, words: str, start: int | None) -> Highlight:
    """Locate a passage in an article; return it without a position if it is not found."""
    text = shown_article(snapshot).text
    now = datetime.now(UTC).replace(microsecond=0)
    highlight = Highlight(token_hex(8), words, made_at=now, timestamp=snapshot.snapshot.timestamp)
    if start is not None and text.startswith(words, start):
        place: tuple[int, int] | None = (start, start + len(words))
    else:
        place = look_up(text, words)
    if place is None:
        return highlight
    quote, prefix, suffix = quoted(text, *place)
    return replace(highlight, quote=quote, prefix=prefix, suffix=suffix, start=place[0])


def _replacing(
    key: str, change: Callable[[Highlight], Sequence[Highlight]]
) -> Callable[[Annotation], Annotation]:
    """Return a function that replaces one highlight."""

    def changed(before: Annotation) -> Annotation:
        if not any(each.id == key for each in before.highlights):
            raise NotFound("Highlight not found on this page.")
        remaining = [
            other
            for each in before.highlights
            for other in (change(each) if each.id == key else (each,))
        ]
        return replace(before, highlights=tuple(remaining))

    return changed


def _colour(name: str) -> Colour:
    if name not in set(Colour):
        raise InputError("The colour must be one of {known}.", known=", ".join(Colour))
    return Colour(name)


def _adding(before: Annotation, highlight: Highlight) -> Annotation:
    """Return an annotation with an additional highlight.

    Raises:
        InputError: the entry has the maximum number of highlights.
    """
    if len(before.highlights) >= MAX_HIGHLIGHTS:
        raise InputError("A page can have at most {most} highlights.", most=MAX_HIGHLIGHTS)
    return replace(before, highlights=(*before.highlights, highlight))
