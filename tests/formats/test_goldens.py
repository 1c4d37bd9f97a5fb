"""Each format is told by its content, and all that a file says is kept somewhere."""

import io
import json
import plistlib

import pytest

from archiver.errors import UnreadableFile
from archiver.formats.detection import IMPORTERS, open_bookmarks
from tests.formats.goldens import (
    AT,
    GOLDENS,
    SAFARI_SAID,
    SAFARI_TREE,
    UNIX,
    WEBKIT,
    A,
    B,
    C,
    database,
    said,
)
from tests.formats.reading import annotations, opened


def test_every_format_has_a_golden_file():
    assert {each.name for each in IMPORTERS} == set(GOLDENS)


@pytest.mark.parametrize("form", GOLDENS)
def test_every_field_of_a_file_is_kept(form):
    name, data, expected = GOLDENS[form]

    assert annotations(data, name, form=form) == expected


@pytest.mark.parametrize(
    "form",
    sorted(
        {*GOLDENS}
        - {
            "Google Saved CSV",
            "shortcut",
            "CSV",
            "JSON",
            "XML",
            "plain text",
            "Safari property list",
        }
    ),
)
def test_a_format_is_told_whatever_the_name_of_its_file(form):
    _, data, expected = GOLDENS[form]

    assert annotations(data, "standard input", form=form) == expected


def test_a_property_list_as_xml_says_the_same():
    data = plistlib.dumps(SAFARI_TREE, fmt=plistlib.FMT_XML)

    assert annotations(data, form="Safari property list") == list(SAFARI_SAID)


def test_a_webloc_is_one_link_with_the_name_of_its_file():
    data = plistlib.dumps({"URL": A}, fmt=plistlib.FMT_XML)

    assert annotations(data, "A page.webloc") == [said(A, None, title="A page")]


def test_columns_may_be_missing_be_more_and_stand_in_any_order_and_case():
    text = f"STATUS,Extra,Time Added,Tags,URL\narchive,x,1600000000,one,{A}\n"

    assert annotations(text, form="Pocket CSV") == [
        said(A, AT, {"Extra": "x"}, tags=("one",), is_read=True)
    ]


def test_formulas_are_texts():
    text = f"title,url,time_added,tags,status\n=HYPERLINK(1),{A},1600000000,,unread\n"

    (found,) = annotations(text)
    assert found.title == "=HYPERLINK(1)"


def test_a_file_with_passwords_is_refused_and_none_is_read_from_a_zip():
    with pytest.raises(UnreadableFile, match="holds passwords"):
        opened(f"name,url,username,password\nA,{A},ann,secret\n", "Chrome Passwords.csv")
    _, data, _ = GOLDENS["zip of lists"]
    assert "secret" not in str(opened(data)[1])


def test_saved_articles_come_with_their_links():
    pages = {
        form: [each.page.content.decode() for each in opened(data, name)[1] if each.page]
        for form, (name, data, _) in GOLDENS.items()
    }

    assert pages["wallabag JSON"] == ["<p>An article</p>"]
    assert pages["wallabag CSV"] == ['<p>An "article"</p>']
    assert pages["Omnivore zip"] == ["<p>An article</p>"]
    assert pages["Evernote (ENEX)"][0].startswith("<en-note>")
    assert "SingleFile" in pages["SingleFile HTML"][0]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_pipe_gives_the_same_however_little_at_once(size):
    class Trickle(io.RawIOBase):
        def __init__(self, data):
            self.left = data

        def read(self, count=-1, /):
            piece, self.left = self.left[: min(size, count)], self.left[min(size, count) :]
            return piece

    for form in ("Pinboard JSON", "Pocket CSV", "OPML", "zip of lists"):
        name, data, expected = GOLDENS[form]
        read_as, found = open_bookmarks(Trickle(data), name)
        assert (read_as, [each.annotation for each in found]) == (form, expected)


def test_numbers_of_wallabag_one_are_flags():
    row = {
        "0": "1",
        "id": "1",
        "title": "A",
        "url": B,
        "is_read": "1",
        "is_fav": "0",
        "tags": "one",
    }

    assert annotations(json.dumps([row]), form="wallabag JSON") == [
        said(B, None, {"id": "1"}, title="A", tags=("one",), is_read=True)
    ]


def test_a_note_of_evernote_is_no_page_because_a_picture_in_it_is_from_one():
    text = """<?xml version="1.0"?><en-export><note><title>Mine</title><resource>
    <resource-attributes><source-url>https://a.example/x.png</source-url></resource-attributes>
    </resource><content><![CDATA[<en-note>words</en-note>]]></content></note></en-export>"""

    _, (found,) = opened(text)

    assert (found.annotation.url_given, found.problem) == ("Mine", "This note holds no link.")


@pytest.mark.parametrize(
    "before", ["@preamble{words, and more}\n", "% words\n\n", "@string(a = {b})\n\n", ""]
)
@pytest.mark.parametrize("marks", ["{}", "()"])
def test_references_may_stand_behind_a_preamble(before, marks):
    text = f"{before}@misc{marks[0]}key,\n title = {{A}},\n url = {{{A}}}\n{marks[1]}\n"

    assert [each.title for each in annotations(text, form="BibTeX")] == ["A"]


