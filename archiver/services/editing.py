"""Editing of user metadata."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from archiver.crawl.derived_rows import rebuild_stale
from archiver.db import edit_history, tags_and_lists
from archiver.db.engine import Database
from archiver.errors import InputError, NotFound
from archiver.formats.seeds import MAX_FOLDERS, MAX_NOTE, MAX_TAGS, MAX_TITLE, tidy_folder
from archiver.http.text_decoders import well_formed
from archiver.model.annotation import Annotation, AnnotationChange, tag_key
from archiver.model.listing import ListingQuery
from archiver.model.message import Message
from archiver.services.entries import clean_tags, find_entry
from archiver.services.search import matching_entries
from archiver.warc.segments import SegmentStore

MAX_NAMES = 100
"""Maximum number of tags or lists in one field of a change."""
MAX_REFS = 10_000
FEW = 250
"""Maximum number of changed entries whose search documents an edit updates immediately."""
BATCH = 1_000
"""Entries per transaction; between two transactions, other writers can take the write lock."""
MAX_TAGS_SHOWN = 10_000


@dataclass(frozen=True, slots=True)
class Edited:
    """Result of an edit.

    Attributes:
        id: number of the edit, which can be undone while it is one of the newest edits.
        found: number of selected entries.
        changed: number of changed entries.
    """

    id: int
    found: int
    changed: int


@dataclass(frozen=True, slots=True)
class TagInUse:
    """A tag, the number of its entries, and other tags that differ from it only in accents."""

    name: str
    entry_count: int
    similar: tuple[str, ...] = ()


class Editing:
    """Editing of entries and tags. ``on_changed`` is called after each change."""

    def __init__(
        self,
        db: Database,
        store: SegmentStore | None = None,
        on_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = db
        self._store = store
        self._on_changed = on_changed

    async def change(self, refs: Sequence[str], requested: AnnotationChange) -> Edited:
        """Change entries by hash_url or URL.

        Raises:
            NotFound: an entry does not exist; then no entry is changed.
            InputError: nothing to change, or an invalid value.
        """
        if len(refs) > MAX_REFS:
            raise InputError("You can change at most {most} entries at a time.", most=MAX_REFS)
        change = _checked(requested)
        async with self._db.read() as conn:
            numbers = [*dict.fromkeys([(await find_entry(conn, each))[0] for each in refs])]
        return await self.apply_to_all(row_id_batches(numbers), _function_of(change))

    async def change_matching(self, query: ListingQuery, requested: AnnotationChange) -> Edited:
        """Change all entries that match a query.

        Raises:
            InvalidQuery: the query can't be parsed.
            InputError: nothing to change, or an invalid value.
        """
        change = _checked(requested)
        async with self._db.read() as conn:
            batches = matching_entries(conn, query, limit=BATCH)
            return await self.apply_to_all(batches, _function_of(change))

    async def apply(self, ref: str, function: Callable[[Annotation], Annotation]) -> Edited:
        """Apply a function to the metadata of an entry.

        Raises:
            NotFound: there is no such entry, or ``function`` raises it.
            InputError: ``function`` raises it.
        """
        async with self._db.write() as conn:
            number, _ = await find_entry(conn, ref)
            edit_id = await edit_history.begin(conn, datetime.now(UTC))
            changed = await edit_history.change(
                conn, [number], lambda _, before: function(before), edit_id=edit_id
            )
            if not changed:
                await edit_history.forget(conn, edit_id)
        if changed:
            await self._remake(changed)
            self._on_changed()
        return Edited(edit_id, 1, changed)

    async def find(self, edit_id: int) -> Edited | None:
        """Return an edit; None if it can't be undone any more."""
        async with self._db.read() as conn:
            changed = await edit_history.size(conn, edit_id)
        return None if changed is None else Edited(edit_id, changed, changed)

    async def undo(self, edit_id: int) -> Edited:
        """Undo an edit, except for entries that were changed again since then.

        Raises:
            NotFound: the edit was undone already, or there were too many edits since then.
        """
        count = done = 0
        while True:
            async with self._db.write() as conn:
                if await edit_history.size(conn, edit_id) is None:
                    raise NotFound("This change was already undone, or is too old to undo.")
                put_back, looked_at = await edit_history.undo(conn, edit_id, most=BATCH)
                count, done = count + looked_at, done + put_back
                if looked_at < BATCH:
                    await edit_history.forget(conn, edit_id)
                    break
        self._on_changed()
        return Edited(edit_id, count, done)

    async def tags(self) -> list[TagInUse]:
        """Return the tags in use, sorted by name without regard to accents."""
        async with self._db.read() as conn:
            all_tags = await tags_and_lists.all_tags(conn, MAX_TAGS_SHOWN)
        similar: dict[str, list[str]] = {}
        for name, folded, _ in all_tags:
            similar.setdefault(folded, []).append(name)
        return [
            TagInUse(name, count, tuple(each for each in similar[folded] if each != name))
            for name, folded, count in all_tags
        ]

    async def rename_tag(self, name: str, new: str) -> Edited:
        """Rename a tag, merging it with an existing one.

        Raises:
            InputError: the new name is empty or too long.
        """
        _check_name(name)
        cleaned = clean_tags([new])
        if not cleaned:
            raise InputError("Enter a name for the tag.")
        if tag_key(cleaned[0]) == tag_key(name):
            return await self._respell_tag(cleaned[0])
        change = AnnotationChange(with_tags=cleaned, without_tags=(name,))
        return await self.change_matching(ListingQuery(tag=name), change)

    async def _respell_tag(self, name: str) -> Edited:
        """Change the spelling of a tag in all its entries, for example its capitals."""

        def become(_: int, before: Annotation) -> Annotation:
            tags = (name if tag_key(each) == tag_key(name) else each for each in before.tags)
            return replace(before, tags=tuple(tags))

        async with self._db.read() as conn:
            batches = matching_entries(conn, ListingQuery(tag=name), limit=BATCH)
            edited = await self.apply_to_all(batches, become)
        # A tag has one spelling for all entries, so the first batch changes it for all of them.
        return replace(edited, changed=edited.found) if edited.changed else edited

    async def delete_tag(self, name: str) -> Edited:
        """Remove a tag from all entries.

        Raises:
            InputError: the name is empty.
        """
        _check_name(name)
        return await self.change_matching(
            ListingQuery(tag=name), AnnotationChange(without_tags=(name,))
        )

    async def _remake(self, changed: int) -> None:
        """Update search documents immediately if few entries changed."""
        if self._store and changed <= FEW:
            while await rebuild_stale(self._db, self._store):
                pass

    async def apply_to_all(
        self, batches: AsyncIterator[list[int]], function: Callable[[int, Annotation], Annotation]
    ) -> Edited:
        """Apply a function to the metadata of entries, batch by batch.

        Args:
            batches: yields batches of row ids; each batch is changed in one transaction.
            function: returns the new metadata, given the row id and the present metadata.

        Raises:
            InputError: ``function`` raises it; earlier batches stay changed.
        """
        async with self._db.write() as conn:
            edit_id = await edit_history.begin(conn, datetime.now(UTC))
        count = changed = 0
        async for refs in batches:
            async with self._db.write() as conn:
                changed += await edit_history.change(conn, refs, function, edit_id=edit_id)
            count += len(refs)
        if changed:
            await self._remake(changed)
            self._on_changed()
        else:
            async with self._db.write() as conn:
                await edit_history.forget(conn, edit_id)
        return Edited(edit_id, count, changed)


