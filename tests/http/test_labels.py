import pytest

from archiver.http.text_decoders import ENCODINGS, lookup

# WHATWG Encoding §4.2 has this many; detects a library that omits or adds one.
ENCODINGS_OF_THE_STANDARD = 40


def test_every_encoding_has_its_name_as_a_label():
    assert len(ENCODINGS) == ENCODINGS_OF_THE_STANDARD
    assert {lookup(name) for name in ENCODINGS - {"replacement"}} == ENCODINGS - {"replacement"}
    assert lookup("replacement") == "replacement"


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        (" \t\n\f\rUTF8\r", "utf-8"),
        ("ISO-8859-1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("latin5", "windows-1254"),
        ("tis-620", "windows-874"),
        ("gb2312", "gbk"),
        ("ks_c_5601-1987", "euc-kr"),
        ("x-sjis", "shift_jis"),
        ("unicode", "utf-16le"),
        ("utf-16", "utf-16le"),
        ("hz-gb-2312", "replacement"),
        ("x-user-defined", "x-user-defined"),
        ("logical", "iso-8859-8-i"),
    ],
)
def test_labels_map_to_the_encodings_of_the_web_standard(label, encoding):
    assert lookup(label) == encoding


@pytest.mark.parametrize(
    "label",
    [
        *("idna", "rot13", "zip", "utf-7", "utf-32", "utf-8-sig", "cp775", "utf_8", "mbcs"),
        *("unicode_escape", "undefined", "punycode", "\x0butf-8", "\u212aoi8-r", "utf-8\0", ""),
    ],
)
def test_encodings_known_only_to_python_are_not_labels(label):
    assert lookup(label) is None
