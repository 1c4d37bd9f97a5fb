"""Small exports of programs in ``other_programs``, one of each kind, and their bookmarks."""

import json

from tests.formats.goldens import AT, ISO, UNIX, A, B, C, bookmark

QUOTE = [{"selector": [{"type": "TextQuoteSelector", "exact": "a  quote"}]}]
EXPORTS = {
    "Instapaper CSV": (
        (
            "URL,Title,Selection,Folder,Timestamp,Tags\n"
            f'{A},A,a selection,Cooking,{UNIX},"[""one"",""two words""]"\n'
            f"{B},,,Archive,{UNIX},[]\n{C},C,,Starred,{UNIX},[]\n"
        ),
        bookmark(A, title="A", tags=("one", "two words"), note="a selection", folders=("Cooking",)),
        bookmark(B, is_read=True),
        bookmark(C, title="C", is_starred=True),
    ),
    "Raindrop.io CSV": (
        (
            "id,title,note,excerpt,url,folder,tags,created,favorite\n"
            f'7,A,my note,its words,{A},Recipes / Soups,"one, two words",{ISO},true\n'
            f"8,B,,,{B},Unsorted,,{ISO},false\n"
        ),
        bookmark(
            A,
            AT,
            {"id": "7"},
            title="A",
            tags=("one", "two words"),
            note="my note\n\nits words",
            is_starred=True,
            folders=("Recipes/Soups",),
        ),
        bookmark(B, AT, {"id": "8"}, title="B"),
    ),
    "Readwise Reader CSV": (
        (
            "Title,URL,Document tags,Saved date,Location\n"
            f"""A,{A},"['one', ""it's two"", 'it\\'s', 'favorite']",{ISO},archive\n"""
            f"B,{B},[],{ISO},feed\n"
        ),
        bookmark(A, title="A", tags=("one", "it's two", "it's"), is_read=True, is_starred=True),
        bookmark(B, AT, {"Location": "feed"}, title="B"),
    ),
    "wallabag CSV": (
        (
            "Title;URL;Content;Tags;MIME Type;Creation date\n"
            f'"A &amp; B";{A};"<p>An ""article""</p>";"one, two";text/html;13/09/2020 12:26:40\n'
        ),
        bookmark(A, AT, {"MIME Type": "text/html"}, title="A & B", tags=("one", "two")),
    ),
    "Google Saved CSV": (
        f"Title,Note,URL,Tags,Comment\n,,,,\nA,a note,{A},one,said\n",
        bookmark(A, None, title="A", tags=("one",), note="a note\n\nsaid", folders=("To cook",)),
    ),
    "Omnivore JSON": (
        [
            {"slug": "s", "title": "A", "url": A, "state": "Archived", "labels": ["one"]},
            {"savedAt": ISO, "readingProgress": 0, "url": B, "state": "Unknown", "slug": "t"},
        ],
        bookmark(A, None, {"slug": "s"}, title="A", tags=("one",), is_read=True),
        bookmark(B, AT, {"readingProgress": 0, "state": "Unknown", "slug": "t"}),
    ),
    "wallabag JSON": (
        [
            {
                "is_archived": 1,
                "is_starred": True,
                "tags": ["one", {"label": "two words"}],
                "title": "A &amp; <i>B</i>",
                "url": A,
                "content": "<p>An article</p>",
                "created_at": "2020-09-13T14:26:40+0200",
                "reading_time": 5,
            }
        ],
        bookmark(
            A,
            AT,
            {"reading_time": 5},
            title="A & B",
            tags=("one", "two words"),
            is_read=True,
            is_starred=True,
        ),
    ),
    "linkding JSON": (
        {
            "count": 1,
            "results": [
                {
                    "id": 7,
                    "url": A,
                    "title": "A",
                    "description": "about",
                    "notes": "mine",
                    "is_archived": True,
                    "unread": True,
                    "tag_names": ["one"],
                    "date_added": "2020-09-13T12:26:40.123456Z",
                }
            ],
        },
        bookmark(
            A,
            AT,
            {"id": 7},
            title="A",
            tags=("one", "toread"),
            note="about\n\nmine",
            is_read=True,
        ),
    ),
    "ArchiveBox JSON": (
        {
            "url": "https://ArchiveBox.io",
            "links": [
                {
                    "archive_path": "archive/1600000000",
                    "history": {"title": [{"cmd": ["curl", C], "output": "A"}]},
                    "is_archived": True,
                    "sources": ["1.txt"],
                    "tags": "one,two",
                    "timestamp": "1600000000.0",
                    "title": "A",
                    "url": A,
                }
            ],
        },
        bookmark(A, AT, {"sources": ["1.txt"]}, title="A", tags=("one", "two")),
    ),
    "Hypothes.is JSON": (
        {
            "rows": [
                {
                    "created": ISO,
                    "uri": A,
                    "text": "mine",
                    "tags": ["one"],
                    "target": QUOTE,
                    "document": {"title": ["A"]},
                }
            ]
        },
        bookmark(
            A,
            AT,
            {
                "target": QUOTE,
                "document": {"title": ["A"]},
                "highlights": [{"quote": "a quote", "note": "mine", "created": ISO}],
            },
            title="A",
            tags=("one",),
            note="> a quote\n\nmine",
        ),
    ),
    "CSL JSON": (
        [
            {"type": "webpage", "title": "A", "URL": A, "note": "a note", "keyword": "one, two"},
            {"type": "article", "title": "B", "DOI": "10.1000/182"},
        ],
        bookmark(A, None, {"type": "webpage"}, title="A", tags=("one", "two"), note="a note"),
        bookmark(
            "https://doi.org/10.1000/182",
            None,
            {"type": "article", "DOI": "10.1000/182"},
            title="B",
        ),
    ),
}
NAMES = {"Google Saved CSV": "Takeout/Saved/To cook.csv"}
"""File names, for formats that use them."""


def exported(form):
    """Return the text of an export and its bookmarks."""
    content, *expected = EXPORTS[form]
    return content if isinstance(content, str) else json.dumps(content), expected
