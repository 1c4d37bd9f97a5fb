"""Data shown with search results: snippets, facets and spelling suggestions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from archiver.crawl.stored_content import article_html
from archiver.db import counters, screenshots, search_documents, spelling_candidates, tags_and_lists
from archiver.db.engine import AsyncConnection
from archiver.db.entries import Filters
from archiver.db.facets import FACETS, facets_of, facets_of_all
from archiver.db.search import SearchRequest
from archiver.db.snapshots import SnapshotRow
from archiver.errors import InvalidQuery, StoreError
from archiver.model.capture import Location, Timestamp
from archiver.model.entry import Entry
from archiver.model.listing import FacetValue, Summary
from archiver.model.page import PageMetadata
from archiver.model.rendering import NO_PREVIEW_IMAGES, PreviewImages
from archiver.pages.article_text import loose_start, loose_text
from archiver.search.query_parser import fits, parse_query
from archiver.search.query_tree import (
    EVERYTHING,
    Condition,
    FieldCondition,
    Node,
    Term,
    conjunction,
    conjuncts,
    query_text,
)
from archiver.search.snippets import SnippetPiece, snippet
from archiver.search.words import phrase_of
from archiver.services.result_iteration import ResultIteration
from archiver.warc.reader import StoredRecord
from archiver.warc.segments import SegmentReader, SegmentStore

_FIRST_PART = 8 << 10
"""Characters of an article's HTML that are searched before the whole article."""
Excerpt = tuple[tuple[SnippetPiece, ...], Timestamp | None]
"""An excerpt, and the timestamp of the earlier snapshot that has it; None for the newest."""


def excerpts_of(
    store: SegmentStore, snapshots: Sequence[Sequence[SnapshotRow]], tree: Node
) -> list[Excerpt]:
    """Return excerpts with matches for entries; blocking.

    Args:
        store: the segments.
        snapshots: snapshots of each entry, newest first.
        tree: the query.
    """
    read = SegmentReader(store).read
    return [_excerpt(read, each, tree) for each in snapshots]


def _excerpt(
    read: Callable[[Location], StoredRecord], snapshots: Sequence[SnapshotRow], tree: Node
) -> Excerpt:
    """Return an excerpt of the newest article with a match, or the start of the newest article."""
    begins: tuple[SnippetPiece, ...] = ()
    seen = set()
    for n, each in enumerate(snapshots):
        place = each.snapshot.article
        if place is None or place in seen:
            continue
        seen.add(place)
        excerpt = _article_snippet(_html(read, place), each.snapshot.title, tree)
        if any(piece.is_match for piece in excerpt):
            return excerpt, each.snapshot.timestamp if n else None
        begins = begins or excerpt
    return begins, None


def _article_snippet(html: str, title: str, tree: Node) -> tuple[SnippetPiece, ...]:
    """Return the snippet of an article, from its first part if that has all query words."""
    if len(html) > _FIRST_PART:
        text = _without_title(loose_start(html, _FIRST_PART), title)
        if excerpt := snippet(text, tree, is_cut=True):
            return excerpt
    return snippet(_without_title(loose_text(html), title), tree)


def _without_title(text: str, title: str) -> str:
    r"""Drop the first line of a text if the title contains it, because both are shown together.

    >>> _without_title("Red kites\nThey are back.", "Red kites | Birds")
    'They are back.'
    """
    first, _, body = text.lstrip().partition("\n")
    return body if body and first.strip().casefold() in title.casefold() else text


def _html(read: Callable[[Location], StoredRecord], place: Location) -> str:
    try:
        return article_html(read, place)
    except StoreError:
        return ""


MAX_CORRECTED = 4
_NAME_CONDITIONS = (Condition.TAG, Condition.LIST, Condition.SITE)


async def correction(conn: AsyncConnection, tree: Node) -> Node | None:
    """Return a query with corrected words, tags, lists and sites; None if nothing is corrected.

    Only names and words that do not exist in the archive are corrected.
    """
    nodes = list(conjuncts(tree))
    unknown = [
        n
        for n, node in enumerate(nodes)
        if isinstance(node, Term)
        and not node.prefix
        and len(words := phrase_of(node.text)) == 1
        and not await spelling_candidates.is_known(conn, words[0])
    ]
    is_better = False
    for n in unknown[:MAX_CORRECTED]:
        node = nodes[n]
        if isinstance(node, Term):
            nearest = await spelling_candidates.nearest_words(conn, phrase_of(node.text)[0])
            if nearest:
                nodes[n], is_better = replace(node, text=nearest), True
    named = [
        n
        for n, node in enumerate(nodes)
        if isinstance(node, FieldCondition) and node.condition in _NAME_CONDITIONS
    ]
    for n in named[:MAX_CORRECTED]:
        better = await _similar_name(conn, nodes[n])
        if better is not None:
            nodes[n], is_better = better, True
    return conjunction(nodes) if is_better else None


