"""Rows of exported tables and their fields."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""Common date formats; 3/4/2020 is ambiguous and therefore missing."""
_MAX_DATE = 100
_UNIX = 0
_COCOA = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp())
_WEBKIT = int(datetime(1601, 1, 1, tzinfo=UTC).timestamp())

_EARLIEST_COCOA = 63_072_000
"""2003 in Cocoa seconds, the release of Safari; smaller numbers are counters, not times."""
_EARLIEST_UNIX = 820_454_400
"""1996. Smaller numbers would predate all bookmark files, so they are Cocoa times."""
_FIRST_YEAR, _LAST_YEAR = 1996, 2099
_LATEST = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())
_MILLISECONDS, _MICROSECONDS, _WEBKIT_MICROSECONDS = 10**11, 10**14, 10**16


def parse_date(text: str) -> datetime | None:
    """Parse a time as bookmark files write it.

    Unix time in seconds, milliseconds or microseconds, Cocoa's seconds since 2001, and WebKit's
    microseconds since 1601, distinguished by magnitude; ISO 8601; mail dates (RFC 5322); and a few
    unambiguous common formats.

    Returns:
        An aware datetime in UTC, in whole seconds; None if it is invalid or absurd (before 1996 or
            after 2099). Future times are returned unchanged, because only the caller knows the
            current time.
    """
    number = _NUMBER.fullmatch(text)
    if number:
        return _from_number(int(number[1]))
    text = text.strip()[:_MAX_DATE]
    return (_from_iso(text) or _from_mail(text) or _from_people(text)) if text else None


def sensible(moment: datetime) -> datetime | None:
    """Convert an aware time to UTC seconds; None if it is absurd."""
    try:
        moment = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return None
    return moment.replace(microsecond=0) if moment.microsecond else moment


