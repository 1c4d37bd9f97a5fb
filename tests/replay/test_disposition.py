"""A file that is saved gets a name that is only a name."""

import pytest

from archiver.replay.response_headers import content_disposition

URL = "http://a.example/folder/report%20one.bin?x"


def test_what_a_browser_shows_is_not_saved():
    assert content_disposition(None, URL, is_shown=True) is None
    assert content_disposition('inline; filename="a"', URL, is_shown=True) is None


def test_what_it_does_not_show_is_saved_under_the_name_in_its_address():
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
def test_a_name_leads_nowhere(header, name):
    assert f'filename="{name}"' in content_disposition(header, URL, is_shown=True)
