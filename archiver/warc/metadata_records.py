"""Metadata records: user metadata of entries, lists and deletions as JSON.

An entry record ends each visit. It holds the user's metadata and the results of the visit, so that
the index can be rebuilt from the WARC files alone. Fields are only ever added, and readers ignore
unknown fields.

A deletion record lists deleted entries and snapshots. Their records may still exist in a segment.
The deletion record contains the hash of an entry's URL instead of the URL.

Entry records state which lists an entry is in (``Annotation.folders``). A lists record holds what
entry records cannot: empty lists, saved searches and the order of lists.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from archiver.errors import InvalidRecord
from archiver.http.text_decoders import well_formed
from archiver.http.timestamps import read_iso, write_iso
from archiver.model.annotation import Annotation, Colour, Highlight
from archiver.model.capture import HashUrl, RecordId, Timestamp
from archiver.model.deletion import DeletedEntry, DeletedSnapshot, Deletion, RemainingArticle
from archiver.model.entry_list import Arrangement, EntryList, ListColour
from archiver.model.failure import Failure, FailureKind
from archiver.model.page import Charset, PageMetadata
from archiver.model.rendering import (
    QualitySignals,
    Rendering,
    RenditionKind,
    RenditionRef,
    is_digest,
    known_limits,
)
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.warc.writer import iso_date

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_ID = "urn:archiver:highlight:"
_KNOWN_ID = re.compile(r"[0-9a-f]{16}")


def write_web_annotation(highlight: Highlight, source: str = "") -> dict[str, Any]:
    """Return a highlight as JSON, in the format of W3C Web Annotations.

    Args:
        highlight: the highlight.
        source: the URL of the page; empty if the enclosing document contains it.
    """
    quote: dict[str, Any] = {"type": "TextQuoteSelector", "exact": highlight.quote}
    for name in ("prefix", "suffix"):
        if value := getattr(highlight, name):
            quote[name] = value
    selectors = [quote]
    if highlight.start >= 0:
        end = highlight.start + len(highlight.quote)
        place = {"type": "TextPositionSelector", "start": highlight.start, "end": end}
        selectors.append(place)
    target: dict[str, Any] = {"selector": selectors, "styleClass": highlight.colour.value}
    if source:
        target["source"] = source
    if highlight.timestamp:
        target["state"] = {"type": "TimeState", "sourceDate": highlight.timestamp}
    document: dict[str, Any] = {"type": "Annotation", "id": _ID + highlight.id}
    if highlight.made_at:
        document["created"] = write_iso(highlight.made_at)
    document["motivation"] = "commenting" if highlight.note else "highlighting"
    if highlight.note:
        document["body"] = {"type": "TextualBody", "value": highlight.note, "format": "text/plain"}
    return document | {"target": target}


def read_web_annotation(document: Mapping[str, Any]) -> Highlight:
    """Read a highlight that ``write_web_annotation`` wrote.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: the document is invalid.
    """
    target = document["target"]
    selectors = {each["type"]: each for each in target["selector"]}
    quote = selectors["TextQuoteSelector"]
    place = selectors.get("TextPositionSelector", {})
    key = str(document["id"]).removeprefix(_ID)
    if not _KNOWN_ID.fullmatch(key):
        raise ValueError(f"invalid highlight id: {key[:80]}")
    created = document.get("created")
    return Highlight(
        id=key,
        quote=text_value(quote["exact"]),
        prefix=text_value(quote.get("prefix", "")),
        suffix=text_value(quote.get("suffix", "")),
        start=int(place.get("start", -1)),
        colour=Colour(target.get("styleClass", Colour.YELLOW)),
        note=text_value(document.get("body", {}).get("value", "")),
        made_at=read_iso(created) if created else None,
        timestamp=text_value(target.get("state", {}).get("sourceDate", "")),
    )


def write_annotation(annotation: Annotation) -> dict[str, Any]:
    """Return an annotation as JSON; empty fields are omitted."""
    return {
        name: _WRITERS[name](value) if name in _WRITERS else value
        for name in _FIELDS
        if (value := getattr(annotation, name))
    }


def read_annotation(document: Mapping[str, Any]) -> Annotation:
    """Read an annotation from JSON; unknown fields are ignored.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: the document is invalid.
    """
    return Annotation(
        **{name: _FIELDS[name](value) for name, value in document.items() if name in _FIELDS}
    )


def text_value(value: object) -> str:
    """Return a JSON value as well-formed text."""
    return value if type(value) is str and value.isascii() else well_formed(str(value))


_WRITERS: Mapping[str, Callable[[Any], Any]] = {
    "added_at": write_iso,
    "highlights": lambda value: [*map(write_web_annotation, value)],
}
_READERS: Mapping[Any, Callable[[Any], Any]] = {
    str: text_value,
    bool: bool,
    int: int,
    tuple[str, ...]: lambda value: tuple(map(text_value, value)),
    tuple[int, ...]: lambda value: tuple(map(int, value)),
    datetime | None: read_iso,
    tuple[Highlight, ...]: lambda value: tuple(map(read_web_annotation, value)),
}
_FIELDS = {each.name: _READERS[each.type] for each in fields(Annotation)}

FORMAT = "archiver/1"
MAX_NUMBER = 10**9
"""Upper limit for counts and sizes, since imported files may contain any number."""
_ALWAYS_WRITTEN = (
    *("timestamp", "capture_url", "capture_timestamp", "capture_record"),
    *("article", "article_of", "extractor"),
)
_DEFAULTS = {
    kind: {each.name: each.default for each in fields(kind)}
    for kind in (PageMetadata, Charset, QualitySignals)
}
"""Default values of the fields, by class and field name."""
_HASH_DIGITS = 32
_HEX = frozenset("0123456789abcdef")


@dataclass(slots=True)
class SnapshotRecord:
    """Result of a visit.

    Attributes:
        timestamp: when the URL was requested.
        capture_url, capture_timestamp, capture_record: URL, timestamp and record id of the final
            response.
        article: record id of the article's conversion record, if any.
        article_of: timestamp of the earlier snapshot of this entry that has the same article.
        extractor: version of the extractor that made the article.
        metadata: the page's own metadata.
        requisites: page requisites, each with its status or failure.
        charset: the encoding used to read the page, and the declared one.
        rendering: whether a browser rendered the page, or should have.
        renditions: conversion records of screenshots and other renderings.
        appearance: measurements that show how complete the page is.
        excluded_responses: record ids of responses that replay must not use, because they are
            partial or answer a request other than GET.
    """

    timestamp: Timestamp
    capture_url: str
    capture_timestamp: Timestamp
    capture_record: RecordId
    article: RecordId | None
    article_of: Timestamp | None
    extractor: str
    metadata: PageMetadata
    requisites: tuple[RequisiteOutcome, ...]
    charset: Charset = field(default_factory=Charset)
    rendering: Rendering = Rendering.NONE
    renditions: tuple[RenditionRef, ...] = ()
    appearance: QualitySignals = field(default_factory=QualitySignals)
    excluded_responses: tuple[RecordId, ...] = ()

    @property
    def conversions(self) -> list[RecordId]:
        """Record ids of the conversion records of this snapshot."""
        renditions = [each.record_id for each in self.renditions]
        return [self.article, *renditions] if self.article else renditions


@dataclass(slots=True)
class EntryRecord:
    """Metadata record of an entry: with a snapshot, with a failure, or after an edit.

    Attributes:
        at: when the attempt or edit was made (aware, UTC).
        hash_url, url: identifier and URL of the entry.
        annotation: the user's metadata.
        revision: number of edits; the record with the highest revision wins.
        snapshot: result of the visit.
        failure: why the visit failed.
        is_waiting: not captured yet; only set in exports.
        generation: how often the whole entry had been deleted before.
        is_link: stored as a link only, never captured.
    """

    at: datetime
    hash_url: HashUrl
    url: str
    annotation: Annotation
    revision: int = 0
    snapshot: SnapshotRecord | None = None
    failure: Failure | None = None
    is_waiting: bool = False
    generation: int = 0
    is_link: bool = False


def entry_record_uri(hash_url: HashUrl) -> str:
    """Return the WARC-Target-URI of an entry's records.

    It differs from the page's URL, because other tools index metadata and conversion records too.
    With the page's URL, they would replay such a record instead of the page.
    """
    return f"urn:archiver:{hash_url}"


def rendition_uri(hash_url: HashUrl, kind: RenditionKind) -> str:
    """Return the WARC-Target-URI of an entry's screenshots and other renderings."""
    return f"urn:archiver:{hash_url}:{kind}"


