"""Any file gives rows, problems or an error message; never an unexpected exception."""

import io
import json
import plistlib
import sqlite3
import struct
import tracemalloc
import zipfile
from collections import deque

import pytest

from archiver.errors import UnreadableFile
from archiver.formats import archive_members
from archiver.formats.archive_members import BASE_ALLOWANCE, Members, member_names
from archiver.formats.source_file import SourceFile
from archiver.formats.xml_events import elements
from archiver.warc.wacz import Package
from tests.formats.goldens import GOLDENS, A, B, database, zipped
from tests.formats.reading import opened

DEEP = 50_000
TEXTS = [
    form
    for form, (_, data, _) in GOLDENS.items()
    if form not in ("Safari property list", "Firefox backup (jsonlz4)")
    and not data.startswith((b"PK", b"SQLite", b"\x1f\x8b"))
]


def outcome(data, name="export"):
    """Return what a file gives: rows, or an error message."""
    try:
        form, bookmarks = opened(data, name)
    except UnreadableFile:
        return "", []
    for each in bookmarks:
        assert each.problem == "" or each.problem.endswith(".")
    return form, bookmarks


def is_recognised(data, name="export"):
    """Return whether the file is recognised; rejected files have no format."""
    form, bookmarks = outcome(data, name)
    return bool(form) or not bookmarks


@pytest.mark.parametrize("form", GOLDENS)
def test_truncated_and_damaged_files_give_rows_or_a_message(form):
    name, data, expected = GOLDENS[form]
    middle = len(data) // 2

    for share in (0.1, 0.5, 0.9):
        _, bookmarks = outcome(data[: int(len(data) * share)], name)
        assert len([each for each in bookmarks if not each.problem]) <= len(expected) + 2
    assert is_recognised(data[:middle] + b"\0\xff\xfe<&\"'{[" + data[middle:], name)
    assert is_recognised(data[:middle] + data[middle + 7 :], name)


@pytest.mark.parametrize("form", TEXTS)
def test_byte_order_marks_encodings_and_line_ends_do_not_matter(form):
    name, data, expected = GOLDENS[form]
    text = data.decode().replace("\r\n", "\n").replace("\n", "\r\n")
    undeclared = text.replace(' encoding="UTF-8"', "") if text.startswith("<?xml") else text

    for encoded in (
        text.encode(),
        text.encode("utf-8-sig"),
        undeclared.encode("utf-16"),
        undeclared.encode("utf-16-le"),
    ):
        read_as, bookmarks = opened(encoded, name)
        urls = [each.annotation.url_given for each in bookmarks]
        assert (read_as, urls) == (form, [each.url_given for each in expected])


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"children":'])
def test_deeply_nested_json_is_cheap(opening):
    assert is_recognised(opening * DEEP, "x.json")
    form, _ = outcome(f'[{opening * DEEP}, {{"url": "{A}"}}]'.replace(", {", "\n, {"), "x.json")
    assert form


FOLDERS = 2_000
NESTED = {
    "html": "<!DOCTYPE NETSCAPE-Bookmark-file-1>"
    + "<DT><H3>F</H3><DL>" * FOLDERS
    + f'<DT><A HREF="{B}">B</A>',
    "opml": '<opml version="2.0"><body>' + '<outline text="F">' * FOLDERS + f'<outline url="{B}"/>',
    "xbel": "<xbel>" + "<folder><title>F</title>" * FOLDERS + f'<bookmark href="{B}"/>',
    "chrome": '{"roots":{"bar":'
    + '{"name":"F","children":[' * FOLDERS
    + f'{{"url":"{B}"}}'
    + "]}" * FOLDERS
    + "}}",
    "firefox": '{"root":"placesRoot","children":['
    + '{"title":"F","children":[' * FOLDERS
    + f'{{"uri":"{B}"}}'
    + "]}" * FOLDERS
    + "]}",
    "plist": '<?xml version="1.0"?><plist version="1.0">'
    + "<dict><key>Title</key><string>F</string><key>Children</key><array>" * FOLDERS
    + "</array></dict>" * FOLDERS
    + "</plist>",
    "enex": "<en-export><note><content>" + "<a>" * FOLDERS,
}


@pytest.mark.parametrize("kind", NESTED)
def test_deeply_nested_folders_are_read_or_reported(kind):
    form, bookmarks = outcome(NESTED[kind], f"x.{kind}")

    assert form
    for each in bookmarks:
        assert all(len(path) < 20_000 for path in each.annotation.folders)


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {name} '{f'&{before};' * 10}'>"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("padding", [0, 200_000])
def test_entities_are_never_expanded(padding):
    content = "<title>&i;</title>"
    content += f'<outline url="{B}" text="&i;&eacute;"/><item><link>{B}</link>{content}</item>'

    for root in ("opml", "rss", "xbel", "plist", "en-export", "posts", "rdf", "any"):
        start = f'<?xml version="1.0"?>{BOMB}{" " * padding}]><{root} a="&i;">'
        _, bookmarks = outcome(f"{start}{content}</{root}>", "x.xml")
        assert sum(len(each.annotation.title) for each in bookmarks) < 1000


