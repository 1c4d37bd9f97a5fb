"""Statements that bring many rows up to date at once; ``{rows}`` stands for VALUES."""

SAVED = """
WITH fresh (id, more, page_title, latest, status, media_type, document_id, sort_at,
    rendering, score) AS ({rows})
UPDATE entry SET page_title = fresh.page_title, latest = fresh.latest, status = fresh.status,
    snapshot_count = snapshot_count + fresh.more, media_type = fresh.media_type, state = 'saved',
    rendering = fresh.rendering, score = fresh.score,
    failure = CASE WHEN EXISTS (
        SELECT 1 FROM attempt WHERE attempt.entry_id = fresh.id AND attempt.at > fresh.sort_at
    ) THEN failure END, sort_at = fresh.sort_at,
    document_id = coalesce(fresh.document_id, entry.document_id)
FROM fresh WHERE entry.id = fresh.id AND fresh.latest >= coalesce(entry.latest, 0)
"""
"""An entry with its newest snapshot."""

OLDER = """
WITH fresh (id, more, latest) AS ({rows})
UPDATE entry SET snapshot_count = snapshot_count + fresh.more, state = 'saved'
FROM fresh WHERE entry.id = fresh.id AND fresh.latest < entry.latest
"""
"""An entry that gets an older snapshot."""

READ = """
WITH fresh (id, title, byline, site, excerpt, language, published, extractor, article_segment_id,
    article_offset, article_length, metadata_segment_id, metadata_offset, metadata_length)
    AS ({rows})
UPDATE snapshot SET title = fresh.title, byline = fresh.byline, site = fresh.site,
    excerpt = fresh.excerpt, language = fresh.language, published = fresh.published,
    extractor = fresh.extractor, article_segment_id = fresh.article_segment_id,
    article_offset = fresh.article_offset, article_length = fresh.article_length,
    metadata_segment_id = fresh.metadata_segment_id, metadata_offset = fresh.metadata_offset,
    metadata_length = fresh.metadata_length
FROM fresh WHERE snapshot.id = fresh.id
"""
"""A snapshot whose article was read since."""

NAMED = """
WITH fresh (id, page_title, document_id) AS ({rows})
UPDATE entry SET page_title = fresh.page_title,
    document_id = coalesce(fresh.document_id, entry.document_id)
FROM fresh WHERE entry.id = fresh.id
"""
"""An entry by the words of that."""
