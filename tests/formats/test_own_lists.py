"""Reading our exports loses nothing that the format can express."""

import csv
import io
import json
import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.feeds import ATOM
from archiver.formats.netscape import BOOKMARKS_HTML
from archiver.formats.own_csv import CSV
from archiver.formats.own_json import JSON, JSON_LINES, OWN_JSON
from archiver.formats.seeds import bounded
from archiver.formats.source_file import GivenFile
from archiver.http.text_decoders import for_xml
from archiver.model.annotation import Annotation
from archiver.model.entry import ExportedEntry
from archiver.model.entry_list import folder_names
from archiver.model.job import State
from tests.formats.exported import AT, HOSTILE, entries, entry_of, texts, written
from tests.formats.reading import annotations, opened

CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f]")
lists = st.lists(entries, max_size=5)


def said(entries_):
    return [each.entry.annotation for each in entries_]


def without_controls(text):
    return CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def as_a_table_has_it(annotation):
    """Reduce an annotation to what a table can hold: no control characters, uniform line ends."""
    return replace(
        annotation,
        **{
            name: without_controls(getattr(annotation, name))
            for name in ("url_given", "title", "note", "source", "source_record")
        },
        tags=tuple(filter(None, map(without_controls, annotation.tags))),
        folders=tuple(filter(None, map(without_controls, annotation.folders))),
    )


@pytest.mark.parametrize(("form", "name"), [(JSON, "x.json"), (JSON_LINES, "x.jsonl")])
@given(found=lists)
def test_json_gives_back_all_that_was_said(form, name, found):
    if not found and form is JSON_LINES:
        return  # an empty file is rejected with an error message

    read_as = "archiver JSON"
    assert annotations(written(form, found), name, form=read_as) == said(found)


@given(lists.filter(bool))
def test_json_of_what_was_read_is_the_same_json(found):
    first = written(JSON, found)

    again = [entry_of(each) for each in annotations(first)]

    assert written(JSON, again) == first


@given(lists)
def test_csv_gives_back_what_a_table_can_hold(found):
    read = annotations(written(CSV, found), "x.csv", form="archiver CSV")

    assert read == [as_a_table_has_it(each) for each in said(found)]


@given(lists)
def test_no_cell_of_a_table_begins_as_a_formula_does(found):
    text = written(CSV, found).decode("utf-8-sig")

    rows = [*csv.reader(io.StringIO(text, newline=""))]

    assert len(rows) == 1 + len(found)
    for cell in (cell for row in rows for cell in row):
        assert not cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))
        assert not cell.startswith(("\t", "\r"))


def in_folders(found):
    """Return entries once in each of their folders, folder by folder, as an export writes them."""
    pairs = [(folder, each) for each in found for folder in each.entry.annotation.folders or ("",)]
    pairs.sort(key=lambda pair: folder_names(pair[0]))
    return [each for _, each in pairs], [folder for folder, _ in pairs]


def as_bookmarks_have_it(annotation):
    def line(text):
        return " ".join(re.sub("\x7f", "", without_controls(text)).split())

    note = re.sub("\x7f", "", without_controls(annotation.note)).strip()
    tags = tuple(filter(None, map(line, annotation.tags)))
    return (line(annotation.title), note, tags, annotation.added_at)


@given(lists.filter(bool))
def test_bookmarks_give_back_what_such_a_file_can_hold(found):
    in_order, places = in_folders(found)

    data = written(BOOKMARKS_HTML, in_order, places=places)
    read = annotations(data, "x.html", form="archiver HTML")

    assert [bounded(each) for each in read] == read
    assert [(each.title, each.note, each.tags, each.added_at) for each in read] == [
        as_bookmarks_have_it(each) for each in said(in_order)
    ]
    assert [(each.is_read, each.is_starred) for each in read] == [
        (each.is_read, each.is_starred) for each in said(in_order)
    ]