async def _similar_name(conn: AsyncConnection, node: Node) -> Node | None:
    """Return a condition with a similar tag, list or site.

    None is returned if the name in ``node`` exists, or no name is similar.
    """
    if not isinstance(node, FieldCondition) or not isinstance(node.value, str):
        return None
    name = await spelling_candidates.nearest_names(conn, node.condition, node.value)
    better = replace(node, value=name) if name else None
    return better if better and fits(better, query_text(better)) else None


MAX_COUNTED = 1000
"""Maximum number of results that are counted and used for facets."""


async def summary_of(conn: AsyncConnection, request: SearchRequest, typed: Node) -> Summary:
    """Return the number of a query's results, and their facets.

    Of a large result, only the newest ``MAX_COUNTED`` entries are counted, unless the index stores
    the count.

    Args:
        conn: a connection.
        request: the query.
        typed: the query as the user typed it, to which the links of facet values add a condition.
    """
    results = await ResultIteration(conn, request).page(None, MAX_COUNTED)
    facets = await facets_of(conn, results.entries)
    count, has_more = len(results.entries), results.continue_after is not None
    if has_more and (request.tree, request.filters) == (EVERYTHING, Filters()):
        counts = await counters.all_counters(conn)
        count, has_more = counts.get(counters.ENTRIES, 0), False
        of_all = await facets_of_all(conn, most=MAX_COUNTED)
        best = {each.field: each for each in (*facets, *of_all) if each.values}
        facets = tuple(best[each] for each in FACETS if each in best)
    elif has_more and (known_count := await _stored_tag_count(conn, request)):
        count, has_more = known_count, False
    narrowing = tuple(
        replace(each, values=tuple(_narrowing(each.field, value, typed) for value in each.values))
        for each in facets
    )
    sampled = len(results.entries) if results.continue_after is not None else 0
    return Summary(count, has_more, narrowing, sampled)


async def _stored_tag_count(conn: AsyncConnection, request: SearchRequest) -> int | None:
    """Return the stored number of entries with a tag, if the query is a single tag; else None."""
    tree, filters = request.tree, request.filters
    if not (isinstance(tree, FieldCondition) and tree.condition is Condition.TAG):
        return None
    name = str(tree.value)
    if filters not in (Filters(), Filters(tag=name)):
        return None
    return await tags_and_lists.count_of(conn, name, in_any_spelling=filters.tag is None)


def _narrowing(field: str, value: FacetValue, tree: Node) -> FacetValue:
    """Set the query of a facet value: the current query with the value's condition added.

    If the current query has the condition already, the condition is removed instead.
    """
    node = _condition(field, value.value)
    if node is None:
        return value
    conditions = [each for each in conjuncts(tree) if each != node]
    is_chosen = len(conditions) < len(conjuncts(tree))
    narrowed = conjunction(conditions if is_chosen else [*conditions, node])
    query = query_text(narrowed)
    return replace(value, query=query, is_chosen=is_chosen) if fits(narrowed, query) else value


@lru_cache(1024)
def _condition(field: str, value: str) -> Node | None:
    """Return the condition of a facet value; cached, since lists share the same values."""
    try:
        return parse_query(f'{field}:"{value}"')
    except InvalidQuery:
        return None


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry in a list.

    Attributes:
        entry: the entry.
        excerpt: excerpt of its text, with marked matches.
        page: metadata of its newest snapshot.
        word_count: number of words of its article; 0 if no article was extracted.
        found_at: timestamp of the earlier snapshot that has the excerpt; None for the newest.
        preview_images: favicon and preview image.
    """

    entry: Entry
    excerpt: tuple[SnippetPiece, ...] = ()
    page: PageMetadata = field(default_factory=PageMetadata)
    word_count: int = 0
    found_at: Timestamp | None = None
    preview_images: PreviewImages = NO_PREVIEW_IMAGES


async def shown_of(
    conn: AsyncConnection, entries: Mapping[int, Entry], newest: Mapping[int, SnapshotRow]
) -> dict[int, ListedEntry]:
    """Return list items of entries by row id.

    Args:
        conn: a connection.
        entries: the entries.
        newest: their newest snapshots, if any.
    """
    counts = await search_documents.word_counts(conn, [*entries])
    images = await screenshots.preview_images_of(conn, [each.row_id for each in newest.values()])
    items = {}
    for row, entry in entries.items():
        snapshot = newest.get(row)
        items[row] = ListedEntry(
            entry,
            page=snapshot.snapshot.metadata if snapshot else PageMetadata(),
            word_count=counts.get(row, 0),
            preview_images=images.get(snapshot.row_id, NO_PREVIEW_IMAGES)
            if snapshot
            else NO_PREVIEW_IMAGES,
        )
    return items
