import pytest
from aiohttp import web

from archiver.web import static_files
from archiver.web.app_keys import STATIC
from archiver.web.static_files import StaticFiles

ROUTE = web.get("/static/{version:[0-9a-f]+}/{name:.+}", static_files.static, name="static")


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    directory = tmp_path / "static"
    (directory / "js").mkdir(parents=True)
    (directory / "style.css").write_text("a{}")
    (directory / "js" / "watch.js").write_text("import './more.js'")
    monkeypatch.setattr("archiver.helpers.STATIC", directory)
    return directory


async def test_a_static_file_is_cached_forever(serve, shipped):
    client = await serve(ROUTE)

    answer = await client.get(client.app[STATIC].url("style.css"))

    assert await answer.text() == "a{}"
    assert answer.headers["Content-Type"] == "text/css; charset=utf-8"
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


async def test_a_static_file_with_another_hash_is_revalidated(serve, shipped):
    client = await serve(ROUTE)

    first = await client.get("/static/0123/js/watch.js")
    again = await client.get(
        "/static/0123/js/watch.js", headers={"If-None-Match": first.headers["ETag"]}
    )

    assert first.headers["Cache-Control"] == "public, no-cache"
    assert first.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert (again.status, await again.read()) == (304, b"")


async def test_other_static_paths_are_404(serve, shipped, raw):
    client = await serve(ROUTE)
    (shipped.parent / "secret").write_text("no")

    for target in (
        "/static/00/none.css",
        "/static/00/../secret",
        "/static/00/%2e%2e/secret",
        "/static/00//etc/passwd",
        "/static/00/js/../style.css",
        "/static/00/js%00",
    ):
        status, _ = await raw(client, target)

        assert status == 404, target


def test_a_change_in_any_static_file_changes_every_url(shipped):
    before = StaticFiles(shipped)
    (shipped / "js" / "watch.js").write_text("")

    assert before.url("style.css") != StaticFiles(shipped).url("style.css")
