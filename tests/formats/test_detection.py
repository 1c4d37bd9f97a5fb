"""Format detection, and the errors for unsupported files."""

import gzip
import io
import json
import zipfile
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import UnreadableFile
from archiver.formats.detection import IMPORTERS
from archiver.model.annotation import Annotation
from tests.formats.reading import annotations
from tests.formats.reading import opened as read_in


def opened(data: bytes, name: str = "bookmarks") -> tuple[str, list[str]]:
    form, bookmarks = read_in(data, name)
    return form, [bookmark.annotation.url_given for bookmark in bookmarks]


def refusal(data: bytes, name: str = "given") -> str:
    with pytest.raises(UnreadableFile) as refused:
        read_in(data, name)
    return str(refused.value)


def zipped(name: str, data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize(
    "head",
    [
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>",
        "<!doctype netscape-bookmark-file-1>\n",
        "\ufeff<DL><p>",
        "",
    ],
)
def test_bookmark_files_are_detected_whatever_their_first_lines(head: str) -> None:
    data = f'{head}<DT><A HREF="https://a.example/">A</A>'.encode()

    assert opened(data) == ("Netscape HTML", ["https://a.example/"])


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (zipped("a.png", b"\x89PNG\r\n"), "zip file"),
        (b"PK\x03\x04 and nothing more", "damaged"),
        (gzip.compress(b"https://a.example/", mtime=0)[:10], "gzip"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\nhttps://a.example/", "PDF"),
        (b"SQLite format 3\0" + b"\x10\0\x01\x01\0@  " + b"<A HREF=x>", "SQLite"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image"),
        (b"RIFF\x24\0\0\0WEBPVP8 \1\2\3\4\5\6\7\x0e\x0f", "image"),
        (b"GIF89a\1\0\1\0", "image"),
        (bytes(range(256)) * 8, "not a text file"),
    ],
)
def test_a_binary_file_is_refused_by_its_kind(data: bytes, word: str) -> None:
    message = refusal(data)

    assert word in message
    assert message.endswith(".")


A = "https://a.example/"


@pytest.mark.parametrize(
    ("text", "name", "form"),
    [
        ('[{"href": "https://a.example/"}]', "x", "JSON"),
        ('{"things": [{"url": "https://a.example/"}]}', "x", "JSON"),
        ('{"a": {"b": {"link": "https://a.example/"}}}', "x", "JSON"),
        ('{"url": "https://a.example/"}\n', "x", "JSON"),
        ("title,url,seen\nA,https://a.example/,1", "x", "CSV"),
        ('"URL";"Titel"\nhttps://a.example/;A\n', "x", "CSV"),
        ("sep=;\nName;Link\nA;https://a.example/\n", "x", "CSV"),
        ("what,where\na,https://a.example/", "x.csv", "CSV"),
        ("Title,Note,URL\nA,n,https://a.example/", "x.csv", "CSV"),
        ("Title,Note,URL,Comment\nA,n,https://a.example/,c", "x.csv", "Google Saved CSV"),
        ('<?xml version="1.0"?><notes><a to="https://a.example/"/></notes>', "x", "XML"),
        ('<?xml version="1.0"?><notes><a>https://a.example/</a></notes>', "x", "XML"),
    ],
)
def test_any_structured_text_with_urls_is_read(text, name, form):
    assert opened(text.encode(), name) == (form, [A])


def test_columns_are_recognised_by_name_and_others_are_kept():
    row = {
        "Link": A,
        "Page title": " An  A ",
        "Comment": "note",
        "Labels": "x; y",
        "Collection": "One/Two",
        "Date added": "2020-09-13T12:26:40Z",
        "Read": "yes",
        "Favourite": "1",
        "Mood": "good",
        "Rank": 3,
    }
    table = ",".join(row) + "\n" + ",".join(map(str, row.values()))

    for text, rank in ((json.dumps([row]), 3), (json.dumps(row), 3), (table, "3")):
        (bookmark,) = annotations(text)
        assert bookmark == Annotation(
            A,
            datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC),
            "An A",
            ("x", "y"),
            "note",
            is_read=True,
            is_starred=True,
            folders=("One/Two",),
            source_record=json.dumps({"Mood": "good", "Rank": rank}, separators=(",", ":")),
        )


@pytest.mark.parametrize(
    "header",
    [
        "Adresse;Titel;Schlagwörter;Notiz;Datum;Ordner",
        "adresse;titre;étiquettes;note;date;dossier",
        "dirección;título;etiquetas;nota;fecha;carpeta",
        "网址;标题;标签;备注;日期;文件夹",
        "網址;標題;標籤;備註;日期;資料夾",
    ],
)
def test_column_names_are_recognised_in_each_language(header):
    _, [bookmark] = read_in(f"{header}\n{A};An A;x,y;note;2020-09-13;One/Two\n")

    assert bookmark.annotation == Annotation(
        A, datetime(2020, 9, 13, tzinfo=UTC), "An A", ("x", "y"), "note", folders=("One/Two",)
    )


def test_a_table_without_a_url_column_is_refused_with_a_message():
    message = refusal(b"Name;Preis\nA;3,50\n", "list.csv")

    assert (
        message
        == "list.csv is a table without a URL column. Export it again with the links included."
    )


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(UnreadableFile):
        form, _ = opened(data)
        assert form in {importer.name for importer in IMPORTERS}


X = "https://x.example/"
_LINKS = [{"url": "https://a.example/", "title": "A"}, {"url": "https://b.example/"}]


@pytest.mark.parametrize(
    ("document", "also"),
    [
        ({"links": _LINKS}, set()),
        ({"url": X, "links": _LINKS}, {X}),
        ({"url": X, "links": ["https://a.example/", "https://b.example/"]}, {X}),
        ({"data": {"url": X, "items": _LINKS}}, {X}),
        ([{"name": "Group", "url": X, "bookmarks": _LINKS}], {X}),
    ],
)
def test_links_within_an_object_are_read(document, also):
    bookmarks = {each.url_given for each in annotations(json.dumps(document), form="JSON")}

    assert bookmarks == {"https://a.example/", "https://b.example/"} | also
