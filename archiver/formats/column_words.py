"""What columns and fields are called that say what a bookmark says, as ``rows.plain`` spells it.

In English as producers write it, and in the words that people give their own tables in German,
French, Spanish and Chinese; the likeliest first.
"""

from collections.abc import Iterable

from archiver.formats.rows import plain

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