def test_external_entities_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    text = f'<?xml version="1.0"?><!DOCTYPE opml [<!ENTITY x SYSTEM "file://{secret}">]>'

    _, bookmarks = outcome(f'{text}<opml><body><outline url="{B}" text="&x;"/></body></opml>')

    assert "the secret" not in str(bookmarks)


DOCUMENTS = {
    form: json.loads(data)
    for form, (_, data, _) in GOLDENS.items()
    if "json" in form.lower() and not data.startswith(b"moz")
}


@pytest.mark.parametrize("form", DOCUMENTS)
def test_json_values_may_have_any_type(form):
    for odd in (None, 7, "x", [], {}, [[]], [{}], {"x": {"y": 1}}):
        for changed in variants(DOCUMENTS[form], odd):
            assert is_recognised(json.dumps(changed), "x.json")


def variants(value, odd):
    """Yield variants of a document, each with one value replaced."""
    if isinstance(value, dict):
        for name in value:
            yield {**value, name: odd}
            for inner in variants(value[name], odd):
                yield {**value, name: inner}
    elif isinstance(value, list):
        for place, each in enumerate(value[:3]):
            for inner in (odd, *variants(each, odd)):
                yield [*value[:place], inner, *value[place + 1 :]]


def test_only_the_first_megabytes_of_a_zip_bomb_are_read():
    row = b"a" * 1000 + b"\n"
    packed = zipped({"part_000000.csv": b"title,url,time_added,tags,status\n" + row * 50_000})

    with Members(io.BytesIO(packed)).open("part_000000.csv") as member:
        assert len(member.read()) <= max(BASE_ALLOWANCE, len(packed) * 200)


def test_a_broken_line_of_json_costs_only_itself():
    whole = [json.dumps({"url": f"{A}{n}"}) for n in range(4)]
    broken = [
        '"https://c.example/',  # a string that is not closed
        f'{{"url": "{B}',
        '{"url": [1, "x"',
        "not JSON at all",
        '"\\u12"',
    ]
    for each in broken:
        for lines in (
            [*whole[:2], each, *whole[2:]],
            [*whole, each],
            [*whole[:2], each, each, whole[3]],
        ):
            _, bookmarks = outcome("\n".join(lines).encode(), "links.jsonl")
            urls = [one.annotation.url_given for one in bookmarks if not one.problem]
            assert urls == [json.loads(line)["url"] for line in lines if line in whole], lines


def test_the_total_size_of_a_zip_is_limited_and_the_rest_reported(monkeypatch):
    monkeypatch.setattr(archive_members, "ALLOWED_OF_ALL", 300_000)
    long = f"{A}\n" + "no address here\n" * 6000
    packed = zipped({f"{each}.txt": long for each in "abc"} | {"d.txt": B})

    _, bookmarks = outcome(packed, "x.zip")

    assert [each.annotation.url_given for each in bookmarks] == [A, A, A, "c.txt", "d.txt"]
    assert [bool(each.problem) for each in bookmarks] == [False, False, False, True, True]


def test_the_number_of_files_in_a_zip_is_limited(monkeypatch):
    monkeypatch.setattr(archive_members, "MAX_MEMBERS", 2)
    packed = zipped({f"{each}.txt": A for each in "abcd"})

    _, bookmarks = outcome(packed, "x.zip")

    assert [each.annotation.url_given for each in bookmarks] == [A, A, "c.txt"]
    assert bookmarks[-1].problem


@pytest.mark.parametrize("is_64", [False, True])
def test_a_too_long_zip_directory_is_not_read(is_64):
    packed = bytearray(zipped({"a.txt": A}))
    end = packed.index(b"PK\x05\x06")
    if is_64:
        listed = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 1 << 40, 0)
        packed[end:end] = listed + struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    else:
        packed[end + 12 : end + 16] = (1 << 30).to_bytes(4, "little")

    for read in (
        lambda: opened(bytes(packed), "x.zip"),
        lambda: member_names(io.BytesIO(packed)),
        lambda: Package(io.BytesIO(packed), "x.wacz"),
    ):
        with pytest.raises(UnreadableFile, match="too many files"):
            read()