def article_uri(hash_url: HashUrl) -> str:
    """Return the WARC-Target-URI of an entry's articles."""
    return f"urn:archiver:{hash_url}:article"


def hash_of_uri(uri: str) -> HashUrl | None:
    """Return the hash_url in a record's WARC-Target-URI, or None.

    >>> hash_of_uri("urn:archiver:44abc2fd416f673b9c6ae0f5147726a9:article")
    '44abc2fd416f673b9c6ae0f5147726a9'
    """
    prefix, _, identifier = uri.partition("urn:archiver:")
    key = identifier.partition(":")[0]
    is_one = not prefix and len(key) == _HASH_DIGITS and set(key) <= _HEX
    return HashUrl(key) if is_one else None


def write_entry_record(entry_record: EntryRecord) -> dict[str, Any]:
    """Return the JSON document of an entry record."""
    entry = {
        "hash_url": entry_record.hash_url,
        "url": entry_record.url,
        "revision": entry_record.revision,
        **write_annotation(entry_record.annotation),
    }
    if entry_record.generation:
        entry["generation"] = entry_record.generation
    document: dict[str, Any] = {"format": FORMAT, "at": iso_date(entry_record.at), "entry": entry}
    if entry_record.snapshot:
        document["snapshot"] = _write_snapshot(entry_record.snapshot)
    if entry_record.failure:
        document["failure"] = _write_failure(entry_record.failure)
    if entry_record.is_waiting:
        document["waiting"] = True
    if entry_record.is_link:
        document["link"] = True
    return document


