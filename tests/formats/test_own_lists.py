"""Reading our exports loses nothing that the format can express."""

import csv
import io
import json
import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archiver.formats.feeds import ATOM
from archiver.formats.netscape import BOOKMARKS_HTML
from archiver.formats.own_csv import CSV
from archiver.formats.own_json import JSON, JSON_LINES, OWN_JSON
from archiver.formats.seeds import bounded
from archiver.formats.source_file import SourceFile
from archiver.http.text_decoders import for_xml
from archiver.model.annotation import Annotation
from archiver.model.entry import ExportedEntry
from archiver.model.entry_list import folder_names
from archiver.model.job import State
from tests.formats.exported import AT, HOSTILE, entries, entry_of, texts, written
from tests.formats.reading import annotations, opened

CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f]")
lists = st.lists(entries, max_size=3)


def annotations_of(entries_):
    return [each.entry.annotation for each in entries_]


def without_controls(text):
    return CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def reduced_to_a_table(annotation):
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
@given(entry=lists)
def test_json_restores_all_metadata(form, name, entry):
    if not entry and form is JSON_LINES:
        return  # an empty file is rejected with an error message

    read_as = "archiver JSON"
    assert annotations(written(form, entry), name, form=read_as) == annotations_of(entry)


@given(lists)
def test_csv_restores_what_a_table_can_hold(entry):
    read = annotations(written(CSV, entry), "x.csv", form="archiver CSV")

    assert read == [reduced_to_a_table(each) for each in annotations_of(entry)]


@given(lists)
def test_no_cell_starts_like_a_formula(entry):
    text = written(CSV, entry).decode("utf-8-sig")

    rows = [*csv.reader(io.StringIO(text, newline=""))]

    assert len(rows) == 1 + len(entry)
    for cell in (cell for row in rows for cell in row):
        assert not cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))
        assert not cell.startswith(("\t", "\r"))


def in_folders(entry):
    """Return entries once in each of their folders, folder by folder, as an export writes them."""
    pairs = [(folder, each) for each in entry for folder in each.entry.annotation.folders or ("",)]
    pairs.sort(key=lambda pair: folder_names(pair[0]))
    return [each for _, each in pairs], [folder for folder, _ in pairs]


def reduced_to_bookmarks(annotation):
    def line(text):
        return " ".join(re.sub("\x7f", "", without_controls(text)).split())

    note = re.sub("\x7f", "", without_controls(annotation.note)).strip()
    tags = tuple(filter(None, map(line, annotation.tags)))
    return (line(annotation.title), note, tags, annotation.added_at)


HEADING = "</DL><p>\n<DT><A HREF='https://evil.example/'>"


@given(lists.filter(bool))
@example([entry_of(Annotation("https://a.example/?\\0", AT, HEADING, note=HEADING))])
def test_bookmark_files_restore_what_the_format_can_hold(entry):
    in_order, places = in_folders(entry)

    data = written(BOOKMARKS_HTML, in_order, places=places)
    read = annotations(data, "x.html", form="archiver HTML")

    assert [bounded(each) for each in read] == read
    assert [(each.title, each.note, each.tags, each.added_at) for each in read] == [
        reduced_to_bookmarks(each) for each in annotations_of(in_order)
    ]
    assert [(each.is_read, each.is_starred) for each in read] == [
        (each.is_read, each.is_starred) for each in annotations_of(in_order)
    ]


@given(texts)
def test_a_page_title_does_not_become_a_user_title(title):
    shown = replace(
        entry_of(Annotation("https://a.example/", AT)).entry, title=title, state=State.SAVED
    )
    first = written(BOOKMARKS_HTML, [ExportedEntry(shown)])

    (read,) = annotations(first, "x.html", form="archiver HTML")

    assert read.title == ""
    assert written(BOOKMARKS_HTML, [entry_of(read)]) == first


@pytest.mark.parametrize("form", [JSON, JSON_LINES, CSV, BOOKMARKS_HTML])
def test_a_title_from_another_producer_is_only_a_title(form):
    for text in HOSTILE:
        hostile = Annotation("https://a.example/", AT, text, (text,), text, folders=(text,))
        results = [entry_of(hostile), entry_of(Annotation("https://b.example/", AT, "B"))]

        _, read = opened(written(form, results, places=(*results[0].entry.annotation.folders, "")))

        urls = [(each.annotation.url_given, each.problem) for each in read]
        assert urls == [("https://a.example/", ""), ("https://b.example/", "")], text


def test_fields_of_later_versions_are_kept_in_the_source_record():
    first = json.loads(written(JSON, [entry_of(Annotation("https://a.example/", AT))]))
    first["entries"][0] |= {"archiver": 2, "mood": "good"}

    (read,) = annotations(json.dumps(first))

    assert json.loads(read.source_record) == {"mood": "good"}


@pytest.mark.parametrize(
    "invalid",
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
def test_an_invalid_entry_is_reported_and_the_others_are_read(invalid):
    results = [entry_of(Annotation(f"https://{name}.example/", AT)) for name in "ab"]
    document = json.loads(written(JSON, results))
    document["entries"][0] |= invalid

    _, read = opened(json.dumps(document))

    assert [bool(each.problem) for each in read] == [True, False]


def repaired(text):
    """Return text as feedparser reads it: UTF-8 taken for Latin-1, and C1 for Windows-1252."""
    characters = {
        code: bytes([code]).decode("cp1252", "ignore") or code for code in range(128, 160)
    }
    with suppress(UnicodeError):
        text = text.encode("iso-8859-1").decode()
    return text.translate(characters)


@given(lists.filter(bool))
def test_a_feed_restores_urls_titles_and_dates(entry):
    read = annotations(written(ATOM, entry), "x.atom", form="RSS or Atom")

    given_titles = [for_xml(each.entry.title or each.entry.url) for each in entry]
    titles = [" ".join(repaired(title.strip()).split()) for title in given_titles]
    assert [each.url_given for each in read] == [each.entry.url for each in entry]
    assert [each.title for each in read] == [
        "" if title == each.entry.url else title for title, each in zip(titles, entry, strict=True)
    ]


def test_deep_lists_in_a_file_are_limited_with_their_parents():
    deep = "/".join(["x" * 200] * 60)
    paths = [{"path": f"{n}/{deep}"} for n in range(200)]
    source = json.dumps({"archiver": 1, "lists": paths, "entries": []}).encode()
    file = SourceFile(io.BytesIO(source), "a.json")

    assert [*OWN_JSON.read(file)] == []

    assert 1 << 19 < sum(len(each.path) for each in file.lists) <= 1 << 20
