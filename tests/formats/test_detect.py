"""What a file is, and what is said of one that is not read."""

import gzip
import io
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import UnreadableFile
from archiver.formats.importers import IMPORTERS, open_bookmarks


def opened(data: bytes, name: str = "bookmarks") -> tuple[str, list[str]]:
    form, found = open_bookmarks(io.BytesIO(data), name)
    return form, [bookmark.annotation.url_given for bookmark in found]


def refusal(data: bytes, name: str = "given") -> str:
    with pytest.raises(UnreadableFile) as refused:
        open_bookmarks(io.BytesIO(data), name)
    return str(refused.value)


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bookmarks.html", '<DT><A HREF="https://a.example/">A</A>')
    return packed.getvalue()


@pytest.mark.parametrize(
    "head",
    [
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>",
        "<!doctype netscape-bookmark-file-1>\n",
        "<META charset=utf-8>\n<dl>",
        "\ufeff<DL><p>",
        "\n\n  <html>",
        "",
    ],
)
def test_a_bookmark_file_is_recognised_however_it_begins(head: str) -> None:
    data = f'{head}<DT><A HREF="https://a.example/">A</A>'.encode()

    assert opened(data) == ("Netscape HTML", ["https://a.example/"])


def test_a_bookmark_file_without_bookmarks_is_one() -> None:
    assert opened(b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL></DL>") == ("Netscape HTML", [])


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/",
        "<https://a.example/>",
        "Notes with <a href='x'>HTML</a> and https://a.example/",
        "[a](https://a.example/)",
        "[[a]] https://a.example/",
        "url of mine, it is https://a.example/",
    ],
)
def test_other_text_is_plain(text: str) -> None:
    assert opened(text.encode()) == ("plain text", ["https://a.example/"])


def test_markdown_that_begins_with_html_is_plain() -> None:
    text = b"<a href='x'>up</a>\n\nhttps://a.example/"

    assert opened(text, "notes.md") == ("plain text", ["https://a.example/"])


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    assert refusal(data, "mine.html").startswith("mine.html is empty.")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (zipped(), "zip archive"),
        (gzip.compress(b"https://a.example/", mtime=0), "gzip"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\nhttps://a.example/", "PDF"),
        (b"SQLite format 3\0" + b"\x10\0\x01\x01\0@  " + b"<A HREF=x>", "SQLite"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image"),
        (b"RIFF\x24\0\0\0WEBPVP8 \1\2\3\4\5\6\7\x0e\x0f", "image"),
        (b"GIF89a\1\0\1\0", "image"),
        (b"bplist00\xd1\1\2", "property list"),
        (b"mozLz40\0\1\2\3", "Firefox"),
        (bytes(range(256)) * 8, "not a text file"),
    ],
)
def test_a_binary_file_is_refused_by_its_kind(data: bytes, word: str) -> None:
    said = refusal(data)

    assert word in said
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ('[{"href": "https://a.example/"}]', "x", "a JSON"),
        ('{"bookmarks": []}', "x", "a JSON"),
        ('{"url": "https://a.example/"}\n{"url": "https://b.example/"}\n', "x", "a JSON"),
        ('["https://a.example/", 1]', "x", "a JSON"),
        ("[]", "x", "a JSON"),
        ("1", "export.JSON", "a JSON"),
        ("title,url,time_added,tags,status\nA,https://a.example/,1,,unread", "x", "a CSV"),
        ('"URL";"Title"\n', "x", "a CSV"),
        ("https://a.example/,tag", "x.csv", "a CSV"),
        ('<?xml version="1.0"?><opml version="2.0"></opml>', "x", "an OPML"),
        ("<rss><channel><link>https://a.example/</link></channel></rss>", "x", "an RSS"),
    ],
)
def test_a_structured_kind_is_named_and_html_asked_for(text: str, name: str, kind: str) -> None:
    said = refusal(text.encode(), name)

    assert f"is {kind} file, a format that is not read yet" in said
    assert "as HTML" in said


def test_one_column_of_urls_is_a_list_whatever_its_name() -> None:
    assert opened(b"url\nhttps://a.example/\n", "list.csv") == (
        "plain text",
        ["https://a.example/"],
    )


def test_a_pipe_that_gives_little_at_once_is_read() -> None:
    class Trickle(io.RawIOBase):
        left = b"https://a.example/\n" * 9_000

        def read(self, count: int = -1, /) -> bytes:
            piece, self.left = self.left[: min(7, count)], self.left[min(7, count) :]
            return piece

    form, found = open_bookmarks(Trickle(), "stdin")

    assert form == "plain text"
    assert sum(1 for _ in found) == 9_000


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(UnreadableFile):
        form, _ = opened(data)
        assert form in {importer.name for importer in IMPORTERS}