def test_the_authors_and_other_links_of_an_entry_are_kept():
    text = f"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"
    xmlns:media="http://search.yahoo.com/mrss/"><entry><title>T</title><media:title>Other</media:title>
    <link href="{A.replace("&", "&amp;")}"/><link rel="enclosure" href="{B}"/>
    <author><name>Ann</name><uri>{C}</uri></author><author><name>Bo</name></author>
    <content type="xhtml"><p>words</p></content><media:thumbnail url="{C}"/></entry></feed>"""

    assert annotations(text, form="RSS or Atom") == [
        said(
            A,
            None,
            {
                "authors": [f"Ann {C}", "Bo"],
                "media_thumbnail": C,
                "content": "<p>words</p>",
                "link enclosure": B,
            },
            title="T",
        )
    ]


def test_bookmarks_of_firefox_stand_in_the_order_in_which_it_shows_them():
    data = database(
        "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT, title TEXT, description TEXT,"
        " last_visit_date INTEGER)",
        "CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER,"
        " parent INTEGER, position INTEGER, title TEXT, dateAdded INTEGER, guid TEXT)",
        "CREATE TABLE moz_keywords (id INTEGER PRIMARY KEY, keyword TEXT, place_id INTEGER)",
        ("INSERT INTO moz_places VALUES (1, ?, 'A', 'about', 7), (2, ?, 'B', NULL, NULL)", (A, B)),
        "INSERT INTO moz_keywords VALUES (1, 'k', 1)",
        "INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, 0, '', 0, NULL),"
        " (2, 2, NULL, 1, 0, 'menu', 0, NULL), (3, 2, NULL, 2, 1, 'Food', 0, NULL),"
        " (4, 1, 1, 3, 1, 'A', 0, 'g'), (5, 1, 2, 3, 0, 'B', 0, NULL),"
        " (6, 1, 2, 2, 0, 'First', 0, NULL)",
    )

    found = annotations(data, form="Firefox places.sqlite")

    assert [each.title for each in found] == ["First", "B", "A"]
    kept = {"description": "about", "last_visit_date": 7, "guid": "g", "keyword": "k"}
    assert kept.items() <= json.loads(found[2].source_record).items()


def test_a_history_of_chrome_needs_no_more_than_its_addresses():
    data = database(
        "CREATE TABLE urls (url TEXT, title TEXT, last_visit_time INTEGER)",
        ("INSERT INTO urls VALUES (?, 'A', ?), (NULL, 'none', 0)", (A, WEBKIT)),
    )

    form, (known, none) = opened(data)

    assert form == "Chrome History"
    assert known.annotation == said(A, title="A")
    assert none.problem == "This row holds no address."


def test_all_that_safari_says_of_a_page_to_read_is_kept():
    node = {"URLString": A, "imageURL": B, "ReadingListNonSync": {"siteName": "A site", "x": b"y"}}
    data = plistlib.dumps({"Children": [node]})

    (found,) = annotations(data, form="Safari property list")

    kept = {"imageURL": B, "ReadingListNonSync": {"siteName": "A site"}}
    assert json.loads(found.source_record) == kept


def test_a_database_is_not_taken_for_one_that_has_a_table_of_the_same_name():
    data = database(
        "CREATE TABLE bookmarks (_id INTEGER PRIMARY KEY, title TEXT, url TEXT, type INTEGER)",
        "CREATE TABLE urls (id INTEGER, url TEXT)",
    )

    with pytest.raises(UnreadableFile, match="without bookmarks"):
        opened(data)


def test_an_old_database_of_firefox_in_any_language_says_the_same():
    """Until 40 keywords were of bookmarks, until 62 a table told which folders are its own."""
    data = database(
        "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT, title TEXT)",
        "CREATE TABLE moz_keywords (id INTEGER PRIMARY KEY, keyword TEXT UNIQUE)",
        "CREATE TABLE moz_bookmarks_roots (root_name TEXT UNIQUE, folder_id INTEGER)",
        "CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER,"
        " parent INTEGER, title TEXT, keyword_id INTEGER)",
        ("INSERT INTO moz_places VALUES (1, ?, 'A')", (A,)),
        "INSERT INTO moz_keywords VALUES (1, 'a')",
        "INSERT INTO moz_bookmarks_roots VALUES ('places', 1), ('menu', 2), ('tags', 3)",
        "INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, '', NULL),"
        " (2, 2, NULL, 1, 'Menu des marque-pages', NULL), (3, 2, NULL, 1, 'Étiquettes', NULL),"
        " (4, 2, NULL, 2, 'Cuisine', NULL), (5, 2, NULL, 3, 'one', NULL),"
        " (6, 1, 1, 4, 'A', 1), (7, 1, 1, 5, NULL, NULL)",
    )

    assert annotations(data, form="Firefox places.sqlite") == [
        said(
            A,
            None,
            {"keyword": "a", "root": "menu"},
            title="A",
            tags=("one",),
            folders=("Cuisine",),
        )
    ]


def test_the_folders_of_firefox_itself_are_known_by_their_guids():
    data = database(
        "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT, title TEXT)",
        "CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER,"
        " parent INTEGER, title TEXT, guid TEXT)",
        ("INSERT INTO moz_places VALUES (1, ?, 'A')", (A,)),
        "INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, '', 'root________'),"
        " (2, 2, NULL, 1, 'Symbolleiste', 'toolbar_____'), (3, 1, 1, 2, 'A', 'g')",
    )

    assert annotations(data) == [said(A, None, {"guid": "g", "root": "toolbar"}, title="A")]


def test_what_pocket_answered_programs_with_has_its_titles_and_dates():
    row = {
        "item_id": "7",
        "given_url": A,
        "given_title": "",
        "resolved_title": "An A",
        "time_added": str(UNIX),
        "favorite": "1",
    }
    (found,) = annotations(json.dumps({"status": 1, "list": {"7": row}}), form="JSON")

    assert (found.title, found.added_at, found.is_starred) == ("An A", AT, True)
