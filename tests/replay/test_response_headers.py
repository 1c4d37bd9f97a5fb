import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.replay.addresses import Modifier
from archiver.replay.response_headers import rewrite_headers
from archiver.replay.url_rewriter import UrlRewriter

PAGE = "https://example.com/dir/page.html"
TIMESTAMP = "20240229120001"


def acting(fields, **options):
    found = rewrite_headers(fields, UrlRewriter(PAGE, TIMESTAMP, **options))
    return [field for field in found if not field[0].startswith("X-Archive-Orig-")]


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
    found = acting([("location", "../next?a#b")], page=Modifier.IMAGE)

    assert found == [("Location", f"/web/{TIMESTAMP}im_/https://example.com/next?a#b")]


def test_of_several_locations_the_first_that_is_not_empty_is_sent():
    found = acting([("location", ""), ("location", "/a"), ("Location", "/b")])

    assert found == [("Location", f"/web/{TIMESTAMP}/https://example.com/a")]


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
    kept = ", ".join(
        (
            f'<{base.format("cs_")}/a.css>; rel="stylesheet"; as="style"',
            f'<{base.format("im_")}/b,c>; rel="icon"',
        )
    )
    assert acting([("link", value)]) == [("Link", kept)]


@given(
    st.lists(st.tuples(st.sampled_from(["link", "refresh", "location", "x", "a b", ""]), st.text()))
)
def test_no_value_can_end_a_header(fields):
    for name, value in rewrite_headers(fields, UrlRewriter(PAGE, TIMESTAMP)):
        assert not set("\r\n\0") & set(name + value)
