"""EPUB files conform to EPUB 3.3."""

import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from posixpath import join

import pytest
from lxml import etree

from archiver.formats.epub import Epub
from archiver.model.page import Chapter, Picture

OPF = {"o": "http://www.idpf.org/2007/opf", "dc": "http://purl.org/dc/elements/1.1/"}
HTML = {"h": "http://www.w3.org/1999/xhtml"}
PICTURE = "http://a.example/a.png"


def chapter(n, html, **more):
    return Chapter(
        f"Part {n} & <more>", f"http://a.example/{n}?a&b", "20260301120000", html, **more
    )


def book(*chapters):
    file = BytesIO()
    epub = Epub(
        file, title="All & one", identifier="urn:x", modified=datetime(2026, 3, 1, tzinfo=UTC)
    )
    for each in chapters:
        epub.add(each)
    epub.close()
    return zipfile.ZipFile(file)


def parsed(opened, name):
    return etree.fromstring(opened.read(name))


CHAPTERS = (
    chapter(
        1,
        f'<p id="a-x">One <img src="{PICTURE}" alt="it" width="9"> <a href="#a-x">x</a></p>'
        f'<img src="http://a.example/no.png" alt="lost"><math><mi>x</mi></math>'
        f'<video src="http://a.example/v.mp4" controls></video>',
        byline="Ada",
        language="de_AT",
        note="mine\x01",
        pictures={PICTURE: Picture("image/png", b"png")},
    ),
    chapter(
        2,
        f'<p><img srcset="http://a.example/big.png 2x, {PICTURE} 1x"></p>',
        language="de-AT",
        pictures={PICTURE: Picture("image/png", b"png")},
    ),
    chapter(3, ""),
    chapter(
        4,
        '<img src="http://a.example/s.svg">',
        pictures={"http://a.example/s.svg": Picture("image/svg+xml", b"<svg><script/></svg>")},
    ),
)


def test_the_media_type_is_the_first_file_and_uncompressed():
    opened = book(*CHAPTERS)
    first = opened.infolist()[0]
    with opened.open("mimetype") as member:
        assert member.read() == b"application/epub+zip"

    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    assert (first.extra, first.flag_bits) == (b"", 0)
    assert opened.testzip() is None


def test_every_file_is_in_the_manifest_once_and_every_chapter_in_the_spine_and_contents():
    opened = book(*CHAPTERS)
    container = parsed(opened, "META-INF/container.xml")
    (path,) = container.xpath("//@full-path")
    package = parsed(opened, path)

    items = {each.get("id"): each for each in package.findall(".//o:item", OPF)}
    hrefs = [join("EPUB", each.get("href")) for each in items.values()]
    assert sorted([*hrefs, "mimetype", "META-INF/container.xml", path]) == sorted(opened.namelist())
    spine = [items[each.get("idref")].get("href") for each in package.findall(".//o:itemref", OPF)]
    assert spine == ["cover.xhtml", *(f"chapter-0000{n}.xhtml" for n in range(1, 5))]
    nav = parsed(opened, "EPUB/nav.xhtml")
    listed = nav.findall(".//h:nav//h:li/h:a", HTML)
    assert [each.get("href") for each in listed] == spine[1:]
    assert listed[0].text == "Part 1 & <more>"
    assert [each.text for each in package.findall(".//dc:*", OPF)] == [
        "urn:x",
        "All & one",
        "de-AT",
        "Ada",
    ]
    assert items["i-chapter-00001.xhtml"].get("properties") == "mathml"
    assert items["cover-image"].get("properties") == "cover-image"
    drawn = "".join(parsed(opened, "EPUB/cover.svg").itertext())
    assert "All & one" in drawn
    assert "4 articles" in drawn


def test_archived_pictures_are_included_once_and_nothing_is_loaded_from_the_network():
    opened = book(*CHAPTERS)
    pages = [parsed(opened, f"EPUB/chapter-0000{n}.xhtml") for n in range(1, 5)]

    assert [[each.get("src") for each in page.iter("{*}img")] for page in pages] == [
        ["pictures/00001.png"],
        ["pictures/00001.png"],
        [],
        [],
    ]
    assert opened.read("EPUB/pictures/00001.png") == b"png"
    text = "".join(pages[0].itertext())
    assert "[lost]" in text
    assert "[a film]" in text
    assert not [each for page in pages for each in page.iter("{*}video", "{*}source")]


SVG = """<?xml version="1.0"?><?xml-stylesheet href="http://evil.example/a.css"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="f()">
<script>f()</script><style>@import 'http://evil.example/b.css'; </style>
<image xlink:href='http://evil.example/c.png'/><use href="#p"/>
<rect fill="url(#p)" style="fill:url(http://evil.example/d.svg)"/><path id="p" d="M0 0"/></svg>"""


def test_a_drawing_is_kept_without_what_it_would_load():
    url = "http://a.example/d.svg"
    pictures = {url: Picture("image/svg+xml", SVG.encode())}
    opened = book(chapter(1, f'<p><img src="{url}"></p>', pictures=pictures))

    drawn = opened.read("EPUB/pictures/00001.svg")

    assert b"evil" not in drawn
    assert b"f()" not in drawn
    assert b'fill="url(#p)"' in drawn
    assert b'href="#p"' in drawn


@pytest.mark.parametrize("odd", ["\ufffe", "\uffff", "\x08"])
def test_titles_have_no_characters_that_xml_forbids(odd):
    opened = book(replace(chapter(1, f"<p>x{odd}</p>"), title=f"A{odd}B", note=odd))

    for name in ("chapter-00001.xhtml", "nav.xhtml"):
        assert "AB" in "".join(parsed(opened, f"EPUB/{name}").itertext())
