"""The access page, and the permissions of tokens."""

import re

from archiver.services.access import Scope
from archiver.web.middleware import ADDING_ROUTES, NO_TOKEN_ROUTES, opens
from archiver.web.routes import ROUTES

PASSWORD = "a good pass phrase"


async def do(client, what, **fields):
    async with client.post("/access", data={"do": what} | fields) as answer:
        return answer.status, await answer.text()


async def test_a_password_is_set_changed_and_removed_with_the_current_one(client):
    assert "anyone who can reach this archive" in await (await client.get("/access")).text()
    assert (await do(client, "set-password", new="short", again="short"))[0] == 400
    status, page = await do(client, "set-password", new=PASSWORD, again=PASSWORD)
    assert (status, "this one" in page) == (200, True), "whoever set it is signed in"

    status, page = await do(
        client, "set-password", current="wrong", new="another pass phrase", again="x"
    )
    assert (status, "The current password is wrong" in page) == (400, True)
    client.session.cookie_jar.clear()
    assert (await client.get("/access", allow_redirects=False)).status == 303
    form = {"password": PASSWORD, "next": "/access"}
    page = await (await client.post("/login", data=form)).text()
    assert page.count(">Sign out<") == 2

    _, page = await do(client, "end-others")
    assert page.count(">Sign out<") == 1
    _, page = await do(client, "remove-password", current=PASSWORD)
    assert "anyone who can reach this archive" in page


async def test_a_token_opens_the_routes_of_its_scope_even_after_failed_logins(client):
    await do(client, "set-password", new=PASSWORD, again=PASSWORD)
    tokens = {}
    for scope in Scope:
        _, page = await do(client, "make-token", name=f"a {scope}", scope=scope)
        tokens[scope] = re.search(r'data-copy="(arc_[^"]+)"', page)[1]
    client.session.cookie_jar.clear()
    saved = {"urls": ["http://127.0.0.1/x"]}
    answers = {}
    for scope, token in tokens.items():
        headers = {"Authorization": f"Bearer {token}"}
        responses = (
            await client.get("/api/v1/entries", headers=headers),
            await client.post("/api/v1/entries", json=saved, headers=headers),
            await client.get("/access", headers=headers),
        )
        answers[scope] = [each.status for each in responses]
    assert answers == {
        Scope.READ: [200, 403, 403],
        Scope.ADD: [403, 202, 403],
        Scope.ALL: [200, 202, 403],
    }
    wrong = {"Authorization": "Bearer arc_wrong"}
    assert (await client.get("/api/v1/entries", headers=wrong)).status == 401
    logins = [await client.post("/login", data={"password": "wrong"}) for _ in range(7)]
    assert logins[-1].status == 429
    valid = {"Authorization": f"Bearer {tokens[Scope.READ]}"}
    assert (await client.get("/api/v1/entries", headers=valid)).status == 200


def test_every_route_named_in_a_scope_exists():
    assert {each.kwargs.get("name") for each in ROUTES} >= ADDING_ROUTES | NO_TOKEN_ROUTES
    assert not any(
        opens(Scope.READ, each.kwargs["name"], each.method)
        for each in ROUTES
        if each.method not in ("GET", "HEAD")
    )