def _from_number(value: int) -> datetime | None:
    if value >= _WEBKIT_MICROSECONDS:
        return _sensible(_WEBKIT, value // 10**6)
    if value >= _MICROSECONDS:
        return _sensible(_UNIX, value // 10**6)
    if value >= _MILLISECONDS:
        return _sensible(_UNIX, value // 10**3)
    if value >= _EARLIEST_UNIX:
        return _sensible(_UNIX, value)
    return _sensible(_COCOA, value) if value >= _EARLIEST_COCOA else None


def _sensible(epoch: int, seconds: int) -> datetime | None:
    """Return the time ``seconds`` after an epoch, which is given in Unix seconds."""
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


def _from_people(text: str) -> datetime | None:
    for form in _FORMS:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - UTC below, if it names none
        except ValueError:
            continue
        return sensible(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return None


_SHORT = 500
MAX_URL = 10_000
"""Maximum characters of a URL: above the limit for captures, so that longer ones are rejected."""
_TRUE = frozenset({"1", "true", "yes", "y", "on", "x", "t"})
_NOT_PLAIN = str.maketrans("", "", " _-\t\u00a0")


@lru_cache(4096)
def plain(name: str) -> str:
    """Return a field name without case, accents, spaces, hyphens and underscores, which vary.

    >>> plain("Document tags"), plain("time_added"), plain("Étiquettes")
    ('documenttags', 'timeadded', 'etiquettes')
    """
    name = name.strip().lower()
    if not name.isascii():
        name = "".join(each for each in normalize("NFKD", name) if not combining(each))
    return name.translate(_NOT_PLAIN)


class Row:
    """One row; ``fields`` are its values by the names in the file."""

    __slots__ = ("_left",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._left = {plain(name): (name, value) for name, value in fields.items()}

    def take(self, *names: str) -> Any:
        """Pop the first non-empty field of these names, or None."""
        for name in names:
            found = self._left.get(name)
            if found is not None and found[1] not in ("", None, [], {}):
                del self._left[name]
                return found[1]
        return None

    def text(self, *names: str) -> str:
        """Pop the same as text; ``false`` stands for a missing text in some exports."""
        self.drop(*(name for name in names if self.peek(name) is False))
        value = self.take(*names)
        return text_of(value).strip() if value is not None else ""

    def moment(self, *names: str) -> datetime | None:
        """Pop the first of these fields that is a time; invalid ones stay."""
        for name in names:
            found = self._left.get(name)
            moment = parse_date(text_of(found[1])) if found and found[1] is not None else None
            if moment:
                del self._left[name]
                return moment
        return None

    def flag(self, *names: str) -> bool:
        """Pop the first of these fields that exists, as a boolean."""
        value = self.take(*names)
        return value is not None and text_of(value).strip().lower() in _TRUE

    def peek(self, name: str) -> Any:
        """Return a field without removing it; None if it does not exist."""
        found = self._left.get(name)
        return found[1] if found else None

    def word(self, name: str, wanted: str, *others: str) -> bool:
        """Pop a field whose value is one of two known words; return whether it is ``wanted``."""
        text = text_of(self.peek(name)).strip().lower()
        if text in (wanted, *others):
            self.drop(name)
        return text == wanted

    def names(self, *names: str, between: str = ",") -> tuple[str, ...]:
        """Pop a field with several names: a list of texts or objects, or a text."""
        return names_of(self.take(*names), between)

    def drop(self, *names: str) -> None:
        """Remove redundant fields."""
        for name in names:
            self._left.pop(name, None)

    def put(self, name: str, value: Any) -> None:
        """Add a field to the remaining ones, under a name that we choose."""
        self._left[f"\0{name}"] = (name, value)

    def left(self) -> dict[str, Any]:
        """Return the remaining fields, as spelled in the file."""
        return dict(self._left.values())

    def bookmark(
        self, url: str, *, title: str = "", page: ArchivedPage | str = "", **known: Any
    ) -> Bookmark:
        """Return a bookmark of the popped fields; the others go into its source record.

        A title equal to the address is dropped, because services write it if there is no title.
        ``page`` is the archived page, or its HTML.
        """
        title = " ".join(title.split())
        record = write_source_record(dict(self._left.values())) if self._left else ""
        if title == url:
            title = ""
        annotation = Annotation(url[:MAX_URL], title=title, source_record=record, **known)
        return Bookmark(annotation, page=html_page(page) if isinstance(page, str) else page)


def text_of(value: Any) -> str:
    """Return a value as text; empty for values that are neither text nor numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def names_of(value: Any, between: str = ",") -> tuple[str, ...]:
    """Return the distinct names in a list of texts or of objects with a name, or in a text."""
    if isinstance(value, str):
        return (_known_names if len(value) < _SHORT else _names_in)(value, between)
    if not isinstance(value, list | tuple):
        return ()
    some = (_name_of(each).strip() for each in value)
    return tuple(dict.fromkeys(each for each in some if each))


def _names_in(text: str, between: str) -> tuple[str, ...]:
    some = text.split(between) if between else text.split()
    return tuple(dict.fromkeys(filter(None, map(str.strip, some))))


_known_names = lru_cache(8192)(_names_in)
"""Cached, because neighbouring rows often have the same tags."""


def _name_of(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "label", "tag", "title") if key in value), "")
    return text_of(value)


def both(*parts: str) -> str:
    """Join distinct texts with line breaks."""
    return "\n\n".join(dict.fromkeys(each for each in (part.strip() for part in parts) if each))


def first_of(values: Iterable[str]) -> str:
    """Return the first non-empty text."""
    return next(filter(None, values), "")


# Names of columns and fields as ``rows.plain`` spells them, most likely first: English names by
# producers, and German, French, Spanish and Chinese names by users.

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
"""Also an address if no other column has one; it may be a postal address."""
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
"""Members of an object that contain rows, even if the object is a row itself."""


def address_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that may contain the address, most likely first."""
    found = [name for name in names if plain(name) in URL_COLUMNS]
    return sorted(found, key=lambda name: plain(name) in _ADDRESSES_OF_PEOPLE)


# Rows whose address, title and date are found by these names.

_ADDRESS = re.compile(r"https?://[^\s<>\"]{3,}", re.IGNORECASE)
_BETWEEN_TAGS = re.compile(r"\s*[,;|\n]\s*")
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class _Names:
    """Candidate field names by meaning, most likely first."""

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
    """Return a bookmark of a row of unknown structure; None without an address."""
    is_later = any(text_of(fields.get(name)) in ("yes", "1", "true") for name in LATER)
    texts = [name for name, value in fields.items() if isinstance(value, str)]
    urls = [*map(plain, address_columns(texts))]
    return _bookmark(Row(fields), urls, _BY_NAME, is_later=is_later)


def by_roles(fields: Mapping[str, Any], *, roles: Mapping[str, ColumnRole]) -> Bookmark | None:
    """Return a bookmark of a row whose columns have user-chosen roles; None without an address."""
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
    """Return the roles that ``guessed`` assumes for the columns of a table."""
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
    """Yield the bookmarks in a value of any structure: rows, and objects that contain rows."""
    if isinstance(value, Bookmark):
        yield value
    elif len(folders) > _MAX_DEPTH:
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
    """Return whether a member of an object is a list of links rather than a property."""
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
    """Return tags from a list or a text: JSON, or names with separators."""
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
    """Return a bookmark with these folders unless it has its own."""
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
