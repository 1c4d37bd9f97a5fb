"""Search documents of entries."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from archiver.model.annotation import Annotation
from archiver.model.listing import Kind, SearchDocument, snapshot_kind
from archiver.model.page import PageMetadata
from archiver.search.query_tree import Condition
from archiver.search.words import index_key, languages_of, months_of, sites_of, words_of

_LANGUAGE = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8})*", re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?(?!\d)", re.ASCII)


def page_document(
    annotation: Annotation,
    metadata: PageMetadata,
    *,
    urls: Iterable[str],
    host: str,
    media_type: str,
    words: str,
    revision: int,
) -> SearchDocument:
    """Return the search document of an entry whose page was captured.

    Args:
        annotation: the user's metadata.
        metadata: the page's own metadata.
        urls: URL of the entry, and the final URL after redirects.
        host: host of the entry's URL.
        media_type: media type of the page.
        words: words of the article, as returned by ``index_words``.
        revision: revision of the annotation.
    """
    language = _language(metadata.language)
    word_count = words.count(" ") + bool(words)
    kind = snapshot_kind(media_type, word_count, host)
    published = published_at(metadata.published)
    return SearchDocument(
        title=index_words(" ".join(dict.fromkeys((annotation.title, metadata.title)))),
        url=" ".join(map(_indexed_url, dict.fromkeys((*urls, metadata.canonical)))).strip(),
        note=index_words(user_text(annotation)),
        tags=index_words(" ".join(annotation.tags)),
        by=index_words(f"{metadata.byline} {metadata.site}"),
        text=words,
        keys=" ".join(
            (*_annotation_keys(annotation, host), *_page_keys(kind, language, published))
        ),
        word_count=word_count,
        language=language,
        published=int(published.timestamp()) if published else None,
        kind=kind,
        revision=revision,
    )


def link_document(annotation: Annotation, *, url: str, host: str, revision: int) -> SearchDocument:
    """Return the search document of an entry without a captured page."""
    return SearchDocument(
        title=index_words(annotation.title),
        url=_indexed_url(url),
        note=index_words(user_text(annotation)),
        tags=index_words(" ".join(annotation.tags)),
        keys=" ".join(_annotation_keys(annotation, host)),
        revision=revision,
    )


def _indexed_url(url: str) -> str:
    return index_words(url.partition("://")[2])


def user_text(annotation: Annotation) -> str:
    """Return the text a user wrote about an entry: note, highlights and notes on highlights."""
    marked = (f"{each.quote}\n{each.note}" for each in annotation.highlights)
    return "\n".join((annotation.note, *marked))


def index_words(text: str) -> str:
    """Return the words of a text as they are stored in the index, separated by spaces."""
    return " ".join(words_of(text)) if text else ""


def published_at(date: str) -> datetime | None:
    """Parse the publication date in a page's metadata (ISO 8601) as UTC; None if it is invalid."""
    match = _DATE.match(date.strip())
    if not match:
        return None
    year, month, day = (int(part) if part else 1 for part in match.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _language(tag: str) -> str:
    tag = tag.strip().lower().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _annotation_keys(annotation: Annotation, host: str) -> list[str]:
    """Return the index keys of the user's metadata and of the host."""
    return [
        *_keys(Condition.TAG, annotation.tags),
        *_keys(Condition.SITE, sites_of(host)),
        *_keys(Condition.ADDED, months_of(annotation.saved_at)),
    ]


def _page_keys(kind: Kind, language: str, published: datetime | None) -> list[str]:
    """Return the index keys of the page's metadata."""
    return [
        index_key(Condition.TYPE, kind),
        *_keys(Condition.LANG, languages_of(language) if language else ()),
        *_keys(Condition.PUBLISHED, months_of(published) if published else ()),
    ]


def _keys(condition: Condition, values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(index_key(condition, value) for value in values))
