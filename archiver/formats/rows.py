"""Rows of exported tables, and conversion of their fields to bookmarks."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from unicodedata import combining, normalize

from archiver.model.annotation import Annotation, write_source_record
from archiver.model.entry_list import folder_path
from archiver.model.imports import NESTED, NO_ADDRESS, TO_READ, ColumnRole
from archiver.model.seed import ArchivedPage, Bookmark, broken, html_page, unreadable

_NUMBER = re.compile(r"\s*([0-9]{1,20})(?:\.[0-9]{0,20})?\s*")
_NAMED_UTC = re.compile(r"\s*(?:UTC|GMT|Z)\Z", re.IGNORECASE)
_FORMS = (
    *("%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M"),
    *("%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y %H:%M"),
    *(
        "%d/%b/%Y:%H:%M:%S %z",
        "%B %d, %Y at %I:%M%p",
        "%b %d, %Y, %I:%M:%S %p",
        "%Y-%m-%d %H:%M:%S %z",
    ),
)
"""Common date formats. Dates such as 3/4/2020 are not parsed: day and month are ambiguous."""
_MAX_DATE = 100
_UNIX = 0
_COCOA = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp())
_WEBKIT = int(datetime(1601, 1, 1, tzinfo=UTC).timestamp())

_EARLIEST_COCOA = 63_072_000
"""Year 2003, when Safari was released, in Cocoa seconds. Smaller numbers are not times."""
_EARLIEST_UNIX = 820_454_400
"""Year 1996 in Unix seconds. No bookmark is older, so smaller numbers are Cocoa times."""
_FIRST_YEAR, _LAST_YEAR = 1996, 2099
_LATEST = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())
_MILLISECONDS, _MICROSECONDS, _WEBKIT_MICROSECONDS = 10**11, 10**14, 10**16


def parse_date(text: str) -> datetime | None:
    """Parse a time in any form that bookmark files use.

    Numbers are distinguished by magnitude: Unix time in seconds, milliseconds or microseconds,
    Cocoa's seconds since 2001, or WebKit's microseconds since 1601. Texts can be ISO 8601, mail
    dates (RFC 5322), or a few unambiguous common formats.

    Returns:
        An aware datetime in UTC, in whole seconds; None if it is invalid, before 1996 or after
            2099. Times in the future are accepted, because clocks can be wrong.
    """
    number = _NUMBER.fullmatch(text)
    if number:
        return _from_number(int(number[1]))
    text = text.strip()[:_MAX_DATE]
    return (_from_iso(text) or _from_mail(text) or _from_common_form(text)) if text else None


def sensible(moment: datetime) -> datetime | None:
    """Convert a time to UTC and whole seconds; return None before 1996 and after 2099."""
    try:
        moment = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return None
    return moment.replace(microsecond=0) if moment.microsecond else moment


def _from_number(value: int) -> datetime | None:
    if value >= _WEBKIT_MICROSECONDS:
        return _time_after(_WEBKIT, value // 10**6)
    if value >= _MICROSECONDS:
        return _time_after(_UNIX, value // 10**6)
    if value >= _MILLISECONDS:
        return _time_after(_UNIX, value // 10**3)
    if value >= _EARLIEST_UNIX:
        return _time_after(_UNIX, value)
    return _time_after(_COCOA, value) if value >= _EARLIEST_COCOA else None


def _time_after(epoch: int, seconds: int) -> datetime | None:
    """Return the time ``seconds`` after an epoch (Unix seconds); None before 1996 or after 2099."""
    since = epoch + seconds
    return datetime.fromtimestamp(since, UTC) if _EARLIEST_UNIX <= since < _LATEST else None


def _from_iso(text: str) -> datetime | None:
    zone = text if text[-1].isdecimal() else _NAMED_UTC.sub("+00:00", text)
    try:
        moment = datetime.fromisoformat(zone)
    except ValueError:
        return None
    return sensible(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _from_mail(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return sensible(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _from_common_form(text: str) -> datetime | None:
    for form in _FORMS:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - UTC below, if it names none
        except ValueError:
            continue
        return sensible(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return None


_SHORT = 500
MAX_URL = 10_000
"""Length to which URLs are cut. A cut URL is still too long for an entry, so it is rejected."""
_TRUE = frozenset({"1", "true", "yes", "y", "on", "x", "t", "archive", "archived"})
_FALSE = frozenset({"0", "false", "no", "n", "off", "f", "unread", "active"})
_NOT_PLAIN = str.maketrans("", "", " _-\t\u00a0")


@lru_cache(4096)
def plain_name(name: str) -> str:
    """Return a field name in lower case without accents, spaces, hyphens and underscores.

    >>> plain_name("Document tags"), plain_name("time_added"), plain_name("Étiquettes")
    ('documenttags', 'timeadded', 'etiquettes')
    """
    name = name.strip().lower()
    if not name.isascii():
        name = "".join(each for each in normalize("NFKD", name) if not combining(each))
    return name.translate(_NOT_PLAIN)


class Row:
    """Row of a table, or object in a list. Most methods remove the fields that they return.

    Args:
        fields: values by field name. The methods expect names as ``plain_name`` returns them.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = {plain_name(name): (name, value) for name, value in fields.items()}

    def take(self, *names: str) -> Any:
        """Remove and return the first non-empty field with one of these names; None if none."""
        for name in names:
            value = self._fields.get(name)
            if value is not None and value[1] not in ("", None, [], {}):
                del self._fields[name]
                return value[1]
        return None

    def text(self, *names: str) -> str:
        """Remove the first non-empty field with one of these names and return it as text.

        A boolean ``false`` counts as empty, because some exports write it for a missing text.
        """
        for name in names:
            if self.peek(name) is False:
                self.drop(name)
        value = self.take(*names)
        return text_of(value).strip() if value is not None else ""

    def moment(
        self, *names: str, parse: Callable[[str], datetime | None] = parse_date
    ) -> datetime | None:
        """Remove and return the first field that is a time; fields with other values stay.

        ``parse`` converts the text of a field to a time, or returns None.
        """
        for name in names:
            value = self._fields.get(name)
            moment = parse(text_of(value[1])) if value and value[1] is not None else None
            if moment:
                del self._fields[name]
                return moment
        return None

    def flag(self, *names: str) -> bool:
        """Remove and return the first field that means yes or no; False if there is none."""
        for name in names:
            word = text_of(self.peek(name)).strip().lower()
            if word in _TRUE or word in _FALSE:
                self.drop(name)
                return word in _TRUE
        return False

    def peek(self, name: str) -> Any:
        """Return a field without removing it; None if it does not exist."""
        value = self._fields.get(name)
        return value[1] if value else None

    def names(self, *names: str) -> tuple[str, ...]:
        """Remove the first non-empty field with one of these names and return its items.

        The value of the field is a list, or a text with commas between the items.
        """
        return names_of(self.take(*names))

    def drop(self, *names: str) -> None:
        """Remove fields that are not imported."""
        for name in names:
            self._fields.pop(name, None)

    def put(self, name: str, value: Any) -> None:
        """Add a field to the source record, with a name that the importer chooses."""
        self._fields[f"\0{name}"] = (name, value)

    def remaining(self) -> dict[str, Any]:
        """Return the fields that were not removed, with the names in the file."""
        return dict(self._fields.values())

    def bookmark(
        self,
        url: str,
        *,
        title: str = "",
        folder: Iterable[str] = (),
        page: ArchivedPage | str = "",
        **fields: Any,
    ) -> Bookmark:
        """Return a bookmark; its source record gets the fields that were not removed.

        Args:
            url: the address in the file.
            title: title of the page. A title that equals the address is dropped, because some
                services write the address if there is no title.
            folder: names of the folders that contain the bookmark, the outermost first.
            page: the archived page, or its HTML.
            fields: other fields of the annotation.
        """
        title = " ".join(title.split())
        record = write_source_record(self.remaining()) if self._fields else ""
        if path := folder_path(folder):
            fields["folders"] = (path,)
        annotation = Annotation(
            url[:MAX_URL], title="" if title == url else title, source_record=record, **fields
        )
        return Bookmark(annotation, page=html_page(page) if isinstance(page, str) else page)


