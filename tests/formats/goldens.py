"""An example file for each kind of reader, and the bookmarks that it must return.

Each file has every field that its producer writes. Text formats and archives are in ``files/``, a
folder each: the file or the folder to pack, and ``expected.json``. Databases and our own formats
are created here. ``GOLDENS`` maps the name of a format to the file's name, its bytes and its
bookmarks.
"""

import io
import json
import plistlib
import sqlite3
import tarfile
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import lz4.block

from archiver.model.annotation import Annotation, Colour, Highlight

A, B, C = "https://a.example/1?x=1&y=2#part", "https://b.example/2", "https://c.example/3"
AT = datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)
UNIX = 1_600_000_000
ISO = "2020-09-13T12:26:40Z"
WEBKIT = (UNIX + 11_644_473_600) * 1_000_000


def bookmark(url, at=AT, /, source_record=None, **fields):
    """Return an annotation with ``source_record`` in its source record."""
    record = (
        json.dumps(source_record, ensure_ascii=False, separators=(",", ":"))
        if source_record
        else ""
    )
    return Annotation(url, at, source_record=record, **fields)


def zipped(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def tarred(members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return packed.getvalue()


def database(*statements):
    with sqlite3.connect(":memory:") as conn:
        for each in statements:
            conn.execute(*each) if isinstance(each, tuple) else conn.execute(each)
    return conn.serialize()


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def rows(*lines, between="\n"):
    return between.join(lines)


GOLDENS = {}


def golden(form, name, content, *expected):
    data = content.encode() if isinstance(content, str) else content
    assert form not in GOLDENS
    GOLDENS[form] = (name, data, list(expected))


def _golden_of(folder):
    """Read a golden file and its expected bookmarks from a folder."""
    about = json.loads((folder / "expected.json").read_text())
    (path,) = (each for each in folder.iterdir() if each.name != "expected.json")
    results = []
    for row in about["bookmarks"]:
        texts = {
            name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in row
        }
        at = datetime.fromisoformat(texts.pop("added_at")) if "added_at" in row else None
        source_record = texts.pop("source_record", None)
        results.append(bookmark(texts.pop("url"), at, source_record, **texts))
    name = about.get("name", path.name)
    golden(
        about["format"], name, _packed(path, name) if path.is_dir() else path.read_bytes(), *results
    )


def _packed(folder, name):
    """Return the archive of the files in a folder."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    members = {str(each.relative_to(folder)): each.read_bytes() for each in files}
    return zipped(members) if name.endswith(".zip") else tarred(members)


for _folder in sorted((Path(__file__).parent / "files").iterdir()):
    _golden_of(_folder)

_, FIREFOX, FIREFOX_BOOKMARKS = GOLDENS["Firefox JSON"]


golden(
    "Firefox backup (jsonlz4)",
    "bookmarks.jsonlz4",
    b"mozLz40\0" + lz4.block.compress(FIREFOX),
    *FIREFOX_BOOKMARKS,
)
golden(
    "Firefox places.sqlite",
    "places.sqlite",
    database(
        "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT, title TEXT)",
        "CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER,"
        " parent INTEGER, title TEXT, dateAdded INTEGER, lastModified INTEGER)",
        ("INSERT INTO moz_places VALUES (1, ?, 'Its title'), (2, ?, 'visited')", (A, B)),
        "INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, '', 0, 0), (2, 2, NULL, 1, 'menu', 0, 0),"
        " (3, 2, NULL, 1, 'tags', 0, 0), (4, 2, NULL, 2, 'Food', 0, 0),"
        " (5, 2, NULL, 3, 'one', 0, 0)",
        (
            "INSERT INTO moz_bookmarks VALUES (6, 1, 1, 4, 'A', ?, 7), (7, 1, 1, 5, NULL, 0, 0)",
            (UNIX * 1_000_000,),
        ),
    ),
    bookmark(
        A,
        AT,
        {"page_title": "Its title", "lastModified": 7, "root": "menu"},
        title="A",
        tags=("one",),
        folders=("Food",),
    ),
)
golden(
    "Chrome History",
    "History",
    database(
        "CREATE TABLE visits (id INTEGER)",
        "CREATE TABLE urls (id INTEGER PRIMARY KEY, url TEXT, title TEXT, visit_count INTEGER,"
        " typed_count INTEGER, last_visit_time INTEGER, hidden INTEGER)",
        (
            "INSERT INTO urls VALUES (1, ?, 'A', 3, 1, ?, 0), (2, ?, 'B', 1, 0, 0, 1)",
            (A, WEBKIT, B),
        ),
    ),
    bookmark(A, AT, {"visit_count": 3, "typed_count": 1}, title="A"),
)


def _safari(title, *children):
    return {"Title": title, "WebBookmarkType": "WebBookmarkTypeList", "Children": [*children]}


SAFARI_DATE = datetime(2020, 9, 13, 12, 26, 40)  # noqa: DTZ001 - plists have no zones
SAFARI_LEAF = {"WebBookmarkType": "WebBookmarkTypeLeaf"}
SAFARI_A = {"URLString": A, "URIDictionary": {"title": "A"}, "WebBookmarkUUID": "u"}
SAFARI_B = {
    "URLString": B,
    "URIDictionary": {"title": "B"},
    "ReadingList": {"DateAdded": SAFARI_DATE, "PreviewText": "its words"},
}
SAFARI_TREE = _safari(
    "",
    _safari("BookmarksBar", _safari("Food", SAFARI_LEAF | SAFARI_A)),
    _safari("com.apple.ReadingList", SAFARI_LEAF | SAFARI_B),
)
SAFARI_BOOKMARKS = (
    bookmark(
        A, None, {"root": "BookmarksBar", "WebBookmarkUUID": "u"}, title="A", folders=("Food",)
    ),
    bookmark(
        B,
        AT,
        {"root": "com.apple.ReadingList"},
        title="B",
        note="its words",
        tags=("toread",),
    ),
)
golden(
    "Safari property list",
    "Bookmarks.plist",
    plistlib.dumps(SAFARI_TREE, fmt=plistlib.FMT_BINARY),
    *SAFARI_BOOKMARKS,
)
golden(
    "Karakeep data directory",
    "karakeep.zip",
    zipped(
        {
            "data/db.db": database(
                "CREATE TABLE bookmarks (id TEXT, createdAt INTEGER, title TEXT, archived INTEGER,"
                " favourited INTEGER, note TEXT, summary TEXT, type TEXT)",
                "CREATE TABLE bookmarkLinks (id TEXT, url TEXT, title TEXT, author TEXT,"
                " htmlContent TEXT)",
                "CREATE TABLE bookmarkTags (id TEXT, name TEXT)",
                "CREATE TABLE tagsOnBookmarks (bookmarkId TEXT, tagId TEXT)",
                "CREATE TABLE bookmarkLists (id TEXT, name TEXT, type TEXT, parentId TEXT)",
                "CREATE TABLE bookmarksInLists (bookmarkId TEXT, listId TEXT)",
                "CREATE TABLE assets (id TEXT, assetType TEXT, bookmarkId TEXT, userId TEXT)",
                "CREATE TABLE highlights (bookmarkId TEXT, text TEXT, note TEXT, color TEXT,"
                " createdAt INTEGER)",
                "CREATE TABLE bookmarkTexts (id TEXT, text TEXT, sourceUrl TEXT)",
                f"INSERT INTO bookmarks VALUES ('b3', {UNIX}, 'C', 0, 0, NULL, NULL, 'text'),"
                f" ('b4', {UNIX}, 'D', 0, 0, NULL, NULL, 'text'),"
                f" ('b5', {UNIX}, 'E', 0, 0, NULL, NULL, 'text')",
                f"INSERT INTO highlights VALUES ('b2', 'An', 'why', 'red', {UNIX})",
                f"INSERT INTO bookmarkTexts VALUES ('b3', 'see {C} too', NULL),"
                f" ('b4', 'of it', '{C}?4'), ('b5', 'Only words.', NULL)",
                "INSERT INTO bookmarks VALUES"
                f" ('b1', {UNIX}, NULL, 1, 1, 'a note', 'short', 'link'),"
                f" ('b2', {UNIX}, 'B', 0, 0, NULL, NULL, 'link')",
                f"INSERT INTO bookmarkLinks VALUES ('b1', '{A}', 'A', 'Ann', '<p>not this</p>'),"
                f" ('b2', '{B}', 'b', NULL, '<p>An article</p>')",
                "INSERT INTO bookmarkTags VALUES ('t', 'one')",
                "INSERT INTO tagsOnBookmarks VALUES ('b1', 't')",
                "INSERT INTO bookmarkLists VALUES ('l1', 'Food', 'manual', NULL)",
                "INSERT INTO bookmarksInLists VALUES ('b1', 'l1')",
                "INSERT INTO assets VALUES ('a1', 'linkFullPageArchive', 'b1', 'u1')",
            ),
            "data/assets/u1/a1/asset.bin": "<html><p>A whole page</p></html>",
            "data/assets/u1/a1/metadata.json": json.dumps({"contentType": "text/html"}),
        }
    ),
    bookmark(
        A,
        AT,
        {"summary": "short", "content": {"author": "Ann"}},
        title="A",
        note="a note",
        tags=("one",),
        folders=("Food",),
        is_read=True,
        is_starred=True,
    ),
    bookmark(
        B,
        AT,
        {"highlights": [{"text": "An", "note": "why", "color": "red", "createdAt": UNIX}]},
        title="B",
    ),
    bookmark(C, AT, title="C", note=f"see {C} too"),
    bookmark(f"{C}?4", AT, title="D", note="of it"),
    bookmark("https://karakeep.invalid/note/3c5661974942379614b943d0593e4a5e", AT, title="E"),
)
golden(
    "zip file of link lists",
    "pocket.zip",
    zipped(
        {
            "part_000000.csv": f"title,url,time_added,tags,status\nA,{A},{UNIX},one,unread\n",
            "annotations/part_000000.json": json.dumps(
                [{"url": A, "title": "A", "highlights": [{"quote": "q", "created_at": UNIX}]}]
            ),
            "Passwords.csv": f"url,username,password\n{C},ann,secret\n",
            "logo.png": b"\x89PNG\r\n\x1a\n",
        }
    ),
    bookmark(A, None, {"highlights": [{"quote": "q", "created_at": UNIX}]}, title="A"),
    bookmark(A, title="A", tags=("one",)),
)
OWN = {
    "url_given": A,
    "title": "A",
    "tags": ["one", "two, three"],
    "note": "a note",
    "added_at": ISO,
    "source": "web",
    "is_read": True,
    "is_starred": True,
    "folders": ["Food/Soups"],
    "places": [7],
    "source_record": '{"author":"Ann"}',
    "highlights": [
        {
            "id": "0123456789abcdef",
            "quote": "words",
            "prefix": "some ",
            "suffix": ".",
            "start": 5,
            "colour": "green",
            "note": "mine",
            "made_at": ISO,
            "timestamp": "20200913122640",
        }
    ],
}
OWN_BOOKMARK = bookmark(
    A,
    AT,
    {"author": "Ann"},
    title="A",
    tags=("one", "two, three"),
    note="a note",
    source="web",
    is_read=True,
    is_starred=True,
    folders=("Food/Soups",),
    places=(7,),
    highlights=(
        Highlight(
            "0123456789abcdef", "words", "some ", ".", 5, Colour.GREEN, "mine", AT, "20200913122640"
        ),
    ),
)
golden(
    "archiver JSON",
    "archive.json",
    json.dumps(
        {"archiver": 1, "entries": [{"archiver": 1, **OWN, "archive": {"state": "queued"}}]}
    ),
    OWN_BOOKMARK,
)
golden(
    "archiver CSV",
    "archive.csv",
    rows(
        "title,url,tags,folders,places,note,added_at,is_read,is_starred,highlights,source,source_record,"
        "page_title,captured,state,hash_url,Mood",
        f'A,{A},"one,two\\, three",Food/Soups,7,\'=a note,{ISO},yes,yes,'
        + quoted(json.dumps(OWN["highlights"]))
        + f",web,{quoted(OWN['source_record'])},Page,,queued,x,good",
        between="\r\n",
    ),
    replace(OWN_BOOKMARK, note="=a note", source_record='{"author":"Ann"}\n{"Mood":"good"}'),
)
golden(
    "archiver HTML",
    "archive.bookmarks.html",
    f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META NAME="generator" CONTENT="archiver">
<DL><p>
    <DT><H3>Favorites</H3>
    <DL><p>
        <DT><A HREF="{A.replace("&", "&amp;")}" ADD_DATE="{UNIX}" TAGS="one,two" TOREAD="1"\
 READ="1" STARRED="1" ALL_TAGS="[&quot;one,two&quot;]">A &amp; B</A>
        <DD>a note
    </DL><p>
</DL><p>
""",
    bookmark(
        A,
        title="A & B",
        note="a note",
        tags=("one,two",),
        folders=("Favorites",),
        is_read=True,
        is_starred=True,
    ),
)
