"""Response headers of replay, and file names of downloads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.replay.addresses import Modifier
from archiver.replay.response_headers import content_disposition, rewrite_headers
from archiver.replay.url_rewriter import UrlRewriter

PAGE = "https://example.com/dir/page.html"
TIMESTAMP = "20240229120001"


def acting(fields, **options):
    headers = rewrite_headers(fields, UrlRewriter(PAGE, TIMESTAMP, **options))
    return [field for field in headers if not field[0].startswith("X-Archive-Orig-")]


def test_policies_of_the_original_site_are_kept_without_effect(links):
    fields = [
        ("content-security-policy", "default-src 'self'"),
        ("strict-transport-security", "max-age=1"),
        ("clear-site-data", "*"),
        ("service-worker-allowed", "/"),
        ("access-control-allow-origin", "*"),
        ("server", "nginx"),
    ]

    assert rewrite_headers(fields, links) == [(f"X-Archive-Orig-{name}", v) for name, v in fields]


def test_cookies_are_removed(links):
    assert rewrite_headers([("set-cookie", "a=b"), ("Set-Cookie2", "c=d")], links) == []


def test_redirects_are_rewritten_with_the_requested_modifier():
    headers = acting([("location", "../next?a#b")], page=Modifier.IMAGE)

    assert headers == [("Location", f"/web/{TIMESTAMP}im_/https://example.com/next?a#b")]


def test_of_several_locations_the_first_that_is_not_empty_is_sent():
    headers = acting([("location", ""), ("location", "/a"), ("Location", "/b")])

    assert headers == [("Location", f"/web/{TIMESTAMP}/https://example.com/a")]


@pytest.mark.parametrize(("sent", "expected"), [("/\xc3\xa5", "/%C3%A5"), ("/\xe5", "/%E5")])
def test_non_ascii_bytes_of_a_redirect_are_kept(sent, expected):
    assert acting([("location", sent)])[0][1].endswith(f"https://example.com{expected}")


def test_only_link_headers_that_load_resources_are_kept():
    value = (
        '<a.css>; rel=stylesheet; as="style"; crossorigin, <b,c>; rel="x icon"; title="a, <b>",'
        '</t>; rel="timegate", <https://x.example>; rel=preconnect, <d>; rel=preload; as=font,'
        "<e>; rel=modulepreload"
    )

    base = f"/web/{TIMESTAMP}{{}}/https://example.com/dir"
    expected = ", ".join(
        (
            f'<{base.format("cs_")}/a.css>; rel="stylesheet"; as="style"',
            f'<{base.format("im_")}/b,c>; rel="icon"',
        )
    )
    assert acting([("link", value)]) == [("Link", expected)]


@given(
    st.lists(st.tuples(st.sampled_from(["link", "refresh", "location", "x", "a b", ""]), st.text()))
)
def test_no_value_can_end_a_header(fields):
    for name, value in rewrite_headers(fields, UrlRewriter(PAGE, TIMESTAMP)):
        assert not set("\r\n\0") & set(name + value)


URL = "http://a.example/folder/report%20one.bin?x"


def test_displayable_types_are_not_downloads():
    assert content_disposition(None, URL, is_shown=True) is None
    assert content_disposition('inline; filename="a"', URL, is_shown=True) is None


def test_other_types_are_downloads_named_after_the_url():
    disposition = content_disposition(None, URL, is_shown=False)

    assert (
        disposition == "attachment; filename=\"report one.bin\"; filename*=UTF-8''report%20one.bin"
    )


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
