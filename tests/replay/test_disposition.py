"""File names of downloads."""

import pytest

from archiver.replay.response_headers import content_disposition

URL = "http://a.example/folder/report%20one.bin?x"


def test_displayable_types_are_not_downloads():
    assert content_disposition(None, URL, is_shown=True) is None
    assert content_disposition('inline; filename="a"', URL, is_shown=True) is None


def test_other_types_are_downloads_named_after_the_url():
    said = content_disposition(None, URL, is_shown=False)

    assert said == "attachment; filename=\"report one.bin\"; filename*=UTF-8''report%20one.bin"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('attachment; filename="../../etc/passwd"', "etc_passwd"),
        ("attachment; filename=C:\\Windows\\evil.exe", "C_Windows_evil.exe"),
        ("attachment; filename*=UTF-8''na%C3%AFve.txt; filename=x", "na_ve.txt"),
        ('attachment; filename=".bashrc"', "bashrc"),
        ('attachment; filename="a\u202egpj.exe"', "a_gpj.exe"),
        ('attachment; filename="NUL.txt"', "_NUL.txt"),
        ("attachment; filename=n\xc3\xa5.txt", "n_.txt"),
        ("attachment; filename=n\xe5.txt", "n_.txt"),
        ("attachment", "report one.bin"),
    ],
)
def test_a_file_name_contains_no_path(header, name):
    assert f'filename="{name}"' in content_disposition(header, URL, is_shown=True)
