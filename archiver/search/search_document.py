"""Search documents of entries."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from archiver.model.annotation import Annotation
from archiver.model.listing import Kind, SearchDocument, kind_of
from archiver.model.page import PageMetadata
from archiver.search.query_tree import Condition
from archiver.search.words import key, languages_of, months_of, sites_of, words_of

_LANGUAGE = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8})*", re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?(?!\d)", re.ASCII)


def findable(
    annotation: Annotation,
    metadata: PageMetadata,
    *,
    url: str,
    host: str,
    media_type: str,
    words: str,
    revision: int,
) -> SearchDocument:
    """What an entry is found by once a page was brought home.

    Args:
        annotation: what its person says of it.
        metadata: what the page says of itself.
        url: of the entry.
        host: of that.
        media_type: of the page.
        words: of its article, as ``indexed`` gives them.
        revision: of the annotation.
    """
    language = _language(metadata.language)
    word_count = words.count(" ") + bool(words)
    kind = kind_of(media_type, word_count)
    published = published_at(metadata.published)
    return SearchDocument(
        title=indexed(" ".join(dict.fromkeys((annotation.title, metadata.title)))),
        url=_indexed_address(url),
        note=indexed(remarks(annotation)),
        tags=indexed(" ".join(annotation.tags)),
        by=indexed(f"{metadata.byline} {metadata.site}"),
        text=words,
        keys=" ".join((*_given_keys(annotation, host), *_page_keys(kind, language, published))),
        word_count=word_count,
        language=language,
        published=int(published.timestamp()) if published else None,
        kind=kind,
        revision=revision,
    )


def unvisited(annotation: Annotation, *, url: str, host: str, revision: int) -> SearchDocument:
    """What an entry is found by that no page was brought home for."""
    return SearchDocument(
        title=indexed(annotation.title),
        url=_indexed_address(url),
        note=indexed(remarks(annotation)),
        tags=indexed(" ".join(annotation.tags)),
        keys=" ".join(_given_keys(annotation, host)),
        revision=revision,
    )


def _indexed_address(url: str) -> str:
    return indexed(url.partition("://")[2])


def remarks(annotation: Annotation) -> str:
    """What a person has written of an entry: the note, and highlights with theirs."""
    marked = (f"{each.quote}\n{each.note}" for each in annotation.highlights)
    return "\n".join((annotation.note, *marked))


def indexed(text: str) -> str:
    """The words of a text as the index takes them."""
    return " ".join(words_of(text)) if text else ""


def published_at(date: str) -> datetime | None:
    """The day of a date as a page gives it (ISO 8601), aware, UTC; None if it is none."""
    found = _DATE.match(date.strip())
    if not found:
        return None
    year, month, day = (int(part) if part else 1 for part in found.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _language(tag: str) -> str:
    tag = tag.strip().lower().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _given_keys(annotation: Annotation, host: str) -> list[str]:
    """The keys of what is known before there is a page."""
    return [
        *_keys(Condition.TAG, annotation.tags),
        *_keys(Condition.SITE, sites_of(host)),
        *_keys(Condition.ADDED, months_of(annotation.saved_at)),
    ]


def _page_keys(kind: Kind, language: str, published: datetime | None) -> list[str]:
    """The keys of what a page is."""
    return [
        key(Condition.TYPE, kind),
        *_keys(Condition.LANG, languages_of(language) if language else ()),
        *_keys(Condition.PUBLISHED, months_of(published) if published else ()),
    ]


def _keys(condition: Condition, values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(key(condition, value) for value in values))
