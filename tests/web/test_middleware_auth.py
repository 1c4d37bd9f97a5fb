import asyncio
import time

import pytest
from aiohttp import encode_basic_auth, web
from yarl import URL

from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.web import auth
from archiver.web.app_keys import PERMISSIONS, SIGNED_IN

RIGHT = "a good pass phrase é"


async def page(request: web.Request) -> web.Response:
    return web.json_response([request[SIGNED_IN]])


async def sign_in(request: web.Request) -> web.Response:
    if not await auth.check_password(request, str((await request.post())["password"])):
        raise web.HTTPUnauthorized(text="Wrong.")
    response = web.Response()
    await auth.start_session(request, response)
    return response


async def sign_out(request: web.Request) -> web.Response:
    response = web.Response()
    await auth.end_session(request, response)
    return response


ROUTES = (
    web.get("/", page),
    web.get("/login", page, name="login"),
    web.post("/login", sign_in, name="sign_in"),
    web.post("/logout", sign_out, name="sign_out"),
    web.get("/healthz", page, name="healthz"),
    web.get("/metrics", page, name="metrics"),
    web.get("/static/{name}", page, name="static"),
    web.get("/api/v1/x", page),
    web.get("/web/{address:.*}", page, name="replay"),
    web.post("/web/{address:.*}", page, name="replay_post"),
)


async def signed_in(client, password=RIGHT):
    return await client.post("/login", data={"password": password})


async def test_with_a_password_a_browser_is_redirected_to_login(serve):
    client = await serve(*ROUTES, password=RIGHT)

    answer = await client.get("/?a=1&b=//x", allow_redirects=False)

    assert answer.status == 303
    assert URL(answer.headers["Location"]) == URL("/login").with_query(next="/?a=1&b=//x")
    assert "Set-Cookie" not in answer.headers


async def test_with_a_password_a_program_gets_401(serve):
    client = await serve(*ROUTES, password=RIGHT)

    for path in ("/api/v1/x", "/metrics", "/api/v1/unknown"):
        answer = await client.get(path)

        assert answer.status == 401, path
        assert answer.headers["WWW-Authenticate"].startswith("Bearer"), path


async def test_open_routes_need_no_login(serve):
    client = await serve(*ROUTES, password=RIGHT)

    for path in ("/healthz", "/login", "/static/a.css"):
        assert (await client.get(path, allow_redirects=False)).status == 200, path


async def test_open_routes_are_matched_by_name_and_not_by_path(serve, raw):
    client = await serve(*ROUTES, password=RIGHT)

    for target in ("/%68ealthz/..//", "//healthz", "/x/../healthz", "/healthz/", "/login/../"):
        status, _ = await raw(client, target)

        assert status == 303, target


async def test_a_user_signs_in_and_out(serve):
    client = await serve(*ROUTES, password=RIGHT)

    answer = await signed_in(client)
    cookie = answer.headers["Set-Cookie"]
    (inside,) = await (await client.get("/")).json()
    signed_out = await client.post("/logout")

    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Secure" not in cookie
    assert inside is True
    assert signed_out.status == 200
    assert (await client.get("/", allow_redirects=False)).status == 303


async def test_the_cookie_is_secure_behind_https(serve):
    client = await serve(*ROUTES, password=RIGHT)
    form = {"password": RIGHT}

    answer = await client.post("/login", data=form, headers={"X-Forwarded-Proto": "https"})

    assert "Secure" in answer.headers["Set-Cookie"]


async def test_a_form_sent_while_signed_out_changes_nothing(serve):
    called = []

    async def form(request: web.Request) -> web.Response:
        called.append(request)
        return web.Response()

    client = await serve(
        *ROUTES, web.post("/form", form), web.post("/api/v1/form", form), password=RIGHT
    )
    headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"}

    for path in ("/form", "/api/v1/form"):
        answer = await client.post(path, data={"note": "typed"}, headers=headers)

        assert (answer.status, called) == (401, []), path
        shown = await answer.text()
        assert "Sign in" in shown, path
        if path == "/form":
            assert "reload this page to send the form again" in shown, path
            assert 'href="/login" target="_blank"' in shown, path


