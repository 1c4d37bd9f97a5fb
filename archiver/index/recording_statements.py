"""Statements that bring many rows up to date at once."""

from sqlalchemy import Column, Integer, case, exists, func, update

from archiver.index.bulk import given, over
from archiver.index.schema import attempt, entry, snapshot
from archiver.model.job import State

_NOW = given(
    "fresh",
    entry.c.id,
    Column("more", Integer),
    entry.c.page_title,
    entry.c.latest,
    entry.c.status,
    entry.c.media_type,
    entry.c.document_id,
    entry.c.sort_at,
    entry.c.rendering,
    entry.c.score,
)
_FAILED_SINCE = exists().where(attempt.c.entry_id == _NOW.c.id, attempt.c.at > _NOW.c.sort_at)
SAVED = over(
    _NOW,
    update(entry)
    .values(
        page_title=_NOW.c.page_title,
        latest=_NOW.c.latest,
        status=_NOW.c.status,
        snapshot_count=entry.c.snapshot_count + _NOW.c.more,
        media_type=_NOW.c.media_type,
        state=State.SAVED,
        rendering=_NOW.c.rendering,
        score=_NOW.c.score,
        failure=case((_FAILED_SINCE, entry.c.failure)),
        sort_at=_NOW.c.sort_at,
        document_id=func.coalesce(_NOW.c.document_id, entry.c.document_id),
    )
    .where(entry.c.id == _NOW.c.id, _NOW.c.latest >= func.coalesce(entry.c.latest, 0)),
)
"""An entry with its newest snapshot."""

_BEFORE = given("fresh", entry.c.id, Column("more", Integer), entry.c.latest)
OLDER = over(
    _BEFORE,
    update(entry)
    .values(snapshot_count=entry.c.snapshot_count + _BEFORE.c.more, state=State.SAVED)
    .where(entry.c.id == _BEFORE.c.id, _BEFORE.c.latest < entry.c.latest),
)
"""An entry that gets an older snapshot."""

_SAID = (
    *("title", "byline", "site", "excerpt", "language", "published", "canonical"),
    "extractor",
    *("article_segment_id", "article_offset", "article_length"),
    *("metadata_segment_id", "metadata_offset", "metadata_length"),
)
_READ = given("fresh", snapshot.c.id, *(snapshot.c[name] for name in _SAID))
READ = over(
    _READ,
    update(snapshot)
    .values({name: _READ.c[name] for name in _SAID})
    .where(snapshot.c.id == _READ.c.id),
)
"""A snapshot whose article was read since."""

_NAME = given("fresh", entry.c.id, entry.c.page_title, entry.c.document_id)
NAMED = over(
    _NAME,
    update(entry)
    .values(
        page_title=_NAME.c.page_title,
        document_id=func.coalesce(_NAME.c.document_id, entry.c.document_id),
    )
    .where(entry.c.id == _NAME.c.id),
)
"""An entry by the words of that."""
