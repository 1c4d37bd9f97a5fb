"""Updates of entries and snapshots that recorded visits cause; each runs once for each row."""

from sqlalchemy import bindparam, case, exists, func, update

from archiver.index.schema import attempt, entry_table, snapshot_table
from archiver.index.table_registry import Number
from archiver.model.job import State

_IS_THIS = entry_table.c.id == bindparam("entry_id")
_NEWEST = bindparam("newest", type_=Number)
_SORT_AT = bindparam("new_sort_at", type_=Number)
_MORE = entry_table.c.snapshot_count + bindparam("more", type_=Number)
_DOCUMENT = func.coalesce(bindparam("new_document", type_=Number), entry_table.c.document_id)
_FAILED_SINCE = exists().where(attempt.c.entry_id == entry_table.c.id, attempt.c.at > _SORT_AT)

SAVED = (
    update(entry_table)
    .values(
        page_title=bindparam("new_title"),
        latest=_NEWEST,
        status=bindparam("new_status"),
        snapshot_count=_MORE,
        media_type=bindparam("new_media_type"),
        state=State.SAVED,
        rendering=bindparam("new_rendering"),
        score=bindparam("new_score"),
        failure=case((_FAILED_SINCE, entry_table.c.failure)),
        sort_at=_SORT_AT,
        document_id=_DOCUMENT,
    )
    .where(_IS_THIS, func.coalesce(entry_table.c.latest, 0) <= _NEWEST)
)
"""Update an entry to its newest snapshot."""
SAVED_PARAMETERS = (
    *("entry_id", "more", "new_title", "newest", "new_status", "new_media_type"),
    *("new_document", "new_sort_at", "new_rendering", "new_score"),
)

OLDER = (
    update(entry_table)
    .values(snapshot_count=_MORE, state=State.SAVED)
    .where(_IS_THIS, entry_table.c.latest > _NEWEST)
)
"""Count a snapshot of an entry that is older than its newest."""
OLDER_PARAMETERS = ("entry_id", "more", "newest")

_SAID = (
    *("title", "byline", "site", "excerpt", "language", "published", "canonical"),
    "extractor",
    *("article_segment_id", "article_offset", "article_length"),
    *("metadata_segment_id", "metadata_offset", "metadata_length"),
)
READ = (
    update(snapshot_table)
    .values({name: bindparam(f"new_{name}") for name in _SAID})
    .where(snapshot_table.c.id == bindparam("snapshot_id"))
)
"""Update a snapshot whose article was extracted again."""
READ_PARAMETERS = ("snapshot_id", *(f"new_{name}" for name in _SAID))

NAMED = (
    update(entry_table)
    .values(page_title=bindparam("new_title"), document_id=_DOCUMENT)
    .where(_IS_THIS)
)
"""Update an entry to the title and the document of that article."""
NAMED_PARAMETERS = ("entry_id", "new_title", "new_document")
