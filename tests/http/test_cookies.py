"""User cookies: parsed like other programs do, and sent as RFC 6265 requires."""

import time
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.http.cookies import UserCookies, VisitCookies, cookies_for, read_cookies

NOW = 1_700_000_000
FILE = (
    "# Netscape HTTP Cookie File\n"
    "# a comment\n\n"
    ".shop.example\tTRUE\t/\tTRUE\t0\tsession\tabc\n"
    "#HttpOnly_www.shop.example\tFALSE\t/cart\tFALSE\t1800000000\tcart\t1;2\n"
    "#HttpOnly_www.shop.example\tFALSE\t/cart\tFALSE\t1800000000\tcart\t12\r\n"
    "www.shop.example\tFALSE\t/\tFALSE\t1600000000\told\tx\n"
    "com\tTRUE\t/\tFALSE\t0\tall\tx\n"
    "not a cookie\n"
    "www.shop.example\tFALSE\t/\tFALSE\t0\tempty\n"
)


def sent(url, *initiators):
    hosts = initiators or (urlsplit(url).hostname,)
    return cookies_for(url, read_cookies(FILE)[0], NOW, hosts).value


def test_cookie_files_are_parsed_like_curl_and_bad_lines_are_reported():
    cookies, refused = read_cookies(FILE)

    assert [(each.host, each.name, each.value) for each in cookies] == [
        ("shop.example", "session", "abc"),
        ("www.shop.example", "cart", "12"),
        ("www.shop.example", "old", "x"),
        ("www.shop.example", "empty", ""),
    ]
    assert refused == [5, 8, 9]


def test_a_cookie_is_sent_to_its_host_path_and_scheme():
    assert sent("https://www.shop.example/cart/1") == "cart=12; session=abc; empty="
    assert sent("https://www.shop.example/cartoon") == "session=abc; empty="
    assert sent("http://www.shop.example/") == "empty="
    assert sent("https://shop.example/") == "session=abc"
    assert sent("https://x.shop.example:8443/") == "session=abc"
    assert sent("https://noshop.example/") == ""
    assert sent("https://shop.example.evil.example/") == ""


def test_resources_of_a_page_on_another_site_get_no_cookies():
    url = "https://x.shop.example/"

    assert sent(url, "x.shop.example", "shop.example") == "session=abc"
    assert sent(url, "evil.example", "x.shop.example") == ""


def test_redirects_through_other_sites_and_automatic_requests_get_no_cookies():
    url = "https://www.shop.example/"

    assert sent(url, "shop.example", "evil.example", "www.shop.example") == ""
    assert cookies_for(url, read_cookies(FILE)[0], NOW, ()).value == ""


def test_a_host_shares_cookies_with_its_www_form_only():
    cookie = read_cookies("www.a.example\tFALSE\t/\tFALSE\t0\ta\tb\n")[0]

    assert (
        cookies_for("http://www.a.example/", cookie, NOW, ["a.example", "www.a.example"]).value
        == "a=b"
    )
    assert cookies_for("http://www.a.example/", cookie, NOW, ["x.a.example"]).value == ""


def test_an_ip_address_has_no_subdomains():
    (cookie,) = read_cookies(".0.0.1\tTRUE\t/\tFALSE\t0\ta\tb\n127.0.0.1\tTRUE\t/\tFALSE\t0\tc\td")[
        0
    ][1:]

    assert not cookie.matches_host("1.127.0.0.1")
    assert cookies_for("http://127.0.0.1:80/", [cookie], NOW, ["127.0.0.1"]).value == "c=d"


@given(st.text())
def test_any_cookie_file_can_be_parsed_and_cannot_break_a_request(text):
    field = cookies_for("https://a.example/", read_cookies(text)[0], NOW, ["a.example"]).value

    assert not set(field) & set("\r\n\t\0")


SET = [
    ("a=b", "a=b"),
    ("a=b; Path=/x; HttpOnly; SameSite=Lax", "a=b"),
    ("a=b; Path=/xy", ""),
    ("a=b; path=nowhere", "a=b"),
    ("a = b=c ; x", "a=b=c"),
    ('a="b c"', 'a="b c"'),
    ("a=", "a="),
    ("b", ""),
    ("=b", ""),
    ("a=b; Secure", "a=b"),
    ("__Host-a=b; Secure; Path=/", "__Host-a=b"),
    ("__Secure-a=b", ""),
    ("__Host-a=b; Secure", ""),
    ("__Host-a=b; Secure; Path=/; Domain=www.shop.example", ""),
    ("a=b; Domain=www.shop.example", "a=b"),
    ("a=b; Domain=.SHOP.example", "a=b"),
    ("a=b; Domain=op.example", ""),
    ("a=b; Domain=evil.example", ""),
    ("a=b; Domain=example", ""),
    ("a=b; Max-Age=60", "a=b"),
    ("a=b; Max-Age=0", ""),
    ("a=b; Max-Age=-1; Expires=Wed, 09 Jun 2100 10:18:14 GMT", ""),
    ("a=b; Expires=Wed, 09-Jun-2100 10:18:14 GMT", "a=b"),
    ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", ""),
    ("a=b; Expires=never", "a=b"),
    ("a=\0b", ""),
    *((f"{name}=b", f"{name}=b") for name in ("@a", "(a", '"a"', "a b")),
    ("\xc3\xa9=b", "é=b"),
    ("a\0=b", ""),
    ("a=" + "b" * 4095, "a=" + "b" * 4095),
    ("a=" + "b" * 4096, ""),
]


@pytest.mark.parametrize(("field", "sent_back"), SET)
async def test_cookies_of_a_response_are_sent_back_as_in_browsers(field, sent_back):
    url, jar = "https://www.shop.example/x/y", VisitCookies()
    headers = [("content-type", "text/html"), ("set-cookie", field)]

    await jar.receive(url, headers)

    is_secure_only = "Secure" in field
    assert cookies_for(url, jar.by_key.values(), time.time(), ()).value == sent_back
    plain = cookies_for("http://www.shop.example/x/y", jar.by_key.values(), time.time(), ()).value
    assert plain == ("" if is_secure_only else sent_back)


@pytest.mark.parametrize(
    ("domain", "cookies"),
    [("a.github.io", ""), ("github.io", ""), ("shop.co.uk", "a=b"), ("co.uk", "")],
)
async def test_a_cookie_for_a_public_suffix_is_refused(domain, cookies):
    jar = VisitCookies()
    for host in ("x.shop.co.uk", "a.github.io"):
        await jar.receive(f"https://{host}/", [("set-cookie", f"a=b; Domain={domain}")])

    for host in ("y.shop.co.uk", "b.github.io"):
        field = cookies_for(f"https://{host}/", jar.by_key.values(), NOW, ())
        assert field.value == (cookies if domain.endswith(host[7:]) else "")


async def test_cookies_of_a_response_replace_the_users_and_stay_private():
    url, jar = "https://www.shop.example/", VisitCookies()
    users = UserCookies()
    users.load(FILE.encode())
    renewed = "session=new; Domain=shop.example; Path=/; Secure"
    await jar.receive(url, [("set-cookie", renewed)], is_private=True)

    assert users.field_for(url, ["www.shop.example"], jar).value == "session=new; empty="
    elsewhere = users.field_for(url, ["evil.example"], jar)
    assert (elsewhere.value, elsewhere.is_private) == ("", True)
