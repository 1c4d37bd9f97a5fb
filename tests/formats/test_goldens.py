"""Each format is detected by its content, and no field of a file is lost."""

import io
import json

import pytest

from archiver.errors import UnreadableFile
from archiver.formats import unread_addresses
from archiver.model.imports import UNREAD, format_problem
from tests.formats.goldens import GOLDENS, A, B, C, bookmark, database
from tests.formats.reading import annotations, opened

NEED_A_NAME = {
    "Google Saved CSV",
    "shortcut",
    "CSV",
    "JSON",
    "XML",
    "plain text",
    "Safari property list",
}


@pytest.mark.parametrize("form", GOLDENS)
def test_every_field_of_a_file_is_kept(form):
    name, data, expected = GOLDENS[form]

    assert annotations(data, name, form=form) == expected
    if form not in NEED_A_NAME:
        assert annotations(data, "standard input", form=form) == expected


def test_every_field_of_buku_is_kept():
    data = database(
        "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, URL TEXT, metadata TEXT, tags TEXT,"
        " desc TEXT, flags INTEGER)",
        ("INSERT INTO bookmarks VALUES (1, ?, 'A', ',one,two words,', 'a note', 0)", (A,)),
    )

    assert annotations(data, form="buku database") == [
        bookmark(A, None, {"flags": 0}, title="A", note="a note", tags=("one", "two words"))
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.html", f'<DL><DT><A HREF="{A}" ICON="{C}i.png">A</A><!-- <A HREF="{B}"> --></DL>'),
        ("x.txt", f"{A}\n# {B}\n"),
        ("x.json", json.dumps([{"url": A, "title": "A", "image": C, "inner": {"odd": [[B]]}}])),
        ("x.opml", f'<opml><body><outline htmlUrl="{A}" text="A"/><x>{B}</x></body></opml>'),
    ],
)
def test_addresses_that_were_not_read_are_counted(name, text):
    _, bookmarks = opened(text, name)

    problems = [each.problem for each in bookmarks if each.problem]
    read = {each.annotation.url_given for each in bookmarks}
    has_address = any(B in each.annotation.source_record for each in bookmarks)
    assert problems == ([] if B in read or has_address else [format_problem(UNREAD, 1)])


def test_password_files_are_refused_and_skipped_in_a_zip():
    with pytest.raises(UnreadableFile, match="contains passwords"):
        opened(f"name,url,username,password\nA,{A},ann,secret\n", "Chrome Passwords.csv")
    _, data, _ = GOLDENS["zip file of link lists"]
    assert "secret" not in str(opened(data)[1])


def test_saved_articles_are_imported_with_their_links():
    def page(form):
        return next(e.page.content.decode() for e in opened(GOLDENS[form][1])[1] if e.page)

    assert page("wallabag JSON") == "<p>An article</p>"
    assert page("wallabag CSV") == '<p>An "article"</p>'
    assert page("Omnivore zip") == "<p>An article</p>"
    assert page("Evernote (ENEX)").startswith("<en-note>")
    assert "SingleFile" in page("SingleFile HTML")


class Trickle(io.RawIOBase):
    """Slow pipe, which returns a few bytes at a time."""

    def __init__(self, data, size):
        self.left, self.size = data, size

    def read(self, count=-1, /):
        size = min(self.size, count)
        piece, self.left = self.left[:size], self.left[size:]
        return piece


def test_a_slow_pipe_gives_the_same_result():
    for form in ("Pinboard JSON", "Pocket CSV", "OPML", "Netscape HTML", "zip file of link lists"):
        name, data, expected = GOLDENS[form]
        for size in (1, 7, 4096):
            read_as, bookmarks = opened(Trickle(data, size), name)
            assert (read_as, [each.annotation for each in bookmarks]) == (form, expected)


def test_firefox_bookmarks_keep_their_order():
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

    bookmarks = annotations(data, form="Firefox places.sqlite")

    assert [each.title for each in bookmarks] == ["First", "B", "A"]
    fields = {"description": "about", "last_visit_date": 7, "guid": "g", "keyword": "k"}
    assert fields.items() <= json.loads(bookmarks[2].source_record).items()


def test_addresses_after_the_last_compared_one_are_not_reported(monkeypatch):
    monkeypatch.setattr(unread_addresses, "MAX_REMEMBERED", 3)
    text = "".join(f"https://site.example/{n}\n" for n in range(20_000))

    _, bookmarks = opened(text, "links.txt")

    assert len(bookmarks) == 20_000
    assert not any(each.problem for each in bookmarks)