def test_paths_in_a_zip_are_not_followed_and_nested_zips_are_skipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inner = zipped({"a.txt": A})
    packed = zipped(
        {"../../escaped.txt": A, "/absolute.txt": A, "inner.zip": inner, "C:\\x.txt": A}
    )

    form, bookmarks = outcome(packed, "x.zip")

    assert form == "zip file of link lists"
    assert len(bookmarks) == 3
    assert list(tmp_path.iterdir()) == []


def test_zips_with_false_sizes_or_encrypted_files_are_read_partly():
    packed = bytearray(zipped({"a.csv": f"url,title\n{A},A\n", "b.csv": f"url,title\n{B},B\n"}))
    place = packed.index(b"PK\x01\x02")

    packed[place + 20 : place + 28] = b"\xff\xff\xff\x7f\xff\xff\xff\x7f"
    assert is_recognised(bytes(packed), "x.zip")
    packed[place + 8] |= 1
    assert is_recognised(bytes(packed), "x.zip")


def test_a_zip_of_thousands_of_empty_files_is_refused():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(3000):
            archive.writestr(zipfile.ZipInfo(f"{number}.txt"), b"")

    assert outcome(packed.getvalue(), "x.zip") == ("", [])


def test_a_database_with_expensive_views_is_stopped_early():
    generated_column = "made TEXT AS (printf('%.*c', 1000000, 'x'))"
    data = database(
        f"CREATE TABLE urls (url, title, last_visit_time, {generated_column})",
        "INSERT INTO urls VALUES ('https://a.example/', 'A', 0)",
        *["INSERT INTO urls SELECT * FROM (SELECT url, title, last_visit_time FROM urls)"] * 6,
    )

    form, bookmarks = outcome(data)

    assert (form, "rows are larger" in bookmarks[-1].problem) == ("Chrome History", True)
    assert 0 < len(bookmarks) < 64


@pytest.mark.parametrize("form", ["Firefox places.sqlite", "Chrome History"])
def test_a_damaged_database_gives_its_readable_rows_and_a_message(form):
    name, data, _ = GOLDENS[form]

    for place in range(100, len(data), 4096 // 3):
        damaged = data[:place] + b"\xff" * 64 + data[place + 64 :]
        assert is_recognised(damaged, name)
    assert is_recognised(data[:100] + b"\0" * 5000, name)


def test_views_in_a_database_are_ignored():
    with sqlite3.connect(":memory:") as conn:
        conn.execute("CREATE TABLE visits (id INTEGER)")
        conn.execute(
            "CREATE VIEW urls AS WITH RECURSIVE n(url) AS (SELECT 'http://x/' UNION ALL"
            " SELECT url FROM n) SELECT url, '' AS title, 0 AS hidden FROM n"
        )
        assert outcome(conn.serialize(), "History") == ("", [])


def test_a_cyclic_property_list_ends():
    tree = {"Title": "", "Children": []}
    data = plistlib.dumps(tree, fmt=plistlib.FMT_BINARY)

    for place in range(8, len(data)):
        for byte in (0, 0xFF, 0xA1, 0xD1):
            assert is_recognised(data[:place] + bytes([byte]) + data[place + 1 :], "x.plist")


HOSTILE_TEXTS = [
    "url,title\n" + '"' * 75_000,
    "url,title\n" + "a," * 250_000,
    "url,title\n" + "\r" * 125_000,
    "@misc{x,\n url = {" + "{" * 125_000,
    "@misc{x,\n" + "a = {b},\n" * 50_000,
    "@misc{x, url = {http://a.example}}\n@misc{" + " " * 225_000,
    '@misc{x, url="' + "\\url{" * 50_000,
    "TY  - ELEC\n" + "KW  - x\n" * 25_000,
    "<opml><body>" + "<outline url='x' " * 25_000,
    "<rss><channel><item><link>" + "x" * 750_000,
    '[{"url":"' + "x" * 750_000,
    '[{"url":"x"} ' * 25_000,
    '{"a":' * 1000 + "1" * 125_000,
    "https://x.example/ | " + "|" * 750_000,
    "[InternetShortcut]\nURL=" + "x" * 750_000,
    "<!-- Page saved with SingleFile url: x" * 20_000,
    "<!-- Page saved with SingleFile" + "\n" * 60_000 + "-->",
    "sep=,\n" * 25_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE_TEXTS)))
def test_hostile_text_takes_linear_time(number):
    # A quadratic algorithm would take hours here.
    assert is_recognised(HOSTILE_TEXTS[number], "x")


def test_deeply_nested_elements_use_no_memory():
    deep = "<posts>" + "<a>" * 100_000 + "</a>" * 100_000
    deep += '<post href="http://a.example/" description="A"/></posts>'
    target = SourceFile(io.BytesIO(deep.encode()), "a.xml")

    tracemalloc.start()
    last = [*deque(elements(target), maxlen=2)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [each.name for each in last] == ["post", "posts"]
    assert peak < 10 << 20
