"""Lists of URLs, notes and Markdown."""
# ruff: noqa: RUF001 - full-width punctuation is meant

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.plain_text import read_plain_text
from archiver.formats.rows import MAX_URL
from archiver.formats.source_file import SourceFile
from archiver.model.annotation import Annotation


def read(text: str | bytes) -> list[Annotation]:
    data = text.encode() if isinstance(text, str) else text
    return [each.annotation for each in read_plain_text(SourceFile(io.BytesIO(data), "x.txt"))]


def urls(text: str | bytes) -> list[str]:
    return [annotation.url_given for annotation in read(text)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("https://a.example/", ["https://a.example/"]),
        ("  HTTP://A.example \r", ["HTTP://A.example"]),
        ("https://a.example/What?", ["https://a.example/What?"]),
        ("https://a.example/x_(y", ["https://a.example/x_(y"]),
        ("https://a.example/,https://b.example/", ["https://a.example/", "https://b.example/"]),
        (
            "https://web.example/2020/http://a.example/",
            ["https://web.example/2020/http://a.example/"],
        ),
        ("Read https://a.example/x.", ["https://a.example/x"]),
        ("(see https://a.example/b_(c)).", ["https://a.example/b_(c)"]),
        (
            '<https://a.example/>, "https://b.example/"',
            ["https://a.example/", "https://b.example/"],
        ),
        ("見て https://a.example/。", ["https://a.example/"]),
        (
            "https://a.example/1，看https://b.example/2。",
            ["https://a.example/1", "https://b.example/2"],
        ),
        (
            "„https://a.example/x“ «https://b.example/y»",
            ["https://a.example/x", "https://b.example/y"],
        ),
        ("風 https://a.example/風 と", ["https://a.example/風"]),
        ("https://a.example/風（消歧義）", ["https://a.example/風（消歧義）"]),
        (
            "See https://a.example/?b[]=c[1]=d and http://[::1]/x",
            ["https://a.example/?b[]=c[1]=d", "http://[::1]/x"],
        ),
        (
            r"\href{https://a.example/x}{T} \url{https://b.example/y}",
            ["https://a.example/x", "https://b.example/y"],
        ),
        (
            '<urlset xmlns="http://s.example/0.9"><loc>https://a.example/</loc>',
            ["https://a.example/"],
        ),
        ("x https://a.example/?a=1&amp;copy=2", ["https://a.example/?a=1&copy=2"]),
        ("no link here", []),
        ("# https://a.example/ is off", []),
        ("", []),
    ],
)
def test_urls_of_a_line(line: str, expected: list[str]) -> None:
    assert urls(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[T](https://a.example/)", [("https://a.example/", "T")]),
        ("- [a [b] c](<https://a.example/>)", [("https://a.example/", "a [b] c")]),
        ('## [T](https://a.example/ "x")', [("https://a.example/", "T")]),
        ("[a](http://a),[b](http://b)", [("http://a", "a"), ("http://b", "b")]),
        ("[w](https://w.example/A_(b)).", [("https://w.example/A_(b)", "w")]),
        ("](http://a)", [("http://a", "")]),
        ("[[http://a/b][T u]] and [[http://c]]", [("http://a/b", "T u"), ("http://c", "")]),
        ("[url=http://a/b]T[/url] [url]http://c[/url]", [("http://a/b", "T"), ("http://c", "")]),
        ("See http://a/b[T u].", [("http://a/b", "T u")]),
        ("[http://a/b T u]", [("http://a/b", "T u")]),
        ("<http://a/b|T>", [("http://a/b", "T")]),
        (
            '<a class=x href="http://a/b?c=1&amp;d=2">T &amp; u</a>',
            [("http://a/b?c=1&d=2", "T & u")],
        ),
        ('`T <http://a/b>`_, "T":http://c', [("http://a/b", ""), ("http://c", "")]),
    ],
)
def test_the_text_of_a_link_is_its_title(line: str, expected: list[tuple[str, str]]) -> None:
    assert [(bookmark.url_given, bookmark.title) for bookmark in read(line)] == expected


def test_an_endless_url_is_limited() -> None:
    (url,) = urls("https://a.example/" + "x." * 500_000)

    assert len(url) == MAX_URL


@pytest.mark.parametrize(
    "hostile",
    [
        b"(" * 500_000,
        b"()" * 250_000,
        b"[" * 500_000,
        b"](http://x" * 25_000,
        b"[[[](http://x" * 25_000,
        b"http://x(" * 25_000,
        b"a.a." * 125_000 + b"(",
        b" " * 750_000,
        b"\n" * 250_000,
        b"http" * 175_000,
    ],
    ids=range(10),
)
def test_hostile_input_takes_linear_time(hostile: bytes) -> None:
    assert urls(b"http://first\n" + hostile)[0] == "http://first"


@given(st.binary())
def test_any_bytes_are_parsed(data: bytes) -> None:
    for bookmark in read(data):
        assert bookmark.url_given.encode().decode() == bookmark.url_given
