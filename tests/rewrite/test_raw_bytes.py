import codecs
from contextlib import suppress

import pytest

from archiver.rewrite.raw_bytes import LABELS, Raw

ASCII = "".join(map(chr, range(0x80)))


@pytest.mark.parametrize("name", LABELS)
def test_a_transparent_charset_is_one_python_knows_in_which_ascii_is_ascii(name):
    assert codecs.lookup(name).name == name
    assert ASCII.encode(name) == ASCII.encode()
    for byte in range(0x80, 0x100):
        with suppress(UnicodeDecodeError):
            assert bytes((byte, 0x5C)).decode(name).endswith("\\")


def test_text_that_a_charset_lacks_is_written_as_references():
    raw = Raw("cp1252")

    assert raw.to_text("\xe9") == "é"
    assert raw.from_text("é€\u4e00") == "\xe9\x80&#19968;"


def test_text_is_its_own_meaning():
    assert Raw().to_text("é") == Raw().from_text("é") == "é"


def test_what_is_no_text_becomes_a_replacement():
    assert Raw("utf-8").to_text("\xff") == "\ufffd"
