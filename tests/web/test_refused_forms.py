"""A form that is sent when its session is over: nothing is done, and nothing typed is lost."""

import re
from collections.abc import AsyncIterator
from io import BytesIO

import pytest
from aiohttp import FormData, web
from aiohttp.test_utils import TestClient, TestServer
from lxml.html import FormElement, document_fromstring

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.errors import IndexUnavailable
from archiver.web.app import build_app
from archiver.web.keys import CSRF_TOKEN
from archiver.web.refused_words import facts_of
from archiver.web.routes import ROUTES
from tests.browser import chromium

PASSWORD = "a good pass phrase"
NOTE = 'Two lines,\n<b>one</b> of them "quoted" & all'
OURS = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"}
FOREIGN = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
URL = "https://a.example/x"


@pytest.fixture
async def runtime(tmp_path) -> AsyncIterator[App]:
    async with open_app(Settings(data=tmp_path / "data", password=PASSWORD)) as runtime:
        yield runtime


@pytest.fixture
async def client(runtime) -> AsyncIterator[TestClient]:
    async with TestClient(TestServer(build_app(runtime), skip_url_asserts=True)) as client:
        await sign_in(client)
        yield client


class Page:
    """A page as a browser without scripts has it."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text
        self._document = document_fromstring(text)

    def form(self, action: str) -> FormElement:
        return next(each for each in self._document.forms if each.action == action)

    def filled(self, action: str, **typed: str) -> list[tuple[str, str]]:
        """The fields of a form as they are sent, with what was typed into some of them."""
        return [*(dict(self.fields(action)) | typed).items()]

    def fields(self, action: str) -> list[tuple[str, str]]:
        """The fields as they stand: a line end that opens a text is not of it (HTML §13.1.2.5)."""
        values = self.form(action).form_values()
        return [(name, value.removeprefix("\n")) for name, value in values]


async def get(client: TestClient, path: str) -> Page:
    async with client.get(path) as answer:
        return Page(answer.status, await answer.text())


async def post(client: TestClient, path: str, fields: object, headers=OURS) -> Page:
    async with client.post(path, data=fields, headers=headers) as answer:
        return Page(answer.status, await answer.text())


async def sign_in(client: TestClient) -> None:
    way_in = await get(client, "/login")
    assert (await post(client, "/login", way_in.filled("/login", password=PASSWORD))).status == 200


async def note_of(runtime: App) -> str:
    return (await runtime.entries.get(URL)).entry.annotation.note


async def test_what_was_typed_comes_back_when_its_sender_has_signed_in(client, runtime):
    saved = await runtime.entries.save([URL], source="web")
    edit = f"/{saved.accepted[0].hash_url}/edit"
    typed = (await get(client, f"/{saved.accepted[0].hash_url}/")).filled(edit, note=NOTE)
    client.session.cookie_jar.clear()

    asked = await post(client, edit, typed)
    wrong = await post(client, "/login", asked.filled("/login", password="wrong pass phrase"))
    again = await post(client, "/login", wrong.filled("/login", password=PASSWORD))

    assert (asked.status, wrong.status, again.status) == (401, 401, 200)
    assert "What you typed is kept on this page" in asked.text
    assert await note_of(runtime) == "", "nothing is sent again but by a person"
    assert (await post(client, edit, again.filled(edit))).status == 200
    assert await note_of(runtime) == NOTE


async def test_a_form_opened_before_signing_in_anew_comes_back_with_a_token_of_now(client, runtime):
    saved = await runtime.entries.save([URL], source="web")
    edit = f"/{saved.accepted[0].hash_url}/edit"
    typed = (await get(client, f"/{saved.accepted[0].hash_url}/")).filled(edit, note=NOTE)
    client.session.cookie_jar.clear()
    await sign_in(client)

    again = await post(client, edit, typed)

    assert again.status == 403
    assert await note_of(runtime) == ""
    assert (await post(client, edit, again.filled(edit))).status == 200
    assert await note_of(runtime) == NOTE


async def test_fields_named_alike_come_back_each_and_a_deletion_is_asked_for_once_more(
    client, runtime
):
    urls = [f"https://a.example/{number}" for number in range(3)]
    saved = [each.hash_url for each in (await runtime.entries.save(urls, source="web")).accepted]
    fields = [*(("entry", each) for each in saved), ("sure", "1"), ("back", "/snapshots")]

    again = await post(client, "/delete", fields)
    question = await post(client, "/delete", again.fields("/delete"))

    assert [value for name, value in again.fields("/delete") if name == "entry"] == saved
    assert "sure" not in dict(again.fields("/delete"))
    assert question.status == 200
    assert dict(question.fields("/delete"))["sure"] == "1"
    assert (await runtime.search.overview()).entries == 3


@pytest.mark.parametrize("headers", [FOREIGN, {"Origin": "http://evil.example"}, {}])
async def test_nothing_is_repeated_of_what_no_page_of_ours_sent(client, headers):
    for is_signed_in in (True, False):
        if not is_signed_in:
            client.session.cookie_jar.clear()
        for path in ("/add", "/login"):
            page = await post(client, path, {"url": "said-elsewhere", "kept:url": "x"}, headers)

            assert page.status in {401, 403}
            assert "said-elsewhere" not in page.text
            assert "kept:" not in page.text


async def test_a_password_is_never_repeated(client):
    fields = {"do": "set-password", "current": "old secret", "new": "new secret"}
    others = {"do": "remove-password", "current": "old secret"}

    for is_signed_in in (True, False):
        if not is_signed_in:
            client.session.cookie_jar.clear()
        for path, sent in (
            ("/access", fields),
            ("/access", others),
            ("/login", {"password": "a secret"}),
        ):
            page = await post(client, path, sent)

            assert "secret" not in page.text


async def test_a_sign_in_opened_too_long_ago_keeps_what_it_carries(client):
    carried = {"kept_for": "/add", "kept:url": URL, "password": "typed", "next": "/tags"}
    there = await post(client, "/login", carried)
    client.session.cookie_jar.clear()

    once_more = await post(client, "/login", carried)

    assert dict(there.fields("/add"))["url"] == URL
    assert dict(once_more.fields("/login"))["kept:url"] == URL
    assert "typed" not in once_more.text
    assert (
        "another.example"
        not in (
            await post(client, "/login", {"kept_for": "//another.example/", "kept:url": URL})
        ).text
    )


async def test_more_than_a_form_may_hold_is_not_repeated(client):
    client.session.cookie_jar.clear()

    page = await post(client, "/add", BytesIO(b"url=" + b"x" * (4 << 20)), OURS | FORM)

    assert page.status == 413
    assert "xxx" not in page.text


@pytest.mark.parametrize("is_signed_in", [True, False])
async def test_a_form_with_a_file_leads_back_to_it_with_the_address_that_was_typed(
    client, is_signed_in
):
    upload = FormData({"csrf_token": "of another session", "url": URL})
    upload.add_field("file", BytesIO(b"<p>" * 500_000), filename="page.html")
    if not is_signed_in:
        client.session.cookie_jar.clear()

    page = await post(client, "/import/page", upload)
    if not is_signed_in:
        page = await post(client, "/login", page.filled("/login", password=PASSWORD))

    assert dict(page.fields("/import/page"))["url"] == URL


async def test_a_browser_without_scripts_brings_back_what_was_typed(runtime):
    async with (
        TestServer(build_app(runtime), skip_url_asserts=True) as server,
        chromium() as browser,
    ):
        context = await browser.new_context(
            base_url=str(server.make_url("/")), java_script_enabled=False
        )
        page = await context.new_page()
        await page.goto("/login?next=/lists")
        await page.fill("#password", PASSWORD)
        await page.press("#password", "Enter")
        await page.fill("#path", "Recipes/Soups")
        await context.clear_cookies()
        await page.press("#path", "Enter")
        await page.fill("#password", PASSWORD)
        await page.press("#password", "Enter")
        assert await page.input_value("textarea[name=path]") == "Recipes/Soups"
        await page.get_by_role("button", name="Send it again").click()
        await page.wait_for_url(lambda url: "/snapshots?q=list" in url)

    assert [each.path for each in await runtime.lists.all()] == ["Recipes", "Recipes/Soups"]


async def test_a_form_that_comes_back_names_its_page_what_it_does_and_the_colour(client, runtime):
    saved = await runtime.entries.save([URL], source="web")
    key = saved.accepted[0].hash_url
    marked = {"do": "add", "quote": "a word", "colour": "green", "note": NOTE}

    mark = (await post(client, f"/{key}/highlights", marked)).text
    star = (await post(client, "/edit", [("entry", key), ("is_starred", "1")])).text
    names = (await post(client, "/lists", {"do": "rename", "path": "a", "new": "b"})).text

    assert f'<dd><a href="/{key}/">' in mark
    assert "<dd>Mark</dd>" in mark
    assert "<dd>green</dd>" in mark
    assert '<dd><a href="/snapshots">Browse</a></dd>' in star
    assert "<dd>star</dd>" in star
    assert "<dt>Entries</dt><dd>1</dd>" in star
    assert '<dd><a href="/lists">Lists</a></dd>' in names
    assert "<dd>Rename</dd>" in names


def test_every_form_that_may_come_back_stands_on_a_page():
    never = {"sign_in", "sign_out", "choose_language", "upload", "hand_in"}
    forms = [each for each in ROUTES if each.method == "POST" and each.kwargs["name"] not in never]
    pages = [each.path for each in forms if not each.path.startswith("/api/")]

    for path in pages:
        action = re.sub(r"\{\w+:([^{}]|\{[^}]*\})*\}", "0" * 32, path)
        assert facts_of(action, ()), action


@pytest.mark.parametrize(
    ("status", "error"), [(503, IndexUnavailable("away")), (408, TimeoutError()), (500, OSError())]
)
async def test_a_form_that_can_not_be_carried_out_now_comes_back(serve, status, error):
    async def fail(_: web.Request) -> web.Response:
        raise error

    async def form(request: web.Request) -> web.Response:
        return web.Response(text=request[CSRF_TOKEN])

    client = await serve(web.get("/", form), web.post("/add", fail))
    async with client.get("/") as answer:
        token = await answer.text()

    page = await post(client, "/add", {"csrf_token": token, "url": URL, "tags": NOTE})
    foreign = await post(client, "/add", {"csrf_token": token, "url": URL}, {})

    assert (page.status, foreign.status) == (status, status)
    assert dict(page.fields("/add")) | {"csrf_token": ""} == {
        "csrf_token": "",
        "url": URL,
        "tags": NOTE,
    }
    assert "What you typed is kept on this page" in page.text
    assert URL not in foreign.text


async def test_too_many_wrong_passwords_take_nothing_of_what_was_typed(client):
    client.session.cookie_jar.clear()
    page = await post(client, "/add", {"url": URL, "csrf_token": "of before"})

    for _ in range(7):
        page = await post(client, "/login", page.filled("/login", password="wrong pass phrase"))

    assert page.status == 429
    assert dict(page.fields("/login"))["kept:url"] == URL
