"""A small file of each format, of our own making, and all that it says: every field, and the rest.

``GOLDENS`` is by the name of the format: the file's name, its bytes, and what is read.
"""

import io
import json
import plistlib
import sqlite3
import tarfile
import zipfile
from dataclasses import replace
from datetime import UTC, datetime

from archiver.model.annotation import Annotation
from archiver.model.highlight import Colour, Highlight

A, B, C = "https://a.example/1?x=1&y=2#part", "https://b.example/2", "https://c.example/3"
AT = datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)
UNIX = 1_600_000_000
ISO = "2020-09-13T12:26:40Z"
WEBKIT = (UNIX + 11_644_473_600) * 1_000_000


def said(url, at=AT, /, rest=None, **fields):
    """An annotation whose source record says ``rest``."""
    record = json.dumps(rest, ensure_ascii=False, separators=(",", ":")) if rest else ""
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
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
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


golden(
    "Pocket CSV",
    "part_000000.csv",
    rows(
        "title,url,time_added,cursor,tags,status",
        f'"A, ""quoted""\nand broken",{A},{UNIX},77,one|two words,archive',
        f"{B},{B},{UNIX},,,unread",
    ),
    said(
        A,
        AT,
        {"cursor": "77"},
        title='A, "quoted" and broken',
        tags=("one", "two words"),
        is_read=True,
    ),
    said(B),
)
golden(
    "Instapaper CSV",
    "instapaper-export.csv",
    rows(
        "URL,Title,Selection,Folder,Timestamp,Tags",
        f'{A},A,"a selection",Cooking,{UNIX},"[""one"",""two words""]"',
        f"{B},,,Archive,{UNIX},[]",
        f"{C},C,,Starred,{UNIX},[]",
    ),
    said(A, title="A", note="a selection", folders=("Cooking",), tags=("one", "two words")),
    said(B, is_read=True),
    said(C, title="C", is_starred=True),
)
golden(
    "Raindrop.io CSV",
    "export.csv",
    rows(
        "id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite",
        f'7,A,my note,its words,{A},Recipes / Soups,"one, two words",2020-09-13T12:26:40.000Z,'
        "https://a.example/c.png,Highlight:x,true",
        f"8,B,,,{B},Unsorted,,{ISO},,,false",
    ),
    said(
        A,
        AT,
        {"id": "7", "cover": "https://a.example/c.png", "highlights": "Highlight:x"},
        title="A",
        note="my note\n\nits words",
        folders=("Recipes/Soups",),
        tags=("one", "two words"),
        is_starred=True,
    ),
    said(B, AT, {"id": "8"}, title="B"),
)
golden(
    "Readwise Reader CSV",
    "reader.csv",
    rows(
        "Title,URL,ID,Document tags,Saved date,Reading progress,Location,Seen",
        f"""A,{A},01x,"['one', ""it's two"", 'favorite']",2020-09-13 12:26:40+00:00,0.5,"""
        "archive,True",
        f"B,{B},02x,[],2020-09-13 12:26:40+00:00,0,feed,False",
    ),
    said(
        A,
        AT,
        {"ID": "01x", "Reading progress": "0.5", "Seen": "True"},
        title="A",
        tags=("one", "it's two"),
        is_read=True,
        is_starred=True,
    ),
    said(
        B,
        AT,
        {"ID": "02x", "Reading progress": "0", "Location": "feed", "Seen": "False"},
        title="B",
    ),
)
golden(
    "Matter CSV",
    "matter.csv",
    rows(
        "Title,Author,Publisher,URL,Tags,Word Count,In Queue,Favorited,Read,Highlight Count,"
        "Last Interaction Date,File Id",
        f"A,Ann,Press,{A},one;two words,1200,False,True,True,3,{ISO},",
    ),
    said(
        A,
        AT,
        {
            "Author": "Ann",
            "Publisher": "Press",
            "Word Count": "1200",
            "In Queue": "False",
            "Highlight Count": "3",
        },
        title="A",
        tags=("one", "two words"),
        is_read=True,
        is_starred=True,
    ),
)
golden(
    "wallabag CSV",
    "All articles.csv",
    rows(
        "Title;URL;Content;Tags;MIME Type;Language;Creation date",
        f'"A &amp; B";{A};"<p>An ""article""</p>";"one, two words";text/html;en;'
        "13/09/2020 12:26:40",
    ),
    said(
        A,
        AT,
        {"MIME Type": "text/html", "Language": "en"},
        title="A & B",
        tags=("one", "two words"),
    ),
)
golden(
    "Readeck CSV",
    "bookmarks.csv",
    rows(
        "url,title,created,labels,is_archived,is_marked,type",
        f'{A},A,2020-09-13T14:26:40+02:00,"[""one"",""two words""]",true,true,article',
        "",
        between="\r\n",
    ),
    said(
        A,
        AT,
        {"type": "article"},
        title="A",
        tags=("one", "two words"),
        is_read=True,
        is_starred=True,
    ),
)
golden(
    "Diigo CSV",
    "diigo_csv.csv",
    rows(
        "title,url,tags,description,comments,annotations,created_at",
        f'"A","{A}","one two","about","a comment","Highlight: x","2020-09-13 12:26:40 UTC"',
        f'"B","{B}","no_tag","","","","2020-09-13 12:26:40 UTC"',
    ),
    said(
        A,
        AT,
        {"annotations": "Highlight: x"},
        title="A",
        note="about\n\na comment",
        tags=("one", "two"),
    ),
    said(B, title="B"),
)
golden(
    "Google Saved CSV",
    "Takeout/Saved/To cook.csv",
    rows("Title,Note,URL,Tags,Comment", ",,,,", f"A,a note,{A},one,said"),
    said(A, None, title="A", note="a note\n\nsaid", tags=("one",), folders=("To cook",)),
)
golden(
    "Reddit CSV",
    "saved_posts.csv",
    rows("id,permalink", "abc,https://www.reddit.com/r/x/comments/abc/t/", "abd,/r/x/comments/abd"),
    said("https://www.reddit.com/r/x/comments/abc/t/", None, {"id": "abc"}),
    said("https://www.reddit.com/r/x/comments/abd", None, {"id": "abd"}),
)
golden(
    "Pinboard JSON",
    "pinboard_export",
    json.dumps(
        [
            {
                "href": A,
                "description": "A",
                "extended": "a note",
                "meta": "m",
                "hash": "h",
                "time": ISO,
                "shared": "no",
                "toread": "yes",
                "tags": "one two",
            },
            {"href": B, "description": "", "extended": "", "time": ISO, "toread": "no"},
        ]
    ),
    said(
        A,
        AT,
        {"meta": "m", "hash": "h", "shared": "no"},
        title="A",
        note="a note",
        tags=("one", "two", "toread"),
    ),
    said(B),
)
golden(
    "Pinboard or Delicious XML",
    "all.xml",
    rows(
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<posts user="ann"><post href="{A.replace("&", "&amp;")}" time="{ISO}"',
        ' description="A &quot;quoted&quot;" extended="a note" tag="one two" hash="h"',
        ' shared="no" toread="yes"/></posts>',
    ),
    said(
        A,
        AT,
        {"hash": "h", "shared": "no"},
        title='A "quoted"',
        note="a note",
        tags=("one", "two", "toread"),
    ),
)
golden(
    "wallabag JSON",
    "All articles.json",
    json.dumps(
        [
            {
                "is_archived": 1,
                "is_starred": True,
                "tags": ["one", {"label": "two words"}],
                "is_public": False,
                "id": 7,
                "title": "A &amp; <i>B</i>",
                "url": A,
                "content": "<p>An article</p>",
                "created_at": "2020-09-13T14:26:40+0200",
                "updated_at": "2020-09-14T14:26:40+0200",
                "published_by": ["Ann"],
                "reading_time": 5,
                "annotations": [{"text": "mine", "quote": "q"}],
                "headers": [],
            }
        ]
    ),
    said(
        A,
        AT,
        {
            "is_public": False,
            "id": 7,
            "updated_at": "2020-09-14T14:26:40+0200",
            "published_by": ["Ann"],
            "reading_time": 5,
            "annotations": [{"text": "mine", "quote": "q"}],
        },
        title="A & B",
        tags=("one", "two words"),
        is_read=True,
        is_starred=True,
    ),
)
golden(
    "Karakeep JSON",
    "export.json",
    json.dumps(
        {
            "bookmarks": [
                {
                    "createdAt": UNIX,
                    "title": "A",
                    "tags": ["one", "two words"],
                    "lists": ["l2"],
                    "content": {"type": "link", "url": A},
                    "note": "a note",
                    "archived": True,
                }
            ],
            "lists": [
                {"id": "l1", "name": "Food", "type": "manual", "parentId": None},
                {
                    "id": "l2",
                    "name": "Soups",
                    "description": "hot",
                    "icon": "\N{POT OF FOOD}",
                    "type": "manual",
                    "query": None,
                    "parentId": "l1",
                },
            ],
        }
    ),
    said(
        A,
        AT,
        {"about lists": [{"name": "Soups", "description": "hot", "icon": "\N{POT OF FOOD}"}]},
        title="A",
        note="a note",
        tags=("one", "two words"),
        folders=("Food/Soups",),
        is_read=True,
    ),
)
golden(
    "linkding JSON",
    "bookmarks.json",
    json.dumps(
        {
            "count": 1,
            "next": None,
            "results": [
                {
                    "id": 7,
                    "url": A,
                    "title": "A",
                    "description": "about",
                    "notes": "mine",
                    "is_archived": True,
                    "unread": True,
                    "shared": False,
                    "tag_names": ["one"],
                    "date_added": "2020-09-13T12:26:40.123456Z",
                    "date_modified": ISO,
                }
            ],
        }
    ),
    said(
        A,
        AT,
        {"id": 7, "shared": False, "date_modified": ISO},
        title="A",
        note="about\n\nmine",
        tags=("one", "toread"),
        is_read=True,
    ),
)
golden(
    "Linkwarden JSON",
    "backup.json",
    json.dumps(
        {
            "name": "Ann",
            "collections": [
                {"id": 1, "name": "Food &amp; drink", "parentId": None, "links": []},
                {
                    "id": 2,
                    "name": "Soups",
                    "description": "hot",
                    "color": "#0ea5e9",
                    "parentId": 1,
                    "links": [
                        {
                            "id": 9,
                            "name": "A &amp; B",
                            "type": "url",
                            "description": "about",
                            "url": A,
                            "tags": [{"id": 3, "name": "one"}],
                            "createdAt": "2020-09-13T12:26:40.000Z",
                            "importDate": None,
                            "collectionId": 2,
                        }
                    ],
                },
            ],
            "pinnedLinks": [{"id": 9}],
        }
    ),
    said(
        A,
        AT,
        {
            "id": 9,
            "type": "url",
            "collections": [{"name": "Soups", "description": "hot", "color": "#0ea5e9"}],
        },
        title="A & B",
        note="about",
        tags=("one",),
        folders=("Food & drink/Soups",),
        is_starred=True,
    ),
)
FIREFOX = json.dumps(
    {
        "guid": "root________",
        "title": "",
        "typeCode": 2,
        "type": "text/x-moz-place-container",
        "root": "placesRoot",
        "children": [
            {
                "guid": "menu________",
                "title": "menu",
                "typeCode": 2,
                "root": "bookmarksMenuFolder",
                "children": [
                    {
                        "title": "Food",
                        "typeCode": 2,
                        "children": [
                            {
                                "guid": "g1",
                                "title": "A",
                                "index": 0,
                                "dateAdded": UNIX * 1_000_000,
                                "lastModified": 1,
                                "id": 5,
                                "typeCode": 1,
                                "tags": "one,two words",
                                "type": "text/x-moz-place",
                                "uri": A,
                                "annos": [
                                    {"name": "bookmarkProperties/description", "value": "a note"}
                                ],
                            },
                            {"typeCode": 3, "type": "text/x-moz-place-separator"},
                        ],
                    }
                ],
            },
            {
                "root": "tagsFolder",
                "title": "tags",
                "children": [{"title": "third", "children": [{"uri": A, "typeCode": 1}]}],
            },
        ],
    }
)
FIREFOX_SAID = (
    said(
        A,
        AT,
        {"guid": "g1", "lastModified": 1, "root": "bookmarksMenuFolder"},
        title="A",
        note="a note",
        tags=("one", "two words"),
        folders=("Food",),
    ),
    said(A, None, tags=("third",)),
)
golden("Firefox JSON", "bookmarks-2020-09-13.json", FIREFOX, *FIREFOX_SAID)