def text_of(value: Any) -> str:
    """Return a text, number or boolean as text; empty for other values."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def items_of(value: Any) -> list[Any]:
    """Return the items of a JSON array; empty for other values."""
    return value if isinstance(value, list) else []


def members_of(value: Any) -> dict[str, Any]:
    """Return the members of a JSON object; empty for other values."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a JSON array; empty for other values."""
    return [each for each in items_of(value) if isinstance(each, dict)]


def names_of(value: Any, separator: str = ",") -> tuple[str, ...]:
    """Return the distinct names in a value: a text, a list of texts, or a list of named objects.

    Names in a text are separated by ``separator``; an empty separator means white space.
    """
    if isinstance(value, str):
        return (_cached_names if len(value) < _SHORT else _names_in)(value, separator)
    if not isinstance(value, list | tuple):
        return ()
    names = (_name_of(each).strip() for each in value)
    return tuple(dict.fromkeys(filter(None, names)))


def _names_in(text: str, separator: str) -> tuple[str, ...]:
    names = text.split(separator) if separator else text.split()
    return tuple(dict.fromkeys(filter(None, map(str.strip, names))))


_cached_names = lru_cache(8192)(_names_in)
"""Cached variant of ``_names_in``, because neighbouring rows often have the same tags."""


def _name_of(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "label", "tag", "title") if key in value), "")
    return text_of(value)