def read_entry_record(block: bytes) -> EntryRecord | None:
    """Read an entry record from a metadata record's block; None if the record is of another kind.

    Raises:
        InvalidRecord: the block has this format but invalid content.
    """
    try:
        document = json.loads(block)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    if "entry" not in document and ("deletion" in document or "lists" in document):
        return None
    try:
        return _read(document)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidRecord(
            f"A metadata record has a missing or invalid field: {error}."
        ) from error


def _read(document: dict[str, Any]) -> EntryRecord:
    entry = document["entry"]
    snapshot, failure = document.get("snapshot"), document.get("failure")
    return EntryRecord(
        at=read_iso(document["at"]),
        hash_url=HashUrl(text_value(entry["hash_url"])),
        url=text_value(entry["url"]),
        annotation=read_annotation(entry),
        revision=int(entry.get("revision", 0)),
        snapshot=_read_snapshot(snapshot) if snapshot else None,
        failure=_read_failure(failure) if failure else None,
        is_waiting=document.get("waiting") is True,
        generation=int(entry.get("generation", 0)),
        is_link=document.get("link") is True,
    )


def _write_snapshot(snapshot: SnapshotRecord) -> dict[str, Any]:
    """Return the result of a visit as JSON; optional fields are omitted if they are empty."""
    document: dict[str, Any] = {name: getattr(snapshot, name) for name in _ALWAYS_WRITTEN}
    document["metadata"] = _fields(snapshot.metadata)
    document["charset"] = _fields(snapshot.charset)
    document["requisites"] = [_write_outcome(each) for each in snapshot.requisites]
    if appearance := _fields(snapshot.appearance):
        document["appearance"] = appearance
    if snapshot.rendering:
        document["rendering"] = snapshot.rendering
    if snapshot.renditions:
        document["likenesses"] = [_write_rendition(each) for each in snapshot.renditions]
    if snapshot.excluded_responses:
        document["answers"] = snapshot.excluded_responses
    return document


