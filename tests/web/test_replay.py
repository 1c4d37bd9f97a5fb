"""The HTTP side of replay, over a shelf of captures; what is in them is the service's business."""

from types import SimpleNamespace

import pytest
from aiohttp import ClientPayloadError, web
from yarl import URL

from archiver.errors import NotInArchive, StoreError
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId, Timestamp
from archiver.rewrite.address import Modifier
from archiver.web import auth, replay
from archiver.web.replay import content_security_policy

ROUTE = web.get("/web/{address:.*}", replay.replay, name="replay")
PAGE = "http://a.example/"
FIRST, LATEST = "20200101000000", "20240229120001"


class Shelf:
    """Knows two captures of every URL that does not hold ``absent``."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.prefixes: list[str] = []
        self.media_type = "text/html"
        self.status = 200
        self.breaks_at: int | None = None
        self.closed = 0

    async def resolve(self, address) -> Capture:
        self.asked.append((address.timestamp_prefix, address.modifier, address.url))
        if "absent" in address.url:
            raise NotInArchive(address.url)
        early = address.timestamp_prefix and address.timestamp_prefix < "2022"
        return capture(address.url, FIRST if early else LATEST, self.media_type)

    async def open(self, _capture, modifier, *, prefix, **_):
        self.prefixes.append(prefix)
        headers = [
            ("Content-Type", f"{self.media_type}; charset=utf-8"),
            ("Set-Cookie", "a=b"),
            ("content-security-policy", "default-src *"),
            ("Content-Length", "999"),
            ("Access-Control-Allow-Origin", "*"),
            ("Memento-Datetime", "Thu, 29 Feb 2024 12:00:01 GMT"),
        ]
        return SimpleNamespace(status=self.status, headers=headers, body=self.body(modifier))

    async def body(self, modifier):
        try:
            for n in range(3):
                if n == self.breaks_at:
                    raise StoreError("The segment is gone.")
                yield f"{modifier}{n}".encode()
        finally:
            self.closed += 1


def capture(url: str, timestamp: str, media_type: str) -> Capture:
    return Capture(
        url=url,
        timestamp=Timestamp(timestamp),
        status=200,
        media_type=media_type,
        payload_digest=PayloadDigest("sha256:0"),
        payload_length=1,
        record_id=RecordId("urn:uuid:0"),
        location=Location("a.warc.gz", 0, 1),
    )


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
async def client(serve, shelf):
    return await serve(ROUTE, services={"replay": shelf})


async def get(client, target: str, method="GET", **headers: str):
    url = URL(f"http://127.0.0.1:{client.port}{target}", encoded=True)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.session.request(method, url, headers=named, allow_redirects=False)


async def test_a_capture_is_served_under_its_exact_name(client, shelf):
    answer = await get(client, f"/web/{LATEST}id_/{PAGE}")

    assert answer.status == 200
    assert await answer.text() == "id_0id_1id_2"
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Memento-Datetime"] == "Thu, 29 Feb 2024 12:00:01 GMT"
    assert "Content-Location" not in answer.headers
    assert shelf.prefixes == ["/web"]
    assert shelf.closed == 1


async def test_what_a_stranger_wrote_can_not_act(client):
    headers = (await get(client, f"/web/{LATEST}/{PAGE}")).headers
    here = f"http://127.0.0.1:{client.port}/web/"

    policies = headers.getall("Content-Security-Policy")
    assert policies == [content_security_policy(here.removesuffix("/web/"))]
    rules = dict(rule.partition(" ")[::2] for rule in policies[0].split("; "))
    assert rules["sandbox"] == ""
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == f"{here} data:"
    assert rules["frame-src"] == here
    assert rules["form-action"] == "'none'"
    assert not {"script-src", "connect-src", "worker-src"} & rules.keys()
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Robots-Tag"].startswith("noindex")
    assert headers["Cache-Control"].startswith("private")
    for absent in ("Set-Cookie", "Content-Length", "Access-Control-Allow-Origin"):
        assert absent not in headers


async def test_fonts_are_granted_to_the_opaque_origin_and_nothing_else_is(client):
    font = await get(client, f"/web/{LATEST}/{PAGE}f.woff2", Sec_Fetch_Dest="font")
    image = await get(client, f"/web/{LATEST}im_/{PAGE}i.png", Sec_Fetch_Dest="image")

    assert font.headers["Access-Control-Allow-Origin"] == "null"
    assert "Access-Control-Allow-Origin" not in image.headers
    assert font.headers["Vary"] == "Sec-Fetch-Dest"


async def test_a_pdf_is_not_sandboxed_for_no_browser_would_show_it(client, shelf):
    shelf.media_type = "application/pdf"

    policy = (await get(client, f"/web/{LATEST}/{PAGE}a.pdf")).headers["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; img-src ")


@pytest.mark.parametrize(
    ("asked", "modifier", "exact"),
    [
        ("", "", LATEST),
        ("2", "", FIRST),
        ("2020", "", FIRST),
        ("2023", "id_", LATEST),
        ("20240229120000", "", LATEST),
        ("20240229120000", "if_", LATEST),
        ("20240229120000", "id_", LATEST),
        ("2023", "im_", LATEST),
        ("", "cs_", LATEST),
    ],
)
async def test_an_inexact_time_leads_to_the_exact_one(client, asked, modifier, exact):
    moment = f"{asked}{modifier}/" if asked or modifier else ""

    answer = await get(client, f"/web/{moment}{PAGE}?a=1&b")

    assert answer.status == 302
    assert answer.headers["Location"] == f"/web/{exact}{modifier}/{PAGE}?a=1&b"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("modifier", ["im_", "cs_", "js_"])
async def test_a_requisite_of_another_second_is_served_in_its_place(client, modifier):
    answer = await get(client, f"/web/20240229120000{modifier}/{PAGE}a")

    assert answer.status == 200
    assert answer.headers["Content-Location"] == f"/web/{LATEST}{modifier}/{PAGE}a"


@pytest.mark.parametrize(
    "rest",
    [
        "http://a.example//b//c/",
        "http://a.example/b%2Fc%2f%252F",
        "http://a.example/?a=1&b",
        "http://a.example/?",
        "http://a.example/p?u=http://b.example/?c=d&e",
        "http://a.example/..%2f..%2fetc",
        "http://a.example/a;b=c/d",
        "http://a.example/%E4%zz%00",
        "http://a.example/?q=a+b%20c",
        "http://a.example/+%2B",
        "http://a.example/web/2020/http://b.example/",
        "http://a.example/~t/",
        "https://a.example:8443/",
        "http://a.example/index.md",
    ],
)
async def test_the_archived_url_comes_through_as_it_stood(client, shelf, raw, rest):
    status, _ = await raw(client, f"/web/{LATEST}/{rest}")

    assert status == 200
    assert shelf.asked == [(LATEST, Modifier.NONE, rest)]


async def test_a_url_that_browsers_write_otherwise_leads_to_how_they_write_it(client, raw):
    _, answer = await raw(client, "/web/2024/http://A.example/b/../c")

    assert f"Location: /web/{LATEST}/http://a.example/c\r\n" in answer


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/web/", 400),
        (f"/web/{LATEST}/", 400),
        ("/web/javascript:alert(1)", 400),
        ("/web/2020/ftp://a.example/", 400),
        ("/web/2020/http://", 400),
        ("/web/2020/http://user:pass@a.example/", 400),
        ("/%77eb/http://a.example/", 404),
        ("/web/2020/http://a.example/" + "x" * 9000, 400),
    ],
)
async def test_what_is_no_address_is_refused(client, raw, target, status):
    given, _ = await raw(client, target)

    assert given == status


async def test_a_page_that_was_never_captured_is_a_404_page(client):
    page = await get(client, "/web/2020/http://absent.example/?q=1")
    framed = auth.frame_prefix(SimpleNamespace(app=client.app))
    frame = await get(client, f"{framed}/2020if_/http://absent.example/")

    assert (page.status, frame.status) == (404, 404)
    assert page.content_type == frame.content_type == "text/html"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert "frame-ancestors" not in frame.headers["Content-Security-Policy"]


@pytest.mark.parametrize("modifier", ["im_", "cs_", "js_"])
async def test_a_requisite_that_was_never_captured_is_an_empty_404(client, modifier):
    answer = await get(client, f"/web/{LATEST}{modifier}/http://absent.example/a")

    assert (answer.status, await answer.read()) == (404, b"")
    assert "sandbox" in answer.headers["Content-Security-Policy"]


async def test_head_says_the_same_without_a_body(client, shelf):
    get_, head = [await get(client, f"/web/{LATEST}/{PAGE}", m) for m in ("GET", "HEAD")]

    assert head.status == 200
    assert await head.read() == b""
    different = {"Date", "Transfer-Encoding"}
    assert {k: v for k, v in get_.headers.items() if k not in different} == {
        k: v for k, v in head.headers.items() if k not in different
    }


@pytest.mark.parametrize("status", [204, 304, 404, 500, 999])
async def test_the_archived_status_is_kept(client, shelf, status):
    shelf.status = status

    answer = await get(client, f"/web/{LATEST}/{PAGE}")

    assert answer.status == status
    assert (await answer.read() == b"") is (status in {204, 304})


async def test_no_other_method_is_taken(client):
    assert (await get(client, f"/web/{LATEST}/{PAGE}", "POST")).status == 405


async def test_bytes_that_are_gone_are_told_while_there_is_time(client, shelf):
    shelf.breaks_at = 0

    assert (await get(client, f"/web/{LATEST}/{PAGE}")).status == 500


async def test_bytes_that_are_gone_later_break_the_answer_off(client, shelf):
    shelf.breaks_at = 2
    answer = await get(client, f"/web/{LATEST}/{PAGE}")

    with pytest.raises(ClientPayloadError):
        await answer.read()
    assert shelf.closed == 1


async def test_with_a_password_addresses_carry_the_permission_on(serve, shelf):
    client = await serve(ROUTE, services={"replay": shelf}, password="pass")
    held = {"Authorization": "Bearer pass"}

    moved = await get(client, f"/web/2024/{PAGE}", **held)
    place = moved.headers["Location"]
    opened = await get(client, place)
    image = await get(client, place.replace(LATEST, "20240229120000im_"))

    assert place.startswith("/web/~")
    assert opened.status == 200
    assert image.headers["Content-Location"].startswith("/web/~")
    assert shelf.prefixes == [place[: place.index("/2024")]] * 2


async def test_only_who_knows_the_token_of_our_frames_may_frame_a_memento(client):
    framed = auth.frame_prefix(SimpleNamespace(app=client.app))
    forged = f"{framed[:-2]}{'AA' if framed[-2:] != 'AA' else 'BB'}"

    ours = await get(client, f"{framed}/{LATEST}if_/{PAGE}")
    others = [await get(client, f"{each}/{LATEST}if_/{PAGE}") for each in ("/web", forged)]

    assert "frame-ancestors" not in ours.headers["Content-Security-Policy"]
    for other in others:
        assert "frame-ancestors 'none'" in other.headers["Content-Security-Policy"]