def lz4(data):
    """A block of LZ4 with literals, and one match that reaches into itself."""
    assert len(data) > 300
    head, tail = data, b"aaaaaaaaaaaa"
    length = len(head) - 15
    block = bytearray([0xF0 | 4]) + b"\xff" * (length // 255) + bytes([length % 255])
    return bytes(block + head + b"\x01\x00" + bytes([len(tail) << 4]) + tail)


golden(
    "Firefox backup (jsonlz4)",
    "bookmarks.jsonlz4",
    b"mozLz40\0" + (len(FIREFOX) + 20).to_bytes(4, "little") + lz4(FIREFOX.encode() + b" "),
    *FIREFOX_SAID,
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
    said(
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
    said(A, AT, {"visit_count": 3, "typed_count": 1}, title="A"),
)
golden(
    "buku database",
    "bookmarks.db",
    database(
        "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, URL TEXT, metadata TEXT, tags TEXT,"
        " desc TEXT, flags INTEGER)",
        ("INSERT INTO bookmarks VALUES (1, ?, 'A', ',one,two words,', 'a note', 0)", (A,)),
    ),
    said(A, None, {"flags": 0}, title="A", note="a note", tags=("one", "two words")),
)
golden(
    "Chrome Bookmarks file",
    "Bookmarks",
    json.dumps(
        {
            "checksum": "c",
            "roots": {
                "bookmark_bar": {
                    "children": [
                        {
                            "children": [
                                {
                                    "date_added": str(WEBKIT),
                                    "date_last_used": "0",
                                    "guid": "g",
                                    "id": "5",
                                    "name": "A",
                                    "type": "url",
                                    "url": A,
                                }
                            ],
                            "name": "Food",
                            "type": "folder",
                        }
                    ],
                    "name": "Bookmarks bar",
                    "type": "folder",
                },
                "sync_transaction_version": "1",
            },
            "version": 1,
        }
    ),
    said(
        A,
        AT,
        {"date_last_used": "0", "guid": "g", "root": "bookmark_bar"},
        title="A",
        folders=("Food",),
    ),
)
SAFARI_TREE = {
    "Title": "",
    "WebBookmarkType": "WebBookmarkTypeList",
    "Children": [
        {
            "Title": "BookmarksBar",
            "WebBookmarkType": "WebBookmarkTypeList",
            "Children": [
                {
                    "Title": "Food",
                    "WebBookmarkType": "WebBookmarkTypeList",
                    "Children": [
                        {
                            "WebBookmarkType": "WebBookmarkTypeLeaf",
                            "URLString": A,
                            "URIDictionary": {"title": "A"},
                            "WebBookmarkUUID": "u",
                        }
                    ],
                }
            ],
        },
        {
            "Title": "com.apple.ReadingList",
            "WebBookmarkType": "WebBookmarkTypeList",
            "Children": [
                {
                    "WebBookmarkType": "WebBookmarkTypeLeaf",
                    "URLString": B,
                    "URIDictionary": {"title": "B"},
                    "ReadingList": {
                        "DateAdded": datetime(2020, 9, 13, 12, 26, 40),  # noqa: DTZ001 - plists have no zones
                        "PreviewText": "its words",
                    },
                }
            ],
        },
    ],
}
SAFARI_SAID = (
    said(A, None, {"root": "BookmarksBar", "WebBookmarkUUID": "u"}, title="A", folders=("Food",)),
    said(
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
    *SAFARI_SAID,
)
golden(
    "Session Buddy JSON",
    "session_buddy.json",
    json.dumps(
        {
            "format": "nxs.json.v1",
            "collections": [
                {
                    "title": "Work",
                    "created": UNIX * 1000,
                    "folders": [
                        {"title": "One", "links": [{"title": "A", "url": A, "favIconURL": "x"}]}
                    ],
                }
            ],
        }
    ),
    said(A, title="A", folders=("Work/One",)),
)
golden(
    "Tab Session Manager JSON",
    "sessions.json",
    json.dumps(
        [
            {
                "windows": {
                    "1": {"2": {"id": 2, "url": A, "title": "A", "pinned": False, "index": 0}}
                },
                "name": "Work",
                "date": UNIX * 1000,
                "tag": ["one"],
                "sessionStartTime": 1,
            }
        ]
    ),
    said(A, AT, {"pinned": False}, title="A", tags=("one",), folders=("Work",)),
)
golden(
    "OneTab text",
    "onetab.txt",
    f"{A} | A | see {C}\n{B} | \n\n{C}\n",
    said(A, None, title=f"A | see {C}"),
    said(B, None),
    said(C, None),
)
golden(
    "Hypothes.is JSON",
    "hypothesis.json",
    json.dumps(
        {
            "total": 1,
            "rows": [
                {
                    "id": "x",
                    "created": "2020-09-13T12:26:40.000000+00:00",
                    "user": "acct:ann@hypothes.is",
                    "uri": A,
                    "text": "mine",
                    "tags": ["one"],
                    "target": [{"selector": [{"type": "TextQuoteSelector", "exact": "a  quote"}]}],
                    "document": {"title": ["A"]},
                }
            ],
        }
    ),
    said(
        A,
        AT,
        {
            "id": "x",
            "user": "acct:ann@hypothes.is",
            "target": [{"selector": [{"type": "TextQuoteSelector", "exact": "a  quote"}]}],
            "document": {"title": ["A"]},
            "highlights": [
                {
                    "quote": "a quote",
                    "note": "mine",
                    "created": "2020-09-13T12:26:40.000000+00:00",
                }
            ],
        },
        title="A",
        note="> a quote\n\nmine",
        tags=("one",),
    ),
)
golden(
    "Mastodon JSON",
    "bookmarks.json",
    json.dumps(
        {
            "@context": "https://www.w3.org/ns/activitystreams",
            "id": "bookmarks.json",
            "type": "OrderedCollection",
            "orderedItems": [A, B],
        }
    ),
    said(A, None),
    said(B, None),
)
golden(
    "Reddit JSON",
    "saved.json",
    json.dumps(
        {
            "kind": "Listing",
            "data": {
                "after": None,
                "children": [
                    {
                        "kind": "t3",
                        "data": {
                            "title": "A",
                            "url": A,
                            "permalink": "/r/x/comments/abc/",
                            "subreddit": "x",
                            "created_utc": float(UNIX),
                            "author": "ann",
                        },
                    }
                ],
            },
        }
    ),
    said(
        A,
        AT,
        {"author": "ann", "permalink": "https://www.reddit.com/r/x/comments/abc/"},
        title="A",
        tags=("x",),
    ),
)
golden(
    "Hacker News JSON",
    "favorites.json",
    json.dumps(
        {
            "hits": [
                {
                    "objectID": "7",
                    "title": "A",
                    "url": A,
                    "author": "ann",
                    "points": 5,
                    "created_at": ISO,
                }
            ],
            "nbHits": 1,
        }
    ),
    said(
        A,
        AT,
        {"author": "ann", "points": 5, "discussion": "https://news.ycombinator.com/item?id=7"},
        title="A",
    ),
)
golden(
    "X archive",
    "bookmark.js",
    "window.YTD.bookmark.part0 = "
    + json.dumps(
        [
            {
                "bookmark": {
                    "tweetId": "300000",
                    "fullText": "Read this",
                    "expandedUrl": "https://twitter.com/ann/status/300000",
                    "bookmarkedAt": ISO,
                }
            },
            {"sortIndex": "1", "bookmark": {"tweetId": "99"}},
        ],
        indent=2,
    ),
    said("https://twitter.com/ann/status/300000", note="Read this"),
    said("https://x.com/i/status/99", None, {"sortIndex": "1"}),
)
golden(
    "Telegram JSON",
    "result.json",
    json.dumps(
        {
            "name": "Saved Messages",
            "type": "saved_messages",
            "id": 1,
            "messages": [
                {
                    "id": 5,
                    "type": "message",
                    "date": "2020-09-13T12:26:40",
                    "date_unixtime": str(UNIX),
                    "from": "Ann",
                    "text": [
                        "read ",
                        {"type": "text_link", "text": "this", "href": A},
                        " and ",
                        {"type": "link", "text": B},
                    ],
                }
            ],
        }
    ),
    said(
        A,
        AT,
        {"id": 5, "date": "2020-09-13T12:26:40", "from": "Ann"},
        title="this",
        note=f"read this and {B}",
        folders=("Saved Messages",),
    ),
    said(
        B,
        AT,
        {"id": 5, "date": "2020-09-13T12:26:40", "from": "Ann"},
        note=f"read this and {B}",
        folders=("Saved Messages",),
    ),
)
golden(
    "CSL JSON",
    "library.json",
    json.dumps(
        [
            {
                "id": "k",
                "type": "webpage",
                "title": "A",
                "URL": A,
                "author": [{"family": "Example", "given": "Ann"}],
                "note": "a note",
                "keyword": "one, two words",
            },
            {"id": "d", "type": "article", "title": "B", "DOI": "10.1000/182"},
        ]
    ),
    said(
        A,
        None,
        {"id": "k", "type": "webpage", "author": [{"family": "Example", "given": "Ann"}]},
        title="A",
        note="a note",
        tags=("one", "two words"),
    ),
    said(
        "https://doi.org/10.1000/182",
        None,
        {"id": "d", "type": "article", "DOI": "10.1000/182"},
        title="B",
    ),
)
golden(
    "RIS",
    "library.ris",
    rows(
        "TY  - ELEC",
        "TI  - A",
        "AU  - Example, Ann",
        "AU  - Other, Bo",
        f"UR  - {A}",
        "KW  - one",
        "KW  - two words",
        "N1  - a note",
        "Y2  - 2020/09/13/",
        "ER  - ",
        "",
        between="\r\n",
    ),
    said(
        A,
        None,
        {"TY": "ELEC", "AU": ["Example, Ann", "Other, Bo"], "Y2": "2020/09/13/"},
        title="A",
        note="a note",
        tags=("one", "two words"),
    ),
)
golden(
    "BibTeX",
    "library.bib",
    rows(
        "@misc{example_a_2020,",
        "\ttitle = {A {Title} \\& more},",
        f"\turl = {{{A}}},",
        "\tauthor = {Example, Ann},",
        '\tnote = "a {quoted} note",',
        "\tyear = 2020,",
        "\turldate = {2020-09-13},",
        "\tkeywords = {one, two words},",
        "}",
    ),
    said(
        A,
        datetime(2020, 9, 13, tzinfo=UTC),
        {"type": "misc", "key": "example_a_2020", "author": "Example, Ann", "year": "2020"},
        title="A Title & more",
        note="a quoted note",
        tags=("one", "two words"),
    ),
)
golden(
    "Zotero RDF",
    "library.rdf",
    f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/">
 <bib:Document rdf:about="#item_1"><z:itemType>webpage</z:itemType>
  <dcterms:isPartOf><z:Website><dc:title>A site</dc:title></z:Website></dcterms:isPartOf>
  <bib:authors><rdf:Seq>
   <rdf:li><foaf:Person><foaf:surname>Example</foaf:surname><foaf:givenName>Ann</foaf:givenName>
   </foaf:Person></rdf:li>
   <rdf:li><foaf:Person><foaf:surname>Other</foaf:surname></foaf:Person></rdf:li>
  </rdf:Seq></bib:authors>
  <dcterms:isReferencedBy rdf:resource="#item_2"/><link:link rdf:resource="#item_3"/>
  <dc:subject>one</dc:subject>
  <dc:subject><z:AutomaticTag><rdf:value>two words</rdf:value></z:AutomaticTag></dc:subject>
  <dc:title>A</dc:title><dcterms:abstract>about</dcterms:abstract><dc:date>2019</dc:date>
  <dcterms:dateSubmitted>2020-09-13 12:26:40</dcterms:dateSubmitted>
  <dc:identifier><dcterms:URI><rdf:value>{A.replace("&", "&amp;")}</rdf:value></dcterms:URI>
  </dc:identifier></bib:Document>
 <bib:Memo rdf:about="#item_2"><rdf:value>&lt;p&gt;a note&lt;/p&gt;&lt;p&gt;of two&lt;/p&gt;
  </rdf:value></bib:Memo>
 <z:Attachment rdf:about="#item_3"><z:itemType>attachment</z:itemType><dc:identifier>
  <dcterms:URI><rdf:value>{C}</rdf:value></dcterms:URI></dc:identifier></z:Attachment>
 <bib:Article rdf:about="{B}"><dcterms:isPartOf rdf:resource="urn:issn:1"/>
  <dc:identifier>DOI 10.1000/182</dc:identifier></bib:Article>
 <bib:Journal rdf:about="urn:issn:1"><dc:title>A journal</dc:title></bib:Journal>
 <z:Collection rdf:about="#collection_1"><dc:title>Food</dc:title>
  <dcterms:hasPart rdf:resource="#collection_2"/></z:Collection>
 <z:Collection rdf:about="#collection_2"><dc:title>Soups</dc:title>
  <dcterms:hasPart rdf:resource="#item_1"/></z:Collection></rdf:RDF>""",
    said(
        A,
        AT,
        {
            "itemtype": "webpage",
            "ispartof title": "A site",
            "authors": ["Example, Ann", "Other"],
            "link": C,
            "abstract": "about",
            "date": "2019",
        },
        title="A",
        note="a note\nof two",
        tags=("one", "two words"),
        folders=("Food/Soups",),
    ),
    said(B, None, {"ispartof": "A journal", "identifier": "DOI 10.1000/182"}),
)
golden(
    "JSON Feed",
    "feed.json",
    json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": "F",
            "items": [
                {
                    "id": "1",
                    "url": B,
                    "external_url": A,
                    "title": "A",
                    "summary": "about",
                    "date_published": ISO,
                    "tags": ["one"],
                }
            ],
        }
    ),
    said(A, AT, {"id": "1", "url": B}, title="A", note="about", tags=("one",)),
)
golden(
    "RSS or Atom",
    "feed.xml",
    f"""<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>F</title><link>https://f.example/</link>
<item><title>A &amp; B</title><link>{A.replace("&", "&amp;")}</link><guid>7</guid>
<pubDate>Sun, 13 Sep 2020 14:26:40 +0200</pubDate><category>one</category>
<dc:creator>Ann</dc:creator><dc:creator>Bo</dc:creator><description>&lt;p&gt;about</description>
<enclosure url="{B}" length="1" type="audio/mpeg"/></item></channel></rss>""",
    said(
        A,
        AT,
        {"id": "7", "authors": ["Ann", "Bo"], "summary": "<p>about", "link enclosure": B},
        title="A & B",
        tags=("one",),
    ),
)
golden(
    "OPML",
    "feeds.opml",
    f"""<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title></head><body>
<outline text="Food"><outline type="rss" text="A" xmlUrl="https://a.example/feed"
 htmlUrl="{A.replace("&", "&amp;")}" category="one" created="{ISO}"/></outline>
<outline text="B" type="link" url="{B}"/></body></opml>""",
    said(
        A,
        AT,
        {"xmlurl": "https://a.example/feed"},
        title="A",
        tags=("one",),
        folders=("Food",),
    ),
    said(B, None, title="B"),
)
golden(
    "XBEL",
    "bookmarks.xbel",
    f"""<?xml version="1.0"?><!DOCTYPE xbel><xbel version="1.0"><title>Mine</title>
<folder><title>Food</title><bookmark href="{A.replace("&", "&amp;")}" added="{ISO}" id="7">
<title>A</title><desc>a note</desc></bookmark></folder><separator/>
<bookmark href="{B}"/></xbel>""",
    said(A, AT, {"id": "7"}, title="A", note="a note", folders=("Food",)),
    said(B, None),
)
golden(
    "Evernote (ENEX)",
    "notes.enex",
    f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">
<en-export application="Evernote"><note><title>A</title><created>20200913T122640Z</created>
<updated>20200914T122640Z</updated><tag>one</tag><tag>two words</tag>
<note-attributes><author>Ann</author><place-name>Here</place-name>
<source-url>{A.replace("&", "&amp;")}</source-url>
</note-attributes><content><![CDATA[<en-note><a href="{C}">c</a></en-note>]]></content>
<resource><mime>image/png</mime><resource-attributes><source-url>en-cache://x</source-url>
<file-name>x.png</file-name></resource-attributes></resource></note>
<note><title>Links</title><created>20200913T122640Z</created>
<content><![CDATA[<en-note><a href="{B}">the b</a></en-note>]]></content></note>
<note><title>More</title><content><![CDATA[<en-note><div>Read <a href="{B}">it</a>,</div>
<div>then {C}</div></en-note>]]></content></note></en-export>""",
    said(
        A,
        AT,
        {"updated": "20200914T122640Z", "author": "Ann", "place-name": "Here"},
        title="A",
        tags=("one", "two words"),
    ),
    said(B, AT, {"note": "Links"}, title="the b"),
    said(B, None, {"note": "More"}, title="it", note=f"Read it,\nthen {C}"),
    said(C, None, {"note": "More"}, note=f"Read it,\nthen {C}"),
)
golden(
    "shortcut",
    "A page.url",
    f"[InternetShortcut]\r\nURL={A}\r\nIconIndex=0\r\nHotKey=5\r\n",
    said(A, None, {"HotKey": "5"}, title="A page"),
)
golden(
    "MHTML",
    "page.mhtml",
    "From: <Saved by Blink>\r\n"
    f"Snapshot-Content-Location: {A}\r\nSubject: A\r\nDate: Sun, 13 Sep 2020 12:26:40 -0000\r\n"
    'MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype="text/html";\r\n'
    '\tboundary="x"\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>page</p>\r\n--x--\r\n',
    said(A, title="A"),
)
golden(
    "SingleFile HTML",
    "page.html",
    f"<!DOCTYPE html> <html><!--\n Page saved with SingleFile \n url: {A} \n"
    " saved date: Sun Sep 13 2020 14:26:40 GMT+0200 (CEST)\n--><head><title>A &amp; B</title>"
    f'</head><body><a href="{C}">c</a></body></html>',
    said(A, title="A & B"),
)
golden(
    "Readeck zip",
    "readeck.zip",
    zipped(
        {
            "bookmarks/uid1/info.json": json.dumps(
                {
                    "ID": 7,
                    "UID": "uid1",
                    "Created": ISO,
                    "URL": A,
                    "InitialURL": B,
                    "Title": "A",
                    "Labels": ["one", "two words"],
                    "Text": "An article",
                    "Files": {"article": {"name": "index.html"}},
                    "IsArchived": True,
                    "IsMarked": True,
                    "ReadProgress": 40,
                }
            ),
            "bookmarks/uid1/container/index.html": "<html><body><p>An article</p>"
            '<img src="./_resources/a.png"></body></html>',
            "bookmarks/uid1/container/_resources/a.png": "a picture",
            "bookmarks/uid1/container/_resources/unused.png": "another",
            "data.json": "{}",
        }
    ),
    said(
        A,
        AT,
        {"InitialURL": B, "ReadProgress": 40},
        title="A",
        tags=("one", "two words"),
        is_read=True,
        is_starred=True,
    ),
)
golden(
    "Linkwarden zip",
    "linkwarden.zip",
    zipped(
        {
            "backup.json": json.dumps(
                {
                    "collections": [
                        {
                            "id": 3,
                            "name": "Food",
                            "links": [
                                {"id": 5, "name": "A", "url": A, "createdAt": ISO},
                                {"id": 6, "name": "B", "url": B, "createdAt": ISO},
                                {"id": 8, "name": "C", "url": C, "createdAt": ISO},
                            ],
                        }
                    ],
                    "pinnedLinks": [],
                }
            ),
            "archives/3/5.html": "<html><p>A whole page</p></html>",
            "archives/3/5_readability.json": json.dumps({"content": "<p>not this</p>"}),
            "archives/3/6_readability.json": json.dumps({"content": "<p>An article</p>"}),
            "archives/3/8.pdf": "%PDF-1.4",
        }
    ),
    said(A, AT, {"id": 5}, title="A", folders=("Food",)),
    said(B, AT, {"id": 6}, title="B", folders=("Food",)),
    said(C, AT, {"id": 8}, title="C", folders=("Food",)),
)
golden(
    "Karakeep data",
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
                f" ('b4', {UNIX}, 'D', 0, 0, NULL, NULL, 'text')",
                f"INSERT INTO highlights VALUES ('b2', 'An', 'why', 'red', {UNIX})",
                f"INSERT INTO bookmarkTexts VALUES ('b3', 'see {C} too', NULL),"
                f" ('b4', 'of it', '{C}?4')",
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
    said(
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
    said(
        B,
        AT,
        {"highlights": [{"text": "An", "note": "why", "color": "red", "createdAt": UNIX}]},
        title="B",
    ),
    said(C, AT, {"content": {"text": f"see {C} too"}}, title="C"),
    said(f"{C}?4", AT, {"content": {"text": "of it"}}, title="D"),
)
golden(
    "Karakeep dump",
    "karakeep-dump.tar.gz",
    tarred(
        {
            "./manifest.json": json.dumps({"format": "karakeep.dump", "version": 1}),
            "./lists/index.json": json.dumps([{"id": "l1", "name": "Food", "type": "manual"}]),
            "./lists/membership.json": json.dumps({"l1": ["b1"]}),
            "./bookmarks/index.jsonl": rows(
                json.dumps(
                    {
                        "id": "b1",
                        "createdAt": ISO,
                        "title": "A",
                        "archived": True,
                        "favourited": True,
                        "note": "a note",
                        "tags": [{"id": "t", "name": "one"}],
                        "content": {
                            "type": "link",
                            "url": A,
                            "htmlContent": "<p>not this</p>",
                            "precrawledArchiveAssetId": "a1",
                        },
                        "assets": [{"id": "a1", "assetType": "precrawledArchive"}],
                    }
                ),
                json.dumps(
                    {
                        "id": "b2",
                        "createdAt": ISO,
                        "title": "B",
                        "tags": [],
                        "content": {"type": "link", "url": B, "htmlContent": "<p>An article</p>"},
                    }
                ),
            ),
            "./assets/index.json": json.dumps(
                [{"id": "a1", "contentType": "text/html", "filePath": "assets/files/a1"}]
            ),
            "./assets/files/a1": "<html><p>A whole page</p></html>",
        }
    ),
    said(
        A,
        AT,
        {"id": "b1"},
        title="A",
        note="a note",
        tags=("one",),
        folders=("Food",),
        is_read=True,
        is_starred=True,
    ),
    said(B, AT, {"id": "b2"}, title="B"),
)
golden(
    "Omnivore zip",
    "export.zip",
    zipped(
        {
            "metadata_0_to_20.json": json.dumps(
                [
                    {
                        "id": "i",
                        "slug": "a-slug",
                        "title": "A",
                        "description": "about",
                        "author": "Ann",
                        "url": A,
                        "state": "Archived",
                        "readingProgress": 40,
                        "thumbnail": None,
                        "labels": ["one", "two words"],
                        "savedAt": "2020-09-13T12:26:40.000Z",
                        "publishedAt": None,
                    }
                ]
            ),
            "content/a-slug.html": "<p>An article</p>",
            "highlights/a-slug.md": "> a quote\n\n#label\n\nmine\n",
        }
    ),
    said(
        A,
        AT,
        {
            "id": "i",
            "slug": "a-slug",
            "author": "Ann",
            "readingProgress": 40,
            "highlights": "> a quote\n\n#label\n\nmine",
        },
        title="A",
        note="about",
        tags=("one", "two words"),
        is_read=True,
    ),
)
golden(
    "Omnivore JSON",
    "metadata_0_to_20.json",
    json.dumps(
        [
            {"slug": "s", "title": "A", "url": A, "state": "Archived", "labels": ["one"]},
            {"savedAt": ISO, "readingProgress": 0, "url": B, "state": "Unknown", "slug": "t"},
        ]
    ),
    said(A, None, {"slug": "s"}, title="A", tags=("one",), is_read=True),
    said(B, AT, {"readingProgress": 0, "state": "Unknown", "slug": "t"}),
)
golden(
    "archiver Markdown",
    "all.zip",
    zipped(
        {
            "0123456789abcdef0123456789abcdef/pictures/001.png": "",
            "0123456789abcdef0123456789abcdef/pictures/002.png": "",
            "0123456789abcdef0123456789abcdef/index.md": rows(
                "---",
                "title: A title",
                f"url: {A}",
                "hash_url: 0123456789abcdef0123456789abcdef",
                "tags:",
                "- one",
                "- two words",
                "note: 'Mine: #1'",
                f"added: {ISO}",
                "folders:",
                "- Food/Soups",
                "read: true",
                "starred: true",
                "captured: 2024-02-03 04:05:06+00:00",
                "site: A site",
                "mood: good",
                "---",
                f"# Kites\n\nSee [the b]({B}).",
            ),
        }
    ),
    said(
        A,
        AT,
        {"mood": "good"},
        title="A title",
        tags=("one", "two words"),
        note="Mine: #1",
        folders=("Food/Soups",),
        is_read=True,
        is_starred=True,
    ),
)
golden(
    "zip of notes",
    "vault.zip",
    zipped(
        {
            "Vault/.obsidian/app.json": "{}",
            "Vault/Food/Soup.md": rows(
                "---",
                f"source: {A}",
                "title: A soup",
                f"created: {ISO}",
                "tags: [one, two words]",
                "mood: good",
                "---",
                f"See [the b]({B}).",
            ),
            "Vault/plain.md": f"{C}\n",
        }
    ),
    said(
        A,
        AT,
        {"mood": "good"},
        title="A soup",
        tags=("one", "two words"),
        folders=("Vault/Food",),
    ),
    said(
        B,
        AT,
        {"note": "Vault/Food/Soup.md"},
        title="the b",
        tags=("one", "two words"),
        folders=("Vault/Food",),
    ),
    said(C, None, {"note": "Vault/plain.md"}, folders=("Vault",)),
)
golden(
    "zip of lists",
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
    said(A, None, {"highlights": [{"quote": "q", "created_at": UNIX}]}, title="A"),
    said(A, title="A", tags=("one",)),
)
golden(
    "Netscape HTML",
    "bookmarks.html",
    f"""<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><H1>Bookmarks</H1><DL><p>
<DT><H3>Food</H3><DL><p><DT><A HREF="{A.replace("&", "&amp;")}" ADD_DATE="{UNIX}"
 LAST_MODIFIED="5" TAGS="one,two words" TOREAD="1" PRIVATE="1">A &amp; B</A><DD>a note
</DL><p></DL>""",
    said(
        A,
        AT,
        {"last_modified": "5", "private": "1"},
        title="A & B",
        note="a note",
        tags=("one", "two words", "toread"),
        folders=("Food",),
    ),
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
OWN_SAID = said(
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
    OWN_SAID,
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
    replace(OWN_SAID, note="=a note", source_record='{"author":"Ann"}\n{"Mood":"good"}'),
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
    said(
        A,
        title="A & B",
        note="a note",
        tags=("one,two",),
        folders=("Favorites",),
        is_read=True,
        is_starred=True,
    ),
)
golden("plain text", "list.txt", f"[A]({A})\n{B}\n", said(A, None, title="A"), said(B, None))
golden("JSON", "x.json", json.dumps({"things": [{"link": B}]}), said(B, None))
golden("CSV", "x.csv", f"What,Where,When\nA,{B},{ISO}\n", said(B, None, {"What": "A", "When": ISO}))
golden(
    "XML", "x.xml", f'<?xml version="1.0"?><x><y to="{B}" title="B"/></x>', said(B, None, title="B")
)