def _read_snapshot(document: dict[str, Any]) -> SnapshotRecord:
    names = PageMetadata.__dataclass_fields__
    metadata = {key: text_value(each) for key, each in document["metadata"].items() if key in names}
    return SnapshotRecord(
        timestamp=Timestamp(text_value(document["timestamp"])),
        capture_url=text_value(document["capture_url"]),
        capture_timestamp=Timestamp(text_value(document["capture_timestamp"])),
        capture_record=RecordId(text_value(document["capture_record"])),
        article=RecordId(text_value(document["article"])) if document["article"] else None,
        article_of=Timestamp(text_value(document["article_of"]))
        if document["article_of"]
        else None,
        extractor=text_value(document["extractor"]),
        metadata=PageMetadata(**metadata),
        requisites=tuple(_read_outcome(each) for each in document["requisites"]),
        charset=_read_charset(document.get("charset")),
        rendering=Rendering(document.get("rendering", "")),
        renditions=tuple(_read_rendition(each) for each in document.get("likenesses", ())),
        appearance=_read_appearance(document.get("appearance")),
        excluded_responses=tuple(
            RecordId(text_value(each)) for each in document.get("answers", ())
        ),
    )


def _read_charset(charset: object) -> Charset:
    if not isinstance(charset, dict):
        return Charset()
    return Charset(text_value(charset.get("used", "")), text_value(charset.get("declared", "")))


def _read_appearance(appearance: object) -> QualitySignals:
    """Read the measurements of a page; invalid values count as not measured."""
    if not isinstance(appearance, dict):
        return QualitySignals()

    limits = appearance.get("limits")

    def number(name: str) -> int | None:
        value = appearance.get(name)
        return value if type(value) is int and 0 <= value <= MAX_NUMBER else None

    return QualitySignals(
        readable=number("readable"),
        source=number("source") or 0,
        is_error=appearance.get("is_error") is True,
        is_cut=appearance.get("is_cut") is True,
        picture=number("picture"),
        words=number("words"),
        limits=known_limits(limits) if isinstance(limits, list) else (),
    )


def _fields(value: PageMetadata | Charset | QualitySignals) -> dict[str, Any]:
    """Return the fields that differ from their defaults; the others would only enlarge records."""
    defaults = _DEFAULTS[type(value)]
    values = {name: getattr(value, name) for name in defaults}
    return {name: each for name, each in values.items() if each != defaults[name]}


def _write_outcome(outcome: RequisiteOutcome) -> dict[str, Any]:
    document: dict[str, Any] = {"url": outcome.url, "kind": outcome.kind}
    if outcome.area:
        document["area"] = outcome.area
    if outcome.is_preview_image:
        document["emblem"] = True
    if outcome.failure:
        document["failure"] = _write_failure(outcome.failure)
    if outcome.status is not None:
        document["status"] = outcome.status
    return document


def _read_outcome(document: dict[str, Any]) -> RequisiteOutcome:
    failure, status = document.get("failure"), document.get("status")
    return RequisiteOutcome(
        url=text_value(document["url"]),
        kind=RequisiteKind(document["kind"]),
        status=None if status is None else int(status),
        failure=_read_failure(failure) if failure else None,
        area=min(max(int(document.get("area", 0)), 0), MAX_NUMBER),
        is_preview_image=document.get("emblem") is True,
    )


def _write_rendition(rendition: RenditionRef) -> dict[str, Any]:
    document = {
        "kind": rendition.kind,
        "media_type": rendition.media_type,
        "record": rendition.record_id,
    }
    return document | {"digest": rendition.digest} if rendition.digest else document


