"""HTTP interface of replay, with real records."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from aiohttp import ClientPayloadError, web
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.replay.response_headers import Viewer, content_security_policy
from archiver.web import replay
from archiver.web.app_keys import FRAME_REQUESTS, PERMISSIONS
from archiver.web.replay_requests import FrameRequest, token_of, without_token
from tests.handmade_archive import HTML, archive_in

ROUTE = web.get("/web/{address:(?s:.*)}", replay.replay, name="replay")
PAGE = "http://a.example/"
ABSENT = "http://absent.example/"
FIRST, LATEST = "20200101000000", "20240229120001"
SOON = "20240229120000"
PDF = b"%PDF-1.7\n"
CSS = ("Content-Type", "text/css")


@pytest.fixture
async def archive(tmp_path):
    """Two captures of ``PAGE``."""
    async with archive_in(tmp_path / "archive") as opened:
        await opened.add(PAGE, b"<p>first", FIRST, headers=HTML)
        await opened.add(PAGE, b"<a href=x>latest", LATEST, headers=HTML)
        yield opened


@pytest.fixture
async def client(serve, archive):
    return await serve(ROUTE, services={"replay": archive.replay})


async def get(client, target: str, method="GET", **headers: str):
    url = URL(f"http://127.0.0.1:{client.port}{target}", encoded=True)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.session.request(method, url, headers=named, allow_redirects=False)


def signed(client, moment, url, modifier=Modifier.NONE) -> str:
    """Return the path of a memento with permission."""
    permissions = client.app[PERMISSIONS]
    return permissions.write(permissions.new(), ReplayAddress(moment, modifier, url))


def rules(answer) -> dict[str, str]:
    """Return the Content-Security-Policy of a response, which must have one."""
    (policy,) = answer.headers.getall("Content-Security-Policy")
    return dict(rule.partition(" ")[::2] for rule in policy.split("; "))


async def test_a_capture_is_served_at_its_exact_address(client):
    answer = await get(client, f"/web/{LATEST}/{PAGE}")
    stored = await get(client, f"/web/{LATEST}id_/{PAGE}")

    assert (answer.status, stored.status) == (200, 200)
    assert await answer.text() == f'<a href="/web/{LATEST}/{PAGE}x">latest'
    assert await stored.text() == "<a href=x>latest"
    for each in (answer, stored):
        assert each.headers["Content-Type"] == "text/html;charset=utf-8"
        assert each.headers["Memento-Datetime"] == "Thu, 29 Feb 2024 12:00:01 GMT"
        assert "Content-Location" not in each.headers


async def test_replayed_content_cannot_run_or_load_anything(client, archive):
    hostile = (
        ("Set-Cookie", "a=b"),
        ("Content-Security-Policy", "default-src *"),
        ("Referrer-Policy", "unsafe-url"),
        ("Refresh", "0; url=http://away.example/"),
        ("Access-Control-Allow-Origin", "*"),
        ("Cache-Control", "public"),
    )
    await archive.add(f"{PAGE}evil", b"x", LATEST, headers=(*HTML, *hostile))

    answer = await get(client, f"/web/{LATEST}/{PAGE}evil")
    root = f"http://127.0.0.1:{client.port}/web/"

    result, headers = rules(answer), answer.headers
    policy = content_security_policy(Viewer(root.removesuffix("/web/")))
    assert headers["Content-Security-Policy"] == policy
    assert result["sandbox"] == ""
    assert result["default-src"] == "'none'"
    assert result["img-src"] == f"{root} data:"
    assert result["frame-src"] == result["object-src"] == f"{root} data:"
    assert result["form-action"] == "'none'"
    assert not {"script-src", "connect-src", "worker-src"} & result.keys()
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Robots-Tag"].startswith("noindex")
    assert headers["Cache-Control"].startswith("private")
    for absent in ("Set-Cookie", "Refresh", "Access-Control-Allow-Origin"):
        assert absent not in headers


async def test_only_resources_that_need_cors_allow_an_opaque_origin(client, archive):
    page = b"""<img src=a><style>@font-face { src: url(b) } i { mask: url(c) }</style>
    <video src=d poster=e><track src=f></video><svg><rect mask="url(g#x)" /></svg>"""
    await archive.add(PAGE, page, LATEST, headers=HTML)
    for name in "abcdefg":
        await archive.add(PAGE + name, b"x", LATEST, headers=(("Content-Type", "image/png"),))

    text = await (await get(client, f"/web/{LATEST}/{PAGE}")).text()
    paths = re.findall(r"/web/[^\s\"')>#]+", text)
    granted = {}
    for path in [*paths, f"/web/{LATEST}im_/{PAGE}b"]:
        answer = await get(client, path, Origin="null")
        granted[path[-1]] = answer.headers.get("Access-Control-Allow-Origin")
        assert answer.status == 200

    assert granted == dict.fromkeys("cdefg", "null") | {"a": None, "b": None}, "b without a token"


async def test_only_pdf_files_are_served_without_a_sandbox(client, archive):
    kind = (("Content-Type", "application/pdf"),)
    await archive.add(f"{PAGE}real", PDF, LATEST, headers=kind)
    await archive.add(f"{PAGE}false", b"<script>x</script>", LATEST, headers=kind)
    for modifier in ("", "id_", "im_", "if_", "js_", "cs_"):
        real = await get(client, f"/web/{LATEST}{modifier}/{PAGE}real")
        false = await get(client, f"/web/{LATEST}{modifier}/{PAGE}false")

        assert (real.headers["Content-Type"], await real.read()) == ("application/pdf", PDF)
        assert ("sandbox" in rules(real), "sandbox" in rules(false)) == (False, True), modifier


async def test_an_inexact_timestamp_redirects_to_the_exact_one(client, archive):
    for moment in (FIRST, LATEST):
        await archive.add(f"{PAGE}?a=1&b", b"x", moment, headers=HTML)
    for timestamp, modifier, exact in (
        ("", "", LATEST),
        ("2020", "", FIRST),
        ("2023", "id_", LATEST),
        (SOON, "", LATEST),
        (SOON, "if_", LATEST),
        ("", "cs_", LATEST),
    ):
        moment = f"{timestamp}{modifier}/" if timestamp or modifier else ""

        answer = await get(client, f"/web/{moment}{PAGE}?a=1&b")

        assert answer.status == 302, timestamp
        assert answer.headers["Location"] == f"/web/{exact}{modifier}/{PAGE}?a=1&b", timestamp
        assert "sandbox" in rules(answer), timestamp


async def test_an_archived_url_is_parsed_unchanged(client, archive, raw):
    for target in (
        "http://a.example//b//c/",
        "http://a.example/b%2Fc%2f%252F",
        "http://a.example/?",
        "http://a.example/p?u=http://b.example/?c=d&e",
        "http://a.example/..%2f..%2fetc",
        "http://a.example/%E4%zz%00",
        "http://a.example/%0A%0D%25%09",
        "http://a.example/[a]?[b]",
        "http://a.example/?q=a+b%20c",
        "http://a.example/web/2020/http://b.example/",
        "http://a.example/~t/",
        "http://[::1]/",
        "http://a.example/index.md",
    ):
        await archive.add(target, b"found", LATEST, headers=(("Content-Type", "text/plain"),))

        status, answer = await raw(client, f"/web/{LATEST}/{target}")

        assert status == 200, target
        assert f'Link: <{target}>; rel="original"' in answer, target


async def test_a_url_redirects_to_its_normal_spelling(client, archive, raw):
    await archive.add("http://a.example/c", b"found", LATEST, headers=HTML)

    _, answer = await raw(client, "/web/2024/http://A.example/b/../c")

    assert f"Location: /web/{LATEST}/http://a.example/c\r\n" in answer


async def test_an_invalid_replay_address_is_rejected(client, raw):
    for target, status in (
        ("/web/", 400),
        (f"/web/{LATEST}/", 400),
        ("/web/2/http://a.example/", 400),
        ("/web/javascript:alert(1)", 400),
        ("/web/2020/ftp://a.example/", 400),
        ("/web/2020/http://", 400),
        ("/web/2020/http://user:pass@a.example/", 400),
        ("/%77eb/http://a.example/", 404),
        ("/web/2020/http://a.example/" + "x" * 9000, 400),
    ):
        answer_status, _ = await raw(client, target)

        assert answer_status == status, target


async def test_a_page_without_captures_is_a_404_page(client):
    page = await get(client, f"/web/2020/{ABSENT}?q=1")
    frame = await get(client, signed(client, "2020", ABSENT, Modifier.FRAME))

    assert (page.status, frame.status) == (404, 404)
    assert page.content_type == frame.content_type == "text/html"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert "frame-ancestors" not in frame.headers["Content-Security-Policy"]


async def test_a_requisite_without_captures_is_an_empty_404(client):
    for modifier in ("im_", "cs_", "js_"):
        answer = await get(client, f"/web/{LATEST}{modifier}/{ABSENT}a")

        assert (answer.status, await answer.read()) == (404, b""), modifier
        assert "sandbox" in rules(answer), modifier


async def test_a_response_of_any_status_is_complete(client, archive, raw):
    for status in (200, 204, 205, 304, 404, 0, 101, 999):
        page, expected = f"{PAGE}{status}", status if 200 <= status < 600 else 502
        await archive.add(page, b"body", LATEST, status=status, headers=HTML)
        for modifier in ("", "id_"):
            answer = await get(client, f"/web/{LATEST}{modifier}/{page}")
            line, text = await raw(client, f"/web/{LATEST}{modifier}/{page}")

            assert (answer.status, line) == (expected, expected), (status, modifier)
            content = "" if status in {204, 205, 304} else "body"
            assert (await answer.text(), text.partition("\r\n\r\n")[2]) == (content, content)


async def test_media_are_sent_in_ranges_and_revalidated(client, archive):
    clip = bytes(n % 251 for n in range(200_000))
    await archive.add(f"{PAGE}clip", clip, LATEST, headers=(("Content-Type", "video/mp4"),))
    address = f"/web/{LATEST}im_/{PAGE}clip"

    whole = await get(client, address)
    etag = whole.headers["ETag"]
    part = await get(client, address, Range="bytes=100000-", If_Range=etag)
    changed = await get(client, address, Range="bytes=100000-", If_Range='"other"')
    outside_range = await get(client, address, Range="bytes=200000-")
    response = await get(client, address, If_None_Match=etag)
    head = await get(client, address, "HEAD", Range="bytes=5-6")

    assert (whole.status, await whole.read()) == (200, clip)
    assert (part.status, await part.read()) == (206, clip[100_000:])
    assert part.headers["Content-Range"] == "bytes 100000-199999/200000"
    assert (changed.status, await changed.read()) == (200, clip)
    assert (outside_range.status, outside_range.headers["Content-Range"]) == (416, "bytes */200000")
    assert (response.status, await response.read(), response.headers["ETag"]) == (304, b"", etag)
    assert (head.status, head.headers["Content-Length"]) == (200, "200000")
    for each in (whole, part, head):
        assert each.headers["Accept-Ranges"] == "bytes"
        assert "sandbox" in rules(each)


async def test_missing_bytes_are_reported_before_the_response_starts(client, archive):
    (segment,) = archive.store.directory.iterdir()
    segment.unlink()

    assert (await get(client, f"/web/{LATEST}/{PAGE}")).status == 500


async def test_missing_bytes_abort_a_started_response(client, archive):
    page = b"".join(b"<p>%d" % (n * n) for n in range(100_000))
    capture = await archive.add(f"{PAGE}long", page, LATEST, headers=HTML)
    segment = archive.store.directory / capture.location.segment
    with segment.open("r+b") as file:
        file.truncate(capture.location.offset + capture.location.length // 2)

    answer = await get(client, f"/web/{LATEST}/{PAGE}long")

    assert answer.status == 200
    with pytest.raises(ClientPayloadError):
        await answer.read()


@pytest.fixture
async def service_with_password(serve, archive):
    """The service over the same archive, with a password."""
    return await serve(ROUTE, services={"replay": archive.replay}, password="pass")


KNOWN = {"Authorization": "Bearer pass"}


async def test_requisites_get_access_tokens_and_links_do_not(service_with_password, archive):
    page = b"<link rel=stylesheet href=s.css><img src=i.png><iframe src=f></iframe><a href=l>l</a>"
    await archive.add(f"{PAGE}p", page, LATEST, headers=HTML)
    types = {"s.css": "text/css", "i.png": "image/png", "f": "text/html", "l": "text/html"}
    for name, kind in types.items():
        await archive.add(PAGE + name, b"x", LATEST, headers=(("Content-Type", kind),))

    html = await (await get(service_with_password, f"/web/{LATEST}/{PAGE}p", **KNOWN)).text()
    style, image, frame, link = re.findall(r'(?:href|src)="([^"]+)"', html)
    loaded = [await get(service_with_password, each) for each in (style, image, frame)]
    followed = await get(service_with_password, link)

    assert [each.status for each in loaded] == [200, 200, 200]
    assert link == f"/web/{LATEST}/{PAGE}l"
    assert followed.status == 401


async def test_an_access_token_opens_one_memento(service_with_password, archive):
    secret = f"{PAGE}secret"
    await archive.add(secret, b"secret", LATEST, headers=HTML)
    opened = signed(service_with_password, LATEST, PAGE, Modifier.FRAME)
    token = opened.split("/")[2]

    other_addresses = [
        f"/web/{token}/{LATEST}if_/{secret}",
        f"/web/{token}/{LATEST}/{PAGE}",
        f"/web/{token}/{LATEST}id_/{PAGE}",
        f"/web/{token}/{FIRST}if_/{PAGE}",
        f"/web/{token}/if_/{PAGE}",
        f"/web/{token}/*/{PAGE}",
        f"/web/{token}/{LATEST}if_/{PAGE}?x",
    ]

    assert (await get(service_with_password, opened)).status == 200
    assert (await get(service_with_password, opened, "HEAD")).status == 200
    assert [(await get(service_with_password, each)).status for each in other_addresses] == [
        401
    ] * 7


async def test_a_link_below_a_banner_has_a_token_without_access(service_with_password, archive):
    body = f'<a href="{PAGE}next">x</a>'.encode()
    await archive.add(f"{PAGE}from", body, LATEST, headers=HTML)
    await archive.add(f"{PAGE}next", b"secret", LATEST, headers=HTML)
    permissions, banner = service_with_password.app[PERMISSIONS], "0123456789abcdef"
    address = ReplayAddress(LATEST, Modifier.FRAME, f"{PAGE}from")
    framed = permissions.write(permissions.new(banner=banner), address)
    link = re.search('href="([^"]+)"', await (await get(service_with_password, framed)).text())[1]
    forged = link.replace(banner, "fedcba9876543210")

    followed = await get(service_with_password, link, Sec_Fetch_Dest="iframe")
    text = await followed.text()
    assert (followed.status, "secret" in text, "http-equiv" in text) == (200, False, False)
    assert (await get(service_with_password, link, Sec_Fetch_Dest="document")).status == 401
    assert (await get(service_with_password, forged, Sec_Fetch_Dest="iframe")).status == 401
    target = ReplayAddress(LATEST, Modifier.FRAME, f"{PAGE}next")
    assert service_with_password.app[FRAME_REQUESTS].get(banner) == FrameRequest(
        f"{PAGE}next", wanted=target
    )
    assert service_with_password.app[FRAME_REQUESTS].get("fedcba9876543210") is None


async def test_an_access_token_expires_and_is_not_renewed(service_with_password, archive):
    await archive.add(f"{PAGE}s.css", b"@import 't.css'", LATEST, headers=(CSS,))
    await archive.add(f"{PAGE}t.css", b"a{}", LATEST, headers=(CSS,))
    permissions, now = service_with_password.app[PERMISSIONS], 1_700_000_000
    permissions.clock = lambda: now
    style = signed(service_with_password, LATEST, f"{PAGE}s.css", Modifier.STYLE)
    ends = permissions.new().ends

    now = ends - 1
    nested = re.search(
        "'([^']+)'|\\(([^)]+)\\)", await (await get(service_with_password, style)).text()
    )
    path = (nested[1] or nested[2]).strip("\"'")
    in_time = (await get(service_with_password, path)).status
    now = ends
    late = [
        (await get(service_with_password, each, Sec_Fetch_Dest="style")).status
        for each in (style, path)
    ]

    assert 15 * 60 <= ends - 1_700_000_000 <= 30 * 60
    assert (in_time, late) == (200, [401, 401])


async def test_responses_with_access_tokens_are_not_cached_longer_than_they_last(
    service_with_password,
):
    page = await get(service_with_password, f"/web/{LATEST}/{PAGE}", **KNOWN)
    stored = await get(service_with_password, f"/web/{LATEST}id_/{PAGE}", **KNOWN)

    assert page.headers["Cache-Control"] == "private, no-cache"
    assert stored.headers["Cache-Control"] == "private, max-age=3600"


async def test_redirects_keep_the_access_token(service_with_password, archive):
    to = (("Location", "/to"),)
    await archive.add(f"{PAGE}from", b"", LATEST, status=302, headers=to)
    await archive.add(f"{PAGE}to", b"x", LATEST, headers=HTML)

    inexact = await get(
        service_with_password, signed(service_with_password, SOON, PAGE, Modifier.FRAME)
    )
    exact = await get(service_with_password, inexact.headers["Location"])
    redirect = await get(
        service_with_password, signed(service_with_password, LATEST, f"{PAGE}from", Modifier.IMAGE)
    )
    target = await get(service_with_password, redirect.headers["Location"])
    answer = await get(service_with_password, f"/web/2024/{PAGE}", **KNOWN)

    assert (inexact.status, exact.status) == (302, 200)
    assert (redirect.status, target.status) == (302, 200)
    assert answer.headers["Location"] == f"/web/{LATEST}/{PAGE}"


async def test_a_link_leads_to_the_origin_with_the_session(service_with_password):
    link = f"/web/{LATEST}if_/{PAGE}"

    alone = await get(service_with_password, link, Sec_Fetch_Dest="document")
    framed = await get(service_with_password, link, Sec_Fetch_Dest="iframe")
    image = await get(service_with_password, link, Sec_Fetch_Dest="image")

    onward = f"/web/{LATEST}/{PAGE}"
    for each in (alone, framed):
        text = unescape(await each.text())
        assert (each.status, each.content_type) == (401, "text/html")
        assert "frame-ancestors" not in rules(each)
        assert f'href="{onward}" target="_top"' in text
        by_itself = f"0; url=/login?{urlencode({'next': onward})}" in text
        assert by_itself is (each is alone)
        assert "<script" not in text
        assert "autofocus" not in text
    assert (image.status, image.content_type) == (401, "text/html")
    assert onward not in await image.text()


async def test_only_an_access_token_allows_framing(client):
    framed = signed(client, LATEST, PAGE, Modifier.FRAME)
    place = framed.index("/2024")
    forged = f"{framed[: place - 2]}{'AA' if framed[place - 2 : place] != 'AA' else 'BB'}"

    ours = await get(client, framed)
    answers = [await get(client, f"{each}/{LATEST}if_/{PAGE}") for each in ("/web", forged)]

    assert "frame-ancestors" not in rules(ours)
    for other in answers:
        assert rules(other)["frame-ancestors"] == "'none'"


@pytest.mark.parametrize(
    ("target", "token", "address"),
    [
        ("/web/2020/http://a/", None, "/web/2020/http://a/"),
        ("/web/~tok_en-1/2020/http://a/?b#c", "tok_en-1", "/web/2020/http://a/?b"),
        ("/web/~t/~t/2020/http://a/", "t", "/web/~t/2020/http://a/"),
        ("/web/~/2020/http://a/", None, "/web/~/2020/http://a/"),
        ("/web/~t%20/x", None, "/web/~t%20/x"),
        ("/web/http://a/~t/x", None, "/web/http://a/~t/x"),
        ("/%77eb/~t/http://a/", None, None),
        ("//web/~t/http://a/", None, None),
    ],
)
def test_an_access_token_is_separated_from_the_address(target, token, address):
    assert token_of(target) == token
    assert without_token(target) == address


@given(st.text(st.characters(exclude_characters="#")))
def test_a_path_without_token_keeps_the_whole_address(text):
    assert without_token(f"/web/2020/{text}") == f"/web/2020/{text}"
    assert without_token(f"/web/~t/2020/{text}") == f"/web/2020/{text}"
