"""Encodings declared in markup, with the standard's examples and html5lib's tests."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.http.encoding_detection import choose_encoding
from archiver.http.encoding_prescan import declared_in_markup, xml_declaration
from archiver.http.text_decoders import ENCODINGS, lookup

URL = "http://127.0.0.1/"


def html5lib_cases():
    data = (Path(__file__).parent / "html5lib.dat").read_bytes()
    for block in data.split(b"#data\n")[1:]:
        page, _, encoding = block.partition(b"\n#encoding\n")
        yield pytest.param(page, encoding.strip().decode(), id=repr(page)[:80])


@pytest.mark.parametrize(("page", "encoding"), [*html5lib_cases()])
def test_results_match_the_tests_of_html5lib(page, encoding):
    assert choose_encoding(page, "text/html", "", URL).encoding == lookup(encoding)


def test_a_late_declaration_outside_the_head_is_ignored():
    for page in [
        b"<body>" + b"x" * 1024 + b"<meta charset=koi8-r>",
        b"<head>" + b"<link>" * 200 + b"</head><meta charset=koi8-r>",
        b"<script>" + b"x" * 1024 + b"<meta charset=koi8-r></script><p>",
        b"<script>" + b"x" * 1024 + b"<meta charset=koi8-r>",
        b"<!--" + b"x" * 70_000 + b"--><meta charset=koi8-r>",
        b"<title>" + b"x" * 1100 + b"</title><meta charset=koi8-r",
    ]:
        assert declared_in_markup(page) is None


def test_an_xml_declaration_sets_the_encoding():
    for start, encoding in [
        (b"<?xml version='1.0' encoding='koi8-r'?>", ("koi8-r", "koi8-r")),
        (b'<?xml encoding \n=\t"UTF-16"?>', ("UTF-16", "utf-8")),
        (b"<?xml encoding='nonsense'?>", None),
        (b"<?xml encoding='koi8-r\"?>", None),
        (b"<?xml encoding='koi8-r'", None),
        (b"<?xml encoding='koi8 -r'?>", None),
        (b" <?xml encoding='koi8-r'?>", None),
        (b"<?xml version='1.0'?><p encoding='koi8-r'>", None),
        (b"<?xml" + b" " * 2000 + b"encoding='koi8-r'?>", ("koi8-r", "koi8-r")),
    ]:
        assert xml_declaration(start) == encoding


@given(st.binary(max_size=200))
def test_any_bytes_have_a_result(data):
    for start in (data, b"<meta " + data):
        encoding = declared_in_markup(start)

        assert encoding is None or encoding[1] in ENCODINGS