def join_texts(*parts: str) -> str:
    """Join distinct texts with empty lines between them."""
    return "\n\n".join(dict.fromkeys(each for each in (part.strip() for part in parts) if each))


def first_text(values: Iterable[str]) -> str:
    """Return the first non-empty text; empty if there is none."""
    return next(filter(None, values), "")


# Names of columns and fields, from ``plain_name``, the most likely first. Programs use English
# names; tables made by users also have German, French, Spanish and Chinese names.

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
_AMBIGUOUS_NAMES = frozenset("address adresse adressen direccion direcciones location 地址".split())
"""Names of columns that can mean a URL or a postal address; they are tried last."""
URL_COLUMNS = _AMBIGUOUS_NAMES | frozenset(
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
"""Names of members that contain rows, even if the object around them is itself a row."""


def address_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that may contain the URL, the most likely first."""
    columns = [name for name in names if plain_name(name) in URL_COLUMNS]
    return sorted(columns, key=lambda name: plain_name(name) in _AMBIGUOUS_NAMES)


# Conversion of rows to bookmarks by the names of their fields.

_ADDRESS = re.compile(r"https?://[^\s<>\"]{3,}", re.IGNORECASE)
_TAG_SEPARATOR = re.compile(r"\s*[,;|\n]\s*")
_MAX_DEPTH = 200
Names = str | tuple[str, ...]
"""Name of a field as ``plain_name`` returns it, or several names in order of preference."""


def guessed_tags(value: Any) -> tuple[str, ...]:
    """Return tags from a list, a JSON text, or a text with separators between the tags."""
    if not isinstance(value, str):
        return names_of(value)
    text = value.strip()
    if text.startswith("["):
        try:
            return names_of(json.loads(text))
        except (ValueError, RecursionError):
            text = text.strip("[]").replace("'", "").replace('"', "")
    return tuple(dict.fromkeys(filter(None, _TAG_SEPARATOR.split(text))))


def one_folder(value: Any) -> tuple[str, ...]:
    """Return the folder path for a text that is the name of a single folder."""
    return (folder_path([text_of(value)]),)


def _guessed_folders(value: Any) -> tuple[str, ...]:
    """Return the folder paths in a text with ``/`` between names, or in a list of such texts."""
    paths = (value,) if isinstance(value, str) else names_of(value)
    return tuple(folder_path(each.split("/")) for each in paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMap:
    """Names of the fields in the rows of a format.

    Attributes:
        url: fields with the URL.
        title: fields with the title.
        note: fields with the note.
        more_note: fields with a text to append to the note.
        added_at: fields with the date of saving.
        tags: fields with the tags.
        folder: fields with the folder.
        page: fields with the HTML of the saved page.
        is_read, is_starred: fields with yes or no, or with a word such as ``archived``.
        to_read: fields with yes or no. Yes adds the tag ``TO_READ``.
        unused: fields to drop. All fields that are not named go into the source record.
        parse_title, parse_date, parse_tags, parse_folders: functions that convert field values.
    """

    url: Names = "url"
    title: Names = "title"
    note: Names = ()
    more_note: Names = ()
    added_at: Names = ()
    tags: Names = ()
    folder: Names = ()
    page: Names = ()
    is_read: Names = ()
    is_starred: Names = ()
    to_read: Names = ()
    unused: Names = ()
    parse_title: Callable[[str], str] = str
    parse_date: Callable[[str], datetime | None] = parse_date
    parse_tags: Callable[[Any], tuple[str, ...]] = names_of
    parse_folders: Callable[[Any], tuple[str, ...]] = one_folder

    def bookmark(self, row: Row, url: str = "", /, **values: Any) -> Bookmark:
        """Return the bookmark of a row; ``url`` and ``values`` take precedence over its fields."""
        row.drop(*_names(self.unused))
        url = url or row.text(*_names(self.url))
        tags = self.parse_tags(row.take(*_names(self.tags)))
        folder = row.take(*_names(self.folder))
        fields = {
            "title": self.parse_title(row.text(*_names(self.title))),
            "note": join_texts(row.text(*_names(self.note)), row.text(*_names(self.more_note))),
            "added_at": row.moment(*_names(self.added_at), parse=self.parse_date),
            "tags": (*tags, TO_READ) if row.flag(*_names(self.to_read)) else tags,
            "folders": () if folder is None else self.parse_folders(folder),
            "is_read": row.flag(*_names(self.is_read)),
            "is_starred": row.flag(*_names(self.is_starred)),
            "page": row.text(*_names(self.page)),
        }
        return row.bookmark(url, **fields | values)


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


# Rows of unknown programs, with fields that are recognised by common names.

_GUESSED = FieldMap(
    title=TITLES,
    note=NOTES,
    tags=TAGS,
    folder=FOLDERS,
    added_at=DATES,
    is_read=READ,
    is_starred=STARRED,
    to_read=LATER,
    parse_tags=guessed_tags,
    parse_folders=_guessed_folders,
)
_ROLES = {
    ColumnRole.TITLE: "title",
    ColumnRole.NOTE: "note",
    ColumnRole.TAGS: "tags",
    ColumnRole.FOLDER: "folder",
    ColumnRole.DATE: "added_at",
    ColumnRole.READ: "is_read",
    ColumnRole.STARRED: "is_starred",
    ColumnRole.LATER: "to_read",
}
"""Attribute of ``FieldMap`` for each role of a column."""


def guessed(fields: Mapping[str, Any]) -> Bookmark | None:
    """Return the bookmark of a row of an unknown program; None if the row has no URL."""
    texts = [name for name, value in fields.items() if isinstance(value, str)]
    return _bookmark(Row(fields), tuple(map(plain_name, address_columns(texts))), _GUESSED)


def by_roles(fields: Mapping[str, Any], *, roles: Mapping[str, ColumnRole]) -> Bookmark | None:
    """Return the bookmark of a row, given the roles of columns; None if the row has no URL."""
    names: dict[ColumnRole, tuple[str, ...]] = dict.fromkeys(ColumnRole, ())
    for name, role in roles.items():
        names[role] = (*names[role], plain_name(name))
    chosen: dict[str, Any] = {attribute: names[role] for role, attribute in _ROLES.items()}
    return _bookmark(Row(fields), names[ColumnRole.URL], replace(_GUESSED, **chosen))


def _bookmark(row: Row, urls: tuple[str, ...], field_map: FieldMap) -> Bookmark | None:
    """Return the bookmark of a row; None if the row has no URL.

    If all fields named in ``urls`` are empty, the first field that is an http(s) URL is used.
    """
    url = row.text(*urls) or _any_address(row)
    return field_map.bookmark(row, url) if url else None


def guessed_columns(header: Sequence[str]) -> dict[str, ColumnRole]:
    """Return the roles that ``guessed`` assumes for the columns of a table, by column name."""
    roles = dict.fromkeys(header, ColumnRole.KEEP)
    by_plain = {plain_name(name): name for name in reversed(header)}
    for role, attribute in _ROLES.items():
        for name in getattr(_GUESSED, attribute):
            if name in by_plain:
                roles[by_plain.pop(name)] = role
                break
    for address in address_columns(header)[:1]:
        roles[address] = ColumnRole.URL
    return roles


def guessed_in(value: Any, folders: tuple[str, ...] = ()) -> Iterator[Bookmark]:
    """Yield the bookmarks in a JSON value of unknown structure.

    Args:
        value: a row, or an object or array that contains rows at any depth.
        folders: names of the objects that contain the value, the outermost first.
    """
    if isinstance(value, Bookmark):
        yield value
    elif len(folders) > _MAX_DEPTH:
        yield broken(text_of(value), NESTED)
    elif isinstance(value, str):
        if match := _ADDRESS.match(value.strip()):
            yield Bookmark(Annotation(match[0][:MAX_URL]))
    elif isinstance(value, dict):
        yield from _in_object(value, folders)
    elif isinstance(value, list):
        for each in value:
            yield from guessed_in(each, (*folders, ""))


def _in_object(value: dict[str, Any], folders: tuple[str, ...]) -> Iterator[Bookmark]:
    name = first_text(text_of(value.get(each)) for each in ("title", "name"))
    rows = {key: each for key, each in value.items() if _are_rows(key, each)}
    fields = {key: each for key, each in value.items() if key not in rows}
    texts = [key for key, each in fields.items() if isinstance(each, str)]
    is_row = bool(address_columns(texts)) if rows else bool(texts)
    if is_row and (columns := guessed(fields)):
        yield within(columns, folders)
        inner = [*rows.values()]
    else:
        inner = [each for each in value.values() if isinstance(each, dict | list)]
        if not inner and value:
            yield unreadable(json.dumps(value, default=str)[:500], NO_ADDRESS)
    for each in inner:
        yield from guessed_in(each, (*folders, name))


def _are_rows(name: str, value: Any) -> bool:
    """Return whether a member of an object is a list of links instead of a property."""
    if plain_name(name) not in CONTAINERS or not isinstance(value, list):
        return False
    if any(isinstance(each, dict) and "rel" in each for each in value):
        return False
    return any(
        bool(address_columns(each))
        if isinstance(each, dict)
        else isinstance(each, str) and _ADDRESS.match(each.strip()) is not None
        for each in value
    )


def within(bookmark: Bookmark, folders: tuple[str, ...]) -> Bookmark:
    """Return a bookmark in the folder with these names, unless the bookmark has folders."""
    path = folder_path(folders)
    if not path or bookmark.annotation.folders:
        return bookmark
    return Bookmark(replace(bookmark.annotation, folders=(path,)))


def _any_address(row: Row) -> str:
    for name, value in row.remaining().items():
        if isinstance(value, str) and (match := _ADDRESS.fullmatch(value.strip())):
            row.drop(plain_name(name))
            return match[0]
    return ""
