"""Zip exports of Omnivore and Readeck, which contain the saved articles."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from archiver.formats.archive_members import Members
from archiver.formats.importer import Importer, bookmarks_of
from archiver.formats.json_values import JsonText
from archiver.formats.other_programs import OMNIVORE_FIELDS
from archiver.formats.rows import FieldMap, Row, members_of, text_of
from archiver.formats.saved_pages import MAX_PAGE, page_with_files
from archiver.formats.source_file import SourceFile
from archiver.model.message import marked
from archiver.model.seed import ArchivedPage, Bookmark

_METADATA = re.compile(r"(?:^|/)metadata_\d+_to_\d+\.json\Z")
_MAX_HIGHLIGHTS = 256 << 10


def _read_omnivore(file: SourceFile) -> Iterator[Bookmark]:
    packed = file.zip
    if packed is None:
        return
    by_stem = {name.rpartition(".")[0]: name for name in packed.names}

    def bookmark(row: Row) -> Bookmark:
        slug = text_of(row.peek("slug"))
        if highlights := by_stem.get(f"highlights/{slug}"):
            row.put("highlights", _text(packed, highlights, _MAX_HIGHLIGHTS).strip())
        page = by_stem.get(f"content/{slug}", "")
        is_html = page.endswith((".html", ".htm"))
        return OMNIVORE_FIELDS.bookmark(row, page=_text(packed, page, MAX_PAGE) if is_html else "")

    for name in filter(_METADATA.search, packed.names):
        yield from bookmarks_of(_json(packed, name).values(), bookmark)


def _text(packed: Members, name: str, most: int) -> str:
    return packed.read(name, most).decode("utf-8", "replace")


def _json(packed: Members, name: str) -> JsonText:
    return JsonText(SourceFile(packed.open(name), name).chunks())


OMNIVORE_ZIP = Importer(
    marked("Omnivore zip"),
    lambda file: any(map(_METADATA.search, file.members)),
    _read_omnivore,
    ("zip",),
    marked("Omnivore: the exported zip file"),
)

# Readeck's zip has a folder for each bookmark, with metadata, article and images.

_INFO = re.compile(r"((?:.*/)?bookmarks/[^/]+/)info\.json")
_RESOURCES = "container/_resources/"
_ARTICLE = "index.html"
_READECK_FIELDS = FieldMap(
    url=("url", "initialurl"),
    added_at="created",
    tags="labels",
    is_read="isarchived",
    is_starred="ismarked",
    # internal fields, and fields that are part of the page
    unused=tuple("id uid userid filepath files text state errors domain links".split()),
)


def _read_readeck(file: SourceFile) -> Iterator[Bookmark]:
    packed = file.zip
    if packed is None:
        return
    resources = _resources(packed)
    for name in packed.names:
        if match := _INFO.fullmatch(name):
            folder = match[1]

            def bookmark(row: Row, folder: str = folder) -> Bookmark:
                page = _page(row, packed, folder, resources[folder])
                return _READECK_FIELDS.bookmark(row, page=page or "")

            yield from bookmarks_of(_json(packed, name).one(), bookmark)


def _resources(packed: Members) -> Mapping[str, dict[str, str]]:
    """Return the files of each article, by the folder of the article.

    The files of an article are names of archive members, by the reference in the article's HTML.
    """
    resources: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in packed.names:
        folder, inside, name_inside = name.partition(_RESOURCES)
        if inside:
            resources[folder][f"./_resources/{name_inside}"] = name
    return resources


def _page(row: Row, packed: Members, folder: str, files: Mapping[str, str]) -> ArchivedPage | None:
    article = members_of(members_of(row.peek("files")).get("article"))
    inside = text_of(article.get("name")) or _ARTICLE
    content = packed.read(f"{folder}container/{inside}", MAX_PAGE)
    return page_with_files(content, packed, files, "text/html; charset=utf-8") if content else None


READECK_ZIP = Importer(
    marked("Readeck zip"),
    lambda file: any(map(_INFO.fullmatch, file.members)),
    _read_readeck,
    ("zip",),
    marked(
        "Readeck: the output of readeck export, or an account export; includes articles and images"
    ),
)
