"""Netscape bookmark files, valid and malformed."""

import io
import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats import netscape
from archiver.formats.netscape import MAX_NOTE, MAX_TITLE, read_netscape
from archiver.formats.rows import MAX_URL
from archiver.formats.source_file import SourceFile
from archiver.model.annotation import Annotation
from archiver.model.imports import NO_LINK

CHROME = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1600000000" LAST_MODIFIED="0" PERSONAL_TOOLBAR_FOLDER="true">Lesezeichen</H3>
    <DL><p>
        <DT><A HREF="https://a.example/?x=1&amp;y=2" ADD_DATE="1600000000"
            ICON="data:image/png;base64,iVBORw0KGgo=">A &amp; B</A>
        <DT><H3>News</H3>
        <DL><p>
            <DT><H3>World &lt;1&gt;</H3>
            <DL><p>
                <DT><A HREF="https://b.example/">B</A>
            </DL><p>
            <DT><A HREF="https://c.example/">C</A>
        </DL><p>
    </DL><p>
    <DT><H3>Other bookmarks</H3>
    <DL><p>
        <DT><A HREF="https://d.example/">D</A>
    </DL><p>
    <DT><A HREF="https://e.example/">E</A>
</DL><p>
"""


def read(text: str | bytes) -> list[Annotation]:
    data = text.encode() if isinstance(text, str) else text
    return [each.annotation for each in read_netscape(SourceFile(io.BytesIO(data), "x.html"))]


def only(text: str | bytes) -> Annotation:
    (bookmark,) = read(text)
    return bookmark


def test_folders_are_kept_as_paths_and_those_of_the_browser_as_roots() -> None:
    bookmarks = {each.title: (each.folders, each.source_record) for each in read(CHROME)}

    assert bookmarks == {
        "A & B": ((), '{"root":"Lesezeichen"}'),
        "B": (("News/World <1>",), '{"root":"Lesezeichen"}'),
        "C": (("News",), '{"root":"Lesezeichen"}'),
        "D": ((), '{"root":"Other bookmarks"}'),
        "E": ((), ""),
    }


@pytest.mark.parametrize(
    "link",
    [
        '<A HREF="https://a.example/">',
        "<A HREF='https://a.example/'>",
        "<A HREF=https://a.example/>",
        '<a\nhref = "https://a.example/"\n>',
        '<A ADD_DATE="1" HREF="https://a.example/" HREF="https://b.example/">',
        '<A TITLE="x > y" HREF="https://a.example/">',
        '<A HREF="https:&#x2F;&#47;a.example&sol;">',
        '<A HREF=" https://a.example/ ">',
    ],
)
def test_all_attribute_quotes_are_read(link: str) -> None:
    assert only(f"<DT>{link}T</A>").url_given == "https://a.example/"


def test_unknown_attributes_are_kept_except_icons() -> None:
    text = (
        '<DT><A HREF=x ADD_DATE="soon" LAST_MODIFIED="1600000001" LAST_VISIT="0" PRIVATE="1" '
        'ICON="data:image/png;base64,AAAA" SHORTCUTURL="s">X</A>'
    )

    assert json.loads(only(text).source_record) == {
        "add_date": "soon",
        "last_modified": "1600000001",
        "private": "1",
        "shortcuturl": "s",
    }


@pytest.mark.parametrize(
    ("heading", "is_read", "is_starred", "record"),
    [
        ("Unread", False, False, ""),
        ("Read Archive", True, False, ""),
        ("Archive", True, False, ""),
        ("Starred", False, True, ""),
        ("Cooking", False, False, '{"section":"cooking"}'),
    ],
)
def test_pocket_and_instapaper_headings_set_the_read_state(
    heading: str, is_read: bool, is_starred: bool, record: str
) -> None:
    bookmark = only(f"<h1>{heading}</h1><ul><li><a href=x time_added=1600000000>X</a></ul>")

    assert (bookmark.is_read, bookmark.is_starred, bookmark.source_record) == (
        is_read,
        is_starred,
        record,
    )
    assert bookmark.added_at == datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


def test_a_favourite_of_raindrop_is_starred() -> None:
    bookmark = only('<DT><A HREF="a" DATA-IMPORTANT="true">A</A>')

    assert (bookmark.is_starred, bookmark.source_record) == (True, "")


def test_a_note_ends_where_the_next_item_begins() -> None:
    text = "<DT><A HREF=a>A</A>\n<DD>First &amp; second<BR>third\n<DT><A HREF=b>B</A>\n<DD>Other"

    assert [bookmark.note for bookmark in read(text)] == ["First & second\nthird", "Other"]


def test_a_link_inside_a_note_is_part_of_the_note() -> None:
    text = "<DT><A HREF=a>A</A><DD>see <A HREF=z>there</A> too\n<DT><A HREF=b>B</A>"

    assert [(bookmark.url_given, bookmark.note) for bookmark in read(text)] == [
        ("a", "see there too"),
        ("b", ""),
    ]
    absolute = text.replace("HREF=z", "HREF=https://z.example/")
    assert read(absolute)[0].note == "see there (https://z.example/) too"


def test_empty_folders_become_lists_except_browser_roots() -> None:
    text = (
        "<DL><DT><H3>Bookmarks bar</H3><DL></DL><DT><H3>Empty</H3><DL></DL>"
        "<DT><H3>Full</H3><DL><DT><H3>In it</H3><DL><DT><H3>Below</H3><DL></DL></DL>"
        "<DT><A HREF=a>A</A></DL><DT><H3>Filled below</H3><DL><DT><H3>x</H3><DL><DT><A HREF=b>B</A>"
        "</DL></DL></DL>"
    )
    file = SourceFile(io.BytesIO(text.encode()), "x.html")

    bookmarks = [each.annotation.url_given for each in read_netscape(file)]

    assert bookmarks == ["a", "b"]
    assert [each.path for each in file.lists] == ["Empty", "Full/In it/Below"]


def test_reading_stops_after_too_many_tags_without_a_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(netscape, "MAX_TAGS_WITHOUT_LINK", 100)
    first, last = ('<DT><A HREF="http://a.example/1">1</A>', '<A HREF="http://a.example/2">2</A>')

    few = read(f"{first}{'<dl></dl>' * 40}{last}")
    many = f"{first}{'<dl></dl>' * 1_000}{last}".encode()

    assert [each.url_given for each in few] == ["http://a.example/1", "http://a.example/2"]
    bookmarks = [
        (each.annotation.url_given, each.problem)
        for each in read_netscape(SourceFile(io.BytesIO(many), "x.html"))
    ]
    assert bookmarks == [("http://a.example/1", ""), ("", NO_LINK)]


MARKUP = (
    *("<script>", "<SCRIPT SRC=x>", "<style>", "<!--", "<textarea>", "<title>", "<xmp>"),
    *("<plaintext>", "<iframe>", "<noscript>", "<noembed>", "<noframes>", "<select>", "<svg>"),
    *("<math>", "<template>", "<object>", "<table>", "<button>", "<option>", "<frameset>"),
    *("<![CDATA[", "<!DOCTYPE html>", "<?php", "</body></html>", "<b><i>", "<p", "<a href>"),
    *("<div><div>", "</archiver-item>", "<archiver-item>", '<img alt="', "</title>", "<T, U>"),
)
ITEMS = {
    "title": "<DT><A HREF=b>About {} there</A>\n",
    "note": "<DT><A HREF=b>B</A>\n<DD>About {} there\n",
    "folder": "<DT><H3>About {} there</H3>\n<DL><DT><A HREF=b>B</A></DL>\n",
    "list item": "<li><a href=b>About {} there</a></li>\n",
}


@pytest.mark.parametrize("place", ITEMS)
def test_unescaped_markup_hides_no_other_bookmark(place: str) -> None:
    for markup in MARKUP:
        close = markup.strip("<>").split()[0].lower()
        text = (
            f"<DL><DT><A HREF=a>A</A>\n{ITEMS[place].format(markup)}"
            "<DT><A HREF=c TAGS=t>C</A>\n<DD>A note\n"
            f"<DT><A HREF=d>Closing </{close}> --> here</A>\n<DT><A HREF=e>E</A></DL>"
        )

        bookmarks = {each.url_given: each for each in read(text)}

        assert [*bookmarks] == ["a", "b", "c", "d", "e"], markup
        assert (bookmarks["c"].title, bookmarks["c"].note, bookmarks["c"].tags) == (
            "C",
            "A note",
            ("t",),
        )
        texts = " ".join((bookmarks["b"].title, bookmarks["b"].note, *bookmarks["b"].folders))
        assert re.search("(?s)About .*there", texts), markup


def test_every_field_is_limited_in_length() -> None:
    long = "x" * 600_000
    bookmarks = read(
        f"<DT><A HREF={long}>{long}</A><DD>{long}"
        f"<DT><A HREF=b TAGS={','.join(map(str, range(9_999)))}>B"
    )

    assert (len(bookmarks[0].url_given), len(bookmarks[0].title), len(bookmarks[0].note)) == (
        MAX_URL,
        MAX_TITLE,
        MAX_NOTE,
    )
    assert len(bookmarks[1].tags) <= 200


@pytest.mark.parametrize(
    "hostile",
    [
        b"<DT><A HREF='" + b"x" * 150_000,
        b'<a b="' * 25_000,
        b"<a b=\"<a c='>" * 10_000,
        b"<a b=\"='>" * 10_000,
        b"<" * 25_000,
        b"<!--" * 35_000,
        b"<a " + b"= " * 50_000 + b">",
        b"<a x" + b" " * 150_000 + b">",
        b"<DT><A HREF=x>&#" + b"9" * 150_000,
        b"<DT><A HREF=x>T</A><DD>" + b"[linkding-notes]" * 10_000,
        b"<DL>" * 15_000,
        b"<DT><A HREF=x>T</A><DD>" + b"<div>" * 8_000,
        b"<DT><A HREF=x>T</A><DD>" + b"x<br>" * 8_000,
        b"<script>x<A HREF=y>" * 4_000,
        b"\xe9\n" * 15_000,
    ],
    ids=range(15),
)
def test_hostile_input_takes_linear_time(hostile: bytes) -> None:
    # A quadratic algorithm would take minutes here.
    bookmarks = read(b"<DT><A HREF=first>T</A><DT>" + hostile)

    assert bookmarks[0].url_given == "first"


@given(st.binary())
def test_any_bytes_are_parsed(data: bytes) -> None:
    for bookmark in read(data):
        assert bookmark.url_given.encode().decode() == bookmark.url_given