async def test_a_modified_cookie_is_rejected(serve, raw):
    client = await serve(*ROUTES, password=RIGHT)
    good = (await signed_in(client)).cookies[auth.COOKIE].value
    client.session.cookie_jar.clear()

    for change in ("9{}", "{}x", "", "..", "1.2.3", "{0}" * 100):
        status, _ = await raw(
            client, "/", "Host: localhost", f"Cookie: {auth.COOKIE}={change.format(good)}"
        )

        assert status in {303, 400}, change


async def test_programs_send_the_password_with_each_request(serve):
    client = await serve(*ROUTES, password=RIGHT)
    bearer = {"Authorization": f"Bearer {RIGHT}"}
    basic = {"Authorization": encode_basic_auth("any", RIGHT, encoding="utf-8")}

    assert (await client.get("/api/v1/x", headers=basic)).status == 200
    assert (await client.get("/api/v1/x", headers=bearer)).status == 200


async def test_a_wrong_header_is_401(serve):
    for header in (
        "Bearer wrong",
        "Basic !!!",
        "Basic eDp5",
        "Digest x",
        "",
        f"Bearer {'x' * 5000}",
    ):
        client = await serve(*ROUTES, password=RIGHT)  # failed logins delay later ones
        sent = await client.get("/api/v1/x", headers={"Authorization": header})
        assert sent.status == 401, header[:20]


async def test_concurrent_logins_are_counted_before_the_check(serve):
    client = await serve(*ROUTES, password=RIGHT)

    answers = await asyncio.gather(*(signed_in(client, "wrong") for _ in range(30)))

    assert sum(each.status == 401 for each in answers) <= 5


async def test_after_failed_logins_even_the_right_password_waits(serve):
    client = await serve(*ROUTES, password=RIGHT)

    statuses = [(await signed_in(client, "wrong")).status for _ in range(6)]
    answer = await signed_in(client)

    assert statuses == [401, 401, 401, 401, 401, 429]
    assert answer.status == 429
    assert int(answer.headers["Retry-After"]) >= 1


def permitted(client) -> str:
    permissions = client.app[PERMISSIONS]
    address = ReplayAddress("2020", Modifier.IMAGE, "http://a.example/")
    return permissions.write(permissions.new(), address)


async def test_a_replay_address_contains_its_access_token(serve):
    client = await serve(*ROUTES, password=RIGHT)
    permission = permitted(client)
    token = permission.split("/")[2]
    image = {"Sec-Fetch-Dest": "image"}

    opened = await client.get(permission)
    head = await client.head(permission)
    bare = await client.get("/web/2020im_/http://a.example/", headers=image)
    forged = await client.get(permission.replace(token[-22:], "A" * 22), headers=image)
    elsewhere = await client.get(f"/?{permission}", allow_redirects=False)
    posted = await client.post(permission)

    assert permission.startswith("/web/~")
    assert (opened.status, head.status) == (200, 200)
    assert (bare.status, forged.status, posted.status) == (401, 401, 401)
    assert elsewhere.status == 303


async def test_a_replay_address_expires(serve):
    client = await serve(*ROUTES, password=RIGHT)
    permission, ends = permitted(client), client.app[PERMISSIONS].new().ends

    answers = []
    for now in (ends - 1, ends):
        client.app[PERMISSIONS].clock = lambda now=now: now
        answers.append((await client.get(permission, headers={"Sec-Fetch-Dest": "image"})).status)

    assert answers == [200, 401]
    assert ends - time.time() <= 30 * 60


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/snapshots?q=a", "/snapshots?q=a"),
        ("/", "/"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("snapshots", "/"),
        ("/é", "/"),
    ],
)
def test_login_never_redirects_to_another_site(target, expected):
    assert auth.local_path(target) == expected
