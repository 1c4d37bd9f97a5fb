from aiohttp import web

from archiver.web.app_keys import ORIGIN, SESSION


async def show_origin(request: web.Request) -> web.Response:
    return web.Response(text=request[ORIGIN])


ROUTE = web.get("/", show_origin)


async def test_addresses_loopback_names_and_allowed_names_are_served(serve, raw):
    client = await serve(ROUTE, allow_hosts=("archive.example", "WWW.archive.example"))

    for host in (
        "localhost",
        "localhost:8080",
        "LOCALHOST.",
        "archive.localhost",
        "127.0.0.1:1",
        "[::1]:8080",
        "192.168.1.5",
        "[fe80::1]",
        "archive.example:99",
        "www.archive.example",
    ):
        status, answer = await raw(client, "/", f"Host: {host}")

        assert status == 200, host
        assert answer.endswith(f"http://{host.lower()}"), host


async def test_other_host_names_are_rejected_with_the_setting(serve, raw):
    client = await serve(ROUTE)

    for host in ("evil.example", "localhost.evil.example", "xlocalhost", "127.0.0.1.nip.io"):
        status, answer = await raw(client, "/", f"Host: {host}")

        assert status == 421, host
        assert "--allow-hosts" in answer, host


async def test_a_missing_double_or_invalid_host_is_rejected(serve, raw):
    client = await serve(ROUTE)

    for lines in (
        ("X-No-Host: 1",),
        ("Host: localhost", "Host: evil.example"),
        ("Host: localhost/; img-src *",),
        ("Host: localhost;x",),
        ("Host: user@localhost",),
        ("Host: [::1",),
        ("Host: ",),
    ):
        status, _ = await raw(client, "/", *lines)

        assert status == 400, lines


async def test_an_absolute_request_target_is_rejected(serve, raw):
    client = await serve(ROUTE)

    status, _ = await raw(client, "http://evil.example/")

    assert status == 400


async def test_the_error_page_for_an_unknown_host_has_no_session(serve, raw, monkeypatch):
    requests = []

    def error_page(request: web.Request, status: int, message: str, **_: bool) -> web.Response:
        requests.append(request[SESSION])
        return web.Response(status=status, text=message)

    monkeypatch.setattr("archiver.web.middleware.error_page", error_page)
    client = await serve(ROUTE)

    await raw(client, "/", "Host: evil.example")

    assert requests == [""]