def _read_rendition(document: dict[str, Any]) -> RenditionRef:
    digest = text_value(document.get("digest", ""))
    return RenditionRef(
        RenditionKind(document["kind"]),
        text_value(document["media_type"]),
        RecordId(text_value(document["record"])),
        digest if is_digest(digest) else "",
    )


def _write_failure(failure: Failure) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": failure.kind, "message": failure.message}
    return document if failure.status is None else document | {"status": failure.status}


def _read_failure(document: dict[str, Any]) -> Failure:
    return Failure(
        FailureKind(document["kind"]), text_value(document["message"]), document.get("status")
    )


DELETION_URI = "urn:archiver:deletion"
"""WARC-Target-URI of deletion records, which identifies them without reading their blocks."""


def write_deletion(deletion: Deletion) -> dict[str, Any]:
    """Return the JSON document of a deletion record."""
    return {
        "format": FORMAT,
        "at": iso_date(deletion.at),
        "deletion": {
            "id": deletion.id,
            "gone": [_write_gone(each) for each in deletion.deleted],
            "captures": [*deletion.captures],
            "restores": [*deletion.restores],
        },
    }


def read_deletion(block: bytes) -> Deletion:
    """Read the deletion in a record's block.

    Raises:
        InvalidRecord: the block is not a valid deletion record.
    """
    try:
        document = json.loads(block)
        deletion = document["deletion"]
        return Deletion(
            id=int(deletion["id"]),
            at=read_iso(document["at"]),
            deleted=tuple(_read_gone(each) for each in deletion["gone"]),
            captures=tuple(RecordId(text_value(each)) for each in deletion["captures"]),
            restores=tuple(int(each) for each in deletion["restores"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord(
            f"A deletion record has a missing or invalid field: {error}."
        ) from error


def _write_gone(deleted: DeletedEntry) -> dict[str, Any]:
    return {
        "hash_url": deleted.hash_url,
        "generation": deleted.generation,
        "snapshots": [[each.timestamp, each.page] for each in deleted.snapshots],
        "articles": [[each.timestamp, each.article] for each in deleted.articles],
    }


def _read_gone(document: dict[str, Any]) -> DeletedEntry:
    generation = document["generation"]
    return DeletedEntry(
        hash_url=HashUrl(text_value(document["hash_url"])),
        generation=None if generation is None else int(generation),
        snapshots=tuple(
            DeletedSnapshot(Timestamp(text_value(timestamp)), RecordId(text_value(page)))
            for timestamp, page in document["snapshots"]
        ),
        articles=tuple(
            RemainingArticle(Timestamp(text_value(timestamp)), RecordId(text_value(article)))
            for timestamp, article in document["articles"]
        ),
    )


LISTS_URI = "urn:archiver:lists"
"""WARC-Target-URI of lists records."""
LISTS = "lists"


def write_arrangement(arrangement: Arrangement) -> dict[str, Any]:
    """Return the JSON document of a lists record."""
    return {
        "format": FORMAT,
        "at": iso_date(arrangement.at),
        "revision": arrangement.revision,
        LISTS: [
            {
                name: value
                for name in ("path", "query", "colour")
                if (value := str(getattr(each, name)))
            }
            for each in arrangement.lists
        ],
    }


def read_arrangement(block: bytes) -> Arrangement:
    """Read the lists and their order from a record's block.

    Raises:
        InvalidRecord: the block is not a valid lists record.
    """
    try:
        document = json.loads(block)
        lists = tuple(
            EntryList(
                text_value(each["path"]),
                text_value(each.get("query", "")),
                colour=ListColour.of(each.get("colour")),
            )
            for each in document[LISTS]
            if each["path"]
        )
        return Arrangement(int(document["revision"]), read_iso(document["at"]), lists)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord(
            f"A record of lists has a missing or invalid field: {error}."
        ) from error