@given(lists.filter(bool))
def test_what_is_read_of_bookmarks_is_written_as_it_was(found):
    first = written(BOOKMARKS_HTML, *[found])
    read = annotations(first, "x.html")

    assert written(BOOKMARKS_HTML, [entry_of(each) for each in read]) == first


@given(texts)
def test_the_title_of_a_page_is_no_persons_and_is_written_again(title):
    shown = replace(
        entry_of(Annotation("https://a.example/", AT)).entry, title=title, state=State.SAVED
    )
    first = written(BOOKMARKS_HTML, [ExportedEntry(shown)])

    (read,) = annotations(first, "x.html", form="archiver HTML")

    assert read.title == ""
    assert written(BOOKMARKS_HTML, [entry_of(read)]) == first


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", [JSON, JSON_LINES, CSV, BOOKMARKS_HTML])
def test_what_a_stranger_calls_a_page_is_nothing_but_its_title(form, text):
    hostile = Annotation("https://a.example/", AT, text, (text,), text, folders=(text,))
    found = [entry_of(hostile), entry_of(Annotation("https://b.example/", AT, "B"))]

    _, read = opened(written(form, found, places=(*found[0].entry.annotation.folders, "")))

    assert [each.annotation.url_given for each in read] == [
        "https://a.example/",
        "https://b.example/",
    ]
    assert not [each.problem for each in read if each.problem]


def test_what_a_later_version_says_is_kept_in_the_source_record():
    first = json.loads(written(JSON, [entry_of(Annotation("https://a.example/", AT))]))
    first["entries"][0] |= {"archiver": 2, "mood": "good"}

    (read,) = annotations(json.dumps(first))

    assert json.loads(read.source_record) == {"mood": "good"}


@pytest.mark.parametrize(
    "broken",
    [
        {"url_given": 7},
        {"tags": "one"},
        {"tags": [None]},
        {"added_at": "yesterday"},
        {"highlights": [{"id": "x"}]},
        {"highlights": {"id": "x"}},
        {"highlights": [{"id": "0" * 16, "quote": "q", "start": float("inf")}]},
        {"highlights": [{"id": "0" * 16, "quote": "q", "start": 10**400}]},
    ],
)
def test_an_entry_that_is_none_is_told_of_and_the_others_are_read(broken):
    found = [entry_of(Annotation(f"https://{name}.example/", AT)) for name in "ab"]
    document = json.loads(written(JSON, found))
    document["entries"][0] |= broken

    _, read = opened(json.dumps(document))

    assert [bool(each.problem) for each in read] == [True, False]


def repaired(text):
    """Return text as feedparser reads it: UTF-8 taken for Latin-1, and C1 for Windows-1252."""
    meant = {code: bytes([code]).decode("cp1252", "ignore") or code for code in range(128, 160)}
    with suppress(UnicodeError):
        text = text.encode("iso-8859-1").decode()
    return text.translate(meant)


@given(lists.filter(bool))
def test_a_feed_gives_back_addresses_titles_and_dates(found):
    read = annotations(written(ATOM, found), "x.atom", form="RSS or Atom")

    given_titles = [for_xml(each.entry.title or each.entry.url) for each in found]
    titles = [" ".join(repaired(title.strip()).split()) for title in given_titles]
    assert [each.url_given for each in read] == [each.entry.url for each in found]
    assert [each.title for each in read] == [
        "" if title == each.entry.url else title for title, each in zip(titles, found, strict=True)
    ]


def test_a_file_tells_of_no_more_deep_lists_than_memory_holds_with_all_that_they_lie_in():
    deep = "/".join(["x" * 200] * 60)
    told = [{"path": f"{n}/{deep}"} for n in range(200)]
    source = json.dumps({"archiver": 1, "lists": told, "entries": []}).encode()
    file = GivenFile(io.BytesIO(source), "a.json")

    assert [*OWN_JSON.read(file)] == []

    assert 1 << 19 < sum(len(each.path) for each in file.lists) <= 1 << 20
