"""What ``karakeep dump`` writes: a packed tar of bookmarks (JSON lines), lists and assets."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText, whole_json
from archiver.formats.karakeep import bookmark_of, lists_of
from archiver.formats.kept_pages import HTML, MOST_FILE
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import text_of
from archiver.formats.tar_members import TarMembers
from archiver.model.bookmark import Bookmark
from archiver.model.kept_page import KeptPage, html_page
from archiver.model.message import marked

_FORMAT = "karakeep.dump"
_MANIFEST, _BOOKMARKS = "manifest.json", "bookmarks/index.jsonl"
_WHOLE = ("precrawledArchiveAssetId", "fullPageArchiveAssetId")
_ARTICLE = ("contentAssetId",)
_PRINT = ("pdfAssetId", "assetId")
_MOST_MANIFEST = 1 << 20


def _read(file: GivenFile) -> Iterator[Bookmark]:
    packed = file.tar
    if packed is None:
        return
    lists = lists_of(_json(packed, "lists/index.json"))
    members, assets = _members(packed), _assets(packed)

    for value in JsonText(GivenFile(packed.open(_BOOKMARKS), _BOOKMARKS).chunks()).values():
        page = _page(packed, assets, _content(value))
        read = partial(bookmark_of, lists=lists, page=page or "")
        yield from bookmarks_of(iter([_row(value, members)]), read)


def _content(value: Any) -> Mapping[str, Any]:
    content = value.get("content") if isinstance(value, dict) else None
    return content if isinstance(content, dict) else {}


def _row(value: Any, members: Mapping[str, list[str]]) -> Any:
    """A bookmark as Karakeep's other export has it: with its lists, without the page itself."""
    if not isinstance(value, dict):
        return value
    content = {key: each for key, each in _content(value).items() if not _is_internal(key)}
    fields = {key: each for key, each in value.items() if key != "assets"}
    return fields | {"content": content, "lists": members.get(text_of(value.get("id")), [])}


def _is_internal(key: str) -> bool:
    """What names assets, or is the page itself."""
    return key == "htmlContent" or key.endswith("AssetId")


def _members(packed: TarMembers) -> Mapping[str, list[str]]:
    """The lists that each bookmark is in."""
    document = _json(packed, "lists/membership.json")
    found: defaultdict[str, list[str]] = defaultdict(list)
    for number, ids in document.items() if isinstance(document, dict) else ():
        for each in ids if isinstance(ids, list) else ():
            found[text_of(each)].append(number)
    return found


def _assets(packed: TarMembers) -> Mapping[str, tuple[str, str]]:
    """(file, media type) of each asset by its id."""
    document = _json(packed, "assets/index.json")
    return {
        text_of(each.get("id")): (text_of(each.get("filePath")), text_of(each.get("contentType")))
        for each in (document if isinstance(document, list) else ())
        if isinstance(each, dict)
    }


def _page(
    packed: TarMembers, assets: Mapping[str, tuple[str, str]], content: Mapping[str, Any]
) -> KeptPage | None:
    """The best of what was kept: the whole page, else its article, else its print."""
    if found := _asset(packed, assets, content, _WHOLE):
        return found
    if article := html_page(text_of(content.get("htmlContent"))):
        return article
    return _asset(packed, assets, content, _ARTICLE) or _asset(packed, assets, content, _PRINT)


def _asset(
    packed: TarMembers,
    assets: Mapping[str, tuple[str, str]],
    content: Mapping[str, Any],
    names: tuple[str, ...],
) -> KeptPage | None:
    for name in names:
        path, kind = assets.get(text_of(content.get(name)), ("", ""))
        if path and (data := packed.read(path, MOST_FILE)):
            return KeptPage(data, kind or HTML)
    return None


def _json(packed: TarMembers, name: str) -> Any:
    return whole_json(GivenFile(packed.open(name), name))


def _fits(file: GivenFile) -> bool:
    if file.tar is None or _BOOKMARKS not in file.tar.names:
        return False
    try:
        manifest = json.loads(file.tar.read(_MANIFEST, _MOST_MANIFEST))
    except (ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == _FORMAT


KARAKEEP_DUMP = Importer(
    marked("Karakeep dump"),
    _fits,
    _read,
    ("gz",),
    marked("Karakeep: karakeep dump, with the pages it kept"),
)
