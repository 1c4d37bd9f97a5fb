"""Fields of rows from unknown producers, found by the names of their columns."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from archiver.formats.rows import MAX_URL, Row, first_of, names_of, plain, text_of
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark, broken, unreadable
from archiver.model.choices import TO_READ, ColumnRole
from archiver.model.folder_path import folder_path
from archiver.model.row_problems import NESTED, NO_ADDRESS

# Names of columns and fields as ``rows.plain`` spells them, the likeliest first: as producers write
# them in English, and as people name them in German, French, Spanish and Chinese.

TITLES = (
    *("title", "name", "pagetitle", "bookmarktitle", "headline", "subject", "text", "label"),
    *("articletitle", "resolvedtitle", "giventitle"),
    *("titel", "bezeichnung", "uberschrift", "titre", "nom", "intitule"),
    *("titulo", "nombre", "标题", "標題", "名称", "名稱", "题目"),
)
NOTES = (
    *("note", "notes", "description", "extended", "excerpt", "summary", "comment", "comments"),
    *("selection", "annotation", "desc", "abstract"),
    *("notiz", "notizen", "beschreibung", "kommentar", "bemerkung", "anmerkung"),
    *("remarque", "commentaire", "nota", "notas", "descripcion", "comentario", "comentarios"),
    *("备注", "備註", "笔记", "筆記", "描述", "说明", "說明", "评论"),
)
TAGS = (
    *("tags", "tag", "labels", "categories", "category", "keywords", "topics", "tagnames"),
    *("schlagworter", "schlagworte", "schlagwort", "stichworter", "stichworte", "etiketten"),
    *("kategorien", "kategorie", "etiquettes", "etiquette", "motscles", "categorie"),
    *("etiquetas", "etiqueta", "palabrasclave", "categorias", "categoria"),
    *("标签", "標籤", "关键词", "分类", "分類"),
)
FOLDERS = (
    *("folder", "folders", "collection", "list", "lists", "group", "bucket", "directory"),
    *("ordner", "sammlung", "liste", "verzeichnis", "dossier", "dossiers", "repertoire"),
    *("carpeta", "carpetas", "coleccion", "lista", "文件夹", "文件夾", "資料夾", "收藏夹", "目录"),
)
DATES = (
    *("timeadded", "addedat", "dateadded", "added", "savedat", "saveddate", "datesaved", "saved"),
    *("bookmarkedat", "createdat", "created", "creationdate", "datecreated", "timestamp"),
    *("time", "date", "adddate", "pubdate", "published", "updatedat", "lastvisittime"),
    *("hinzugefugtam", "hinzugefugt", "gespeichertam", "erstelltam", "erstellt", "datum"),
    *("dateajout", "datedajout", "ajoutele", "fecha", "fechadecreacion", "anadido"),
    *("添加时间", "添加日期", "创建时间", "日期", "时间", "時間"),
)
READ = ("isread", "read", "isarchived", "archived", "archive")
STARRED = (
    *("isstarred", "starred", "favorite", "favourite", "favorited", "isfavorite", "isfavorited"),
    *("important", "liked", "ismarked", "pinned"),
)
LATER = ("toread", "readlater", "unread", "isunread")
_ADDRESSES_OF_PEOPLE = frozenset(
    "address adresse adressen direccion direcciones location 地址".split()
)
"""An address, too, where no other column says one: it may be that of a house."""
URL_COLUMNS = _ADDRESSES_OF_PEOPLE | frozenset(
    "url urls uri href link links pageurl website webaddress bookmark "
    "bookmarkurl originalurl permalink givenurl resolvedurl sourceurl articleurl "
    "webadresse internetadresse verknupfung lesezeichen webseite "
    "lien liens adresseweb siteweb signet enlace enlaces vinculo direccionweb sitioweb "
    "网址 網址 链接 鏈接 連結 网页地址 链接地址".split()
)
CONTAINERS = frozenset(
    "links link bookmarks items children entries urls tabs pages articles posts stories records "
    "results rows sites websites readinglist favorites favourites "
    "lesezeichen liens signets favoris enlaces marcadores favoritos 链接 书签".split()
)
"""Members of an object that hold rows of their own, also where the object is a row itself."""


def address_columns(names: Iterable[str]) -> list[str]:
    """Those of some columns that may hold the address: in their order, the surest first."""
    found = [name for name in names if plain(name) in URL_COLUMNS]
    return sorted(found, key=lambda name: plain(name) in _ADDRESSES_OF_PEOPLE)


# Rows whose address, title and date are found by these names.

_ADDRESS = re.compile(r"https?://[^\s<>\"]{3,}", re.IGNORECASE)
_BETWEEN_TAGS = re.compile(r"\s*[,;|\n]\s*")
_MOST_DEPTH = 200


@dataclass(frozen=True, slots=True)
class _Names:
    """The fields that may say something, by what they say, the likeliest first."""

    titles: Sequence[str] = TITLES
    notes: Sequence[str] = NOTES
    tags: Sequence[str] = TAGS
    folders: Sequence[str] = FOLDERS
    dates: Sequence[str] = DATES
    read: Sequence[str] = READ
    starred: Sequence[str] = STARRED


_BY_NAME = _Names()
_ROLES = {
    ColumnRole.TITLE: TITLES,
    ColumnRole.NOTE: NOTES,
    ColumnRole.TAGS: TAGS,
    ColumnRole.FOLDER: FOLDERS,
    ColumnRole.DATE: DATES,
    ColumnRole.READ: READ,
    ColumnRole.STARRED: STARRED,
    ColumnRole.LATER: LATER,
}


def guessed(fields: Mapping[str, Any]) -> Bookmark | None:
    """A bookmark of a row of any kind; None if it holds no address."""
    is_later = any(text_of(fields.get(name)) in ("yes", "1", "true") for name in LATER)
    texts = [name for name, value in fields.items() if isinstance(value, str)]
    urls = [*map(plain, address_columns(texts))]
    return _bookmark(Row(fields), urls, _BY_NAME, is_later=is_later)


def by_roles(fields: Mapping[str, Any], *, roles: Mapping[str, ColumnRole]) -> Bookmark | None:
    """A bookmark of a row whose columns say what a person says; None if it holds no address."""
    names: dict[ColumnRole, list[str]] = {each: [] for each in ColumnRole}
    for name, role in roles.items():
        names[role].append(plain(name))
    row = Row(fields)
    is_later = row.flag(*names[ColumnRole.LATER])
    names_of = _Names(
        titles=names[ColumnRole.TITLE],
        notes=names[ColumnRole.NOTE],
        tags=names[ColumnRole.TAGS],
        folders=names[ColumnRole.FOLDER],
        dates=names[ColumnRole.DATE],
        read=names[ColumnRole.READ],
        starred=names[ColumnRole.STARRED],
    )
    return _bookmark(row, names[ColumnRole.URL], names_of, is_later=is_later)


def guessed_columns(header: Sequence[str]) -> dict[str, ColumnRole]:
    """What ``guessed`` takes the columns of a table for, by their names."""
    found = dict.fromkeys(header, ColumnRole.KEEP)
    by_plain = {plain(name): name for name in reversed(header)}
    for role, names in _ROLES.items():
        for name in names:
            if name in by_plain:
                found[by_plain.pop(name)] = role
                break
    for address in address_columns(header)[:1]:
        found[address] = ColumnRole.URL
    return found


def _bookmark(row: Row, urls: Sequence[str], names: _Names, *, is_later: bool) -> Bookmark | None:
    url = row.text(*urls) or _any_address(row)
    if not url:
        return None
    lain_in = row.take(*names.folders)
    folders = (lain_in,) if isinstance(lain_in, str) else names_of(lain_in)
    tags = guessed_tags(row.take(*names.tags))
    return row.bookmark(
        url,
        title=row.text(*names.titles),
        note=row.text(*names.notes),
        tags=(*tags, TO_READ) if is_later else tags,
        folders=tuple(folder_path(each.split("/")) for each in folders),
        added_at=row.moment(*names.dates),
        is_read=row.flag(*names.read),
        is_starred=row.flag(*names.starred),
    )


def guessed_in(value: Any, folders: tuple[str, ...] = ()) -> Iterator[Bookmark]:
    """The bookmarks in a value of any shape: rows, and what they are wrapped in."""
    if isinstance(value, Bookmark):
        yield value
    elif len(folders) > _MOST_DEPTH:
        yield broken(text_of(value), NESTED)
    elif isinstance(value, str):
        if found := _ADDRESS.match(value.strip()):
            yield _of_address(found[0])
    elif isinstance(value, dict):
        yield from _in_object(value, folders)
    elif isinstance(value, list):
        for each in value:
            yield from guessed_in(each, (*folders, ""))


def _in_object(value: dict[str, Any], folders: tuple[str, ...]) -> Iterator[Bookmark]:
    name = first_of(text_of(value.get(each)) for each in ("title", "name"))
    rows = {key: each for key, each in value.items() if _are_rows(key, each)}
    own = {key: each for key, each in value.items() if key not in rows}
    texts = [key for key, each in own.items() if isinstance(each, str)]
    is_row = bool(address_columns(texts)) if rows else bool(texts)
    if is_row and (found := guessed(own)):
        yield within(found, folders)
        inner = [*rows.values()]
    else:
        inner = [each for each in value.values() if isinstance(each, dict | list)]
        if not inner and value:
            yield unreadable(json.dumps(value, default=str)[:500], NO_ADDRESS)
    for each in inner:
        yield from guessed_in(each, (*folders, name))


def _are_rows(name: str, value: Any) -> bool:
    """Whether a member of an object is a list of links, and no property of the object."""
    if plain(name) not in CONTAINERS or not isinstance(value, list):
        return False
    if any(isinstance(each, dict) and "rel" in each for each in value):
        return False
    return any(
        bool(address_columns(each))
        if isinstance(each, dict)
        else isinstance(each, str) and _ADDRESS.match(each.strip()) is not None
        for each in value
    )


def guessed_tags(value: Any) -> tuple[str, ...]:
    """Tags in a list or a text: JSON's own list, or names with something between."""
    if not isinstance(value, str):
        return names_of(value)
    text = value.strip()
    if text.startswith("["):
        try:
            return names_of(json.loads(text))
        except (ValueError, RecursionError):
            text = text.strip("[]").replace("'", "").replace('"', "")
    return tuple(dict.fromkeys(filter(None, _BETWEEN_TAGS.split(text))))


def within(found: Bookmark, folders: tuple[str, ...]) -> Bookmark:
    """A bookmark in folders, if it does not say itself in which it lies."""
    path = folder_path(folders)
    if not path or found.annotation.folders:
        return found
    return Bookmark(replace(found.annotation, folders=(path,)))


def _any_address(row: Row) -> str:
    for name, value in row.left().items():
        if isinstance(value, str) and (found := _ADDRESS.fullmatch(value.strip())):
            row.drop(plain(name))
            return found[0]
    return ""


def _of_address(url: str) -> Bookmark:
    return Bookmark(Annotation(url[:MAX_URL]))
