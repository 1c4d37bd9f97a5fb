"""Linkwarden's JSON in a zip with its folder ``archives``: the pages that it kept."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.kept_pages import HTML, MOST_FILE, MOST_PAGE
from archiver.formats.linkwarden import LINKWARDEN
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark
from archiver.model.kept_page import KeptPage
from archiver.model.message import marked

_KEPT = re.compile(r"(?:.*/)?archives/[0-9]+/([0-9]+)(\.html|\.pdf|_readability\.json)")

_MOST_LISTS = 100


def _read(file: GivenFile) -> Iterator[Bookmark]:
    packed = file.zip
    if packed is None:
        return
    kept: dict[str, dict[str, str]] = {}
    for name in packed.names:
        if found := _KEPT.fullmatch(name):
            kept.setdefault(found[1], {})[found[2]] = name
    for name in _lists(packed):
        for bookmark in LINKWARDEN.read(GivenFile(packed.open(name), name)):
            yield replace(bookmark, page=_page(packed, kept.get(_number(bookmark), {})))


def _lists(packed: Members) -> Iterator[str]:
    others = (each for each in packed.names if not _KEPT.fullmatch(each))
    for name in islice((each for each in others if each.endswith(".json")), _MOST_LISTS):
        if LINKWARDEN.recognises(GivenFile(packed.open(name), name)):
            yield name


def _number(bookmark: Bookmark) -> str:
    """The number of a link, which stays in its source record."""
    record = json.loads(bookmark.annotation.source_record or "{}")
    return str(record.get("id", "")) if isinstance(record, dict) else ""


def _page(packed: Members, kept: Mapping[str, str]) -> KeptPage | None:
    """The best of what was kept: the whole page, else its article, else its print."""
    if name := kept.get(".html"):
        return _whole(packed.read(name, MOST_FILE), HTML)
    if name := kept.get("_readability.json"):
        article = _article(packed.read(name, MOST_PAGE))
        return _whole(article.encode(), "text/html; charset=utf-8")
    if name := kept.get(".pdf"):
        return _whole(packed.read(name, MOST_FILE), "application/pdf")
    return None


def _whole(content: bytes, media_type: str) -> KeptPage | None:
    return KeptPage(content, media_type) if content else None


def _article(document: bytes) -> str:
    try:
        article: Any = json.loads(document)
    except (ValueError, RecursionError):
        return ""
    content = article.get("content") if isinstance(article, dict) else None
    return content if isinstance(content, str) else ""


LINKWARDEN_ZIP = Importer(
    marked("Linkwarden zip"),
    lambda file: (
        any(map(_KEPT.fullmatch, file.members))
        and file.zip is not None
        and next(_lists(file.zip), None) is not None
    ),
    _read,
    ("zip",),
    marked("Linkwarden: its JSON in a zip with the folder archives of its data"),
)