def _function_of(change: AnnotationChange) -> Callable[[int, Annotation], Annotation]:
    def become(_: int, before: Annotation) -> Annotation:
        after = change.applied(before)
        if len(after.tags) > max(MAX_TAGS, len(before.tags)):
            raise InputError(
                "{url_given} would have {count} tags; the limit is {most}.",
                url_given=before.url_given,
                count=len(after.tags),
                most=MAX_TAGS,
            )
        if len(after.folders) > max(MAX_FOLDERS, len(before.folders)):
            raise InputError(
                "{url_given} would be in {count} lists; the limit is {most}.",
                url_given=before.url_given,
                count=len(after.folders),
                most=MAX_FOLDERS,
            )
        return after

    return become


def _check_name(name: str) -> None:
    """Check that the name of a tag is not empty: an empty name would select all entries.

    Raises:
        InputError: the name is empty.
    """
    if not name.strip():
        raise InputError("Choose a tag.")


async def row_id_batches(numbers: Sequence[int], size: int = BATCH) -> AsyncIterator[list[int]]:
    """Yield row ids in batches, each for one transaction."""
    for start in range(0, len(numbers), size):
        yield [*numbers[start : start + size]]


def _checked(requested: AnnotationChange) -> AnnotationChange:
    """Validate the texts of a change.

    Raises:
        InputError: a text is too long, there are too many tags or lists, or nothing to change.
    """
    if requested.is_empty:
        raise InputError("Choose what to change: title, note, tags, lists, read or starred.")
    if any(
        isinstance(each, tuple) and len(each) > MAX_NAMES for each in asdict(requested).values()
    ):
        raise InputError("Each field can have at most {most} tags or lists.", most=MAX_NAMES)
    title, note = requested.title, requested.note
    change = replace(
        requested,
        title=title and checked_text(Message("title"), title, MAX_TITLE),
        note=note and checked_text(Message("note"), note, MAX_NOTE),
        tags=None if requested.tags is None else clean_tags(requested.tags),
        with_tags=clean_tags(requested.with_tags),
        folders=None if requested.folders is None else clean_paths(requested.folders),
        with_folders=clean_paths(requested.with_folders),
        without_folders=clean_paths(requested.without_folders),
    )
    if change.is_empty:
        raise InputError("Enter a name.")
    return change


def clean_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Return normalised paths of lists, without duplicates and empty paths."""
    return tuple(dict.fromkeys(filter(None, map(tidy_folder, paths))))


def checked_text(name: Message, text: str, most: int) -> str:
    """Return a text without surrounding spaces, and with LF as line ends; forms send CRLF.

    Raises:
        InputError: it has more than ``most`` characters.
    """
    if len(text) > most:
        raise InputError(
            "“{name}” is too long; the limit is {most} characters.", name=name, most=most
        )
    return well_formed(text.replace("\r\n", "\n").strip())
