import asyncio
import os
from pathlib import Path

import pytest
from aiohttp import FormData, web

from archiver.errors import UnreadableFile
from archiver.web.keys import CSRF_TOKEN
from archiver.web.uploads import (
    clean_name,
    expect_file,
    import_from_api,
    import_from_form,
    remove_stale,
)


class Taken:
    """Stands where the import service does: takes files over, as far as it is told to."""

    def __init__(self) -> None:
        self.files: list[tuple[str, bytes]] = []
        self.error: Exception | None = None

    async def start(self, path: Path, *, name: str) -> str:
        if self.error:
            raise self.error
        self.files.append((name, await asyncio.to_thread(path.read_bytes)))
        await asyncio.to_thread(path.unlink)
        return name


async def form(request: web.Request) -> web.Response:
    return web.Response(text=request[CSRF_TOKEN])


async def upload(request: web.Request) -> web.Response:
    return web.Response(text=str(await import_from_form(request)))


async def api(request: web.Request) -> web.Response:
    return web.json_response(await import_from_api(request))


ROUTES = (
    web.get("/import", form),
    web.post("/import", upload, name="upload", expect_handler=expect_file),
    web.post("/api/v1/imports", api, expect_handler=expect_file),
)
LIMIT = 300_000
BYTES = {"Content-Type": "application/octet-stream"}


@pytest.fixture
def taken() -> Taken:
    return Taken()


@pytest.fixture
async def client(serve, taken):
    return await serve(*ROUTES, services={"imports": taken}, max_upload_bytes=LIMIT)


@pytest.fixture
def left(tmp_path):
    return lambda: [path.name for path in (tmp_path / "data").glob("tmp/*")]


async def fields(
    client, *, token: str | None = None, body=b"x" * 200_000, name="b.html"
) -> FormData:
    data = FormData()
    data.add_field(
        "csrf_token", await (await client.get("/import")).text() if token is None else token
    )
    data.add_field("file", body, filename=name, content_type="text/html")
    return data


async def test_a_form_with_a_file_is_taken(client, taken, left):
    answer = await client.post("/import", data=await fields(client))

    assert answer.status == 200
    assert taken.files == [("b.html", b"x" * 200_000)]
    assert left() == []


async def test_a_form_without_our_token_is_refused_before_the_file(client, taken, left):
    only_file = FormData()
    only_file.add_field("file", b"x", filename="b.html")
    deferred = FormData()
    deferred.add_field("file", b"x", filename="b.html")
    deferred.add_field("csrf_token", await (await client.get("/import")).text())

    for data in (await fields(client, token="wrong"), only_file, deferred):
        assert (await client.post("/import", data=data)).status == 403

    assert taken.files == []
    assert left() == []


async def test_a_program_needs_no_token(client, taken):
    multipart = await client.post("/api/v1/imports", data=await fields(client, token="none"))
    bare = await client.post(
        "/api/v1/imports?name=%C3%A9.txt", data=b"https://a.example/", headers=BYTES
    )
    unnamed = await client.post("/api/v1/imports", data=b"https://a.example/", headers=BYTES)

    assert (multipart.status, bare.status, unnamed.status) == (200, 200, 200)
    assert [name for name, _ in taken.files] == ["b.html", "é.txt", "upload"]


async def test_another_kind_of_body_is_415(client):
    answer = await client.post("/api/v1/imports", data=b"x", headers={"Content-Type": "text/html"})

    assert answer.status == 415


async def test_a_body_over_the_limit_is_413_and_leaves_nothing(client, taken, left):
    async def endless():
        for _ in range(10):
            yield b"x" * 50_000

    said = await client.post("/api/v1/imports", data=b"x" * (LIMIT + 70_000), headers=BYTES)
    streamed = await client.post("/api/v1/imports", data=endless(), headers=BYTES)
    posted = await client.post("/import", data=await fields(client, body=b"x" * (LIMIT + 1)))

    assert (said.status, streamed.status, posted.status) == (413, 413, 413)
    assert "ARCHIVER_MAX_UPLOAD_BYTES" in await posted.text()
    assert taken.files == []
    assert left() == []


async def test_a_body_said_to_be_too_long_is_refused_before_it_is_sent(client, raw):
    status, answer = await raw(
        client,
        "/api/v1/imports",
        "Host: localhost",
        "Content-Type: application/octet-stream",
        "Content-Length: 2147483648",
        "Expect: 100-continue",
        method="POST",
    )

    assert status == 413
    assert "100 Continue" not in answer


async def test_a_client_that_asks_is_told_to_go_on(client, taken):
    answer = await client.post("/api/v1/imports", data=b"x", headers=BYTES, expect100=True)

    assert answer.status == 200


@pytest.mark.parametrize("body", [b"", None])
async def test_no_file_or_an_empty_one_is_422(client, left, body):
    data = await fields(
        client, body=b"" if body is None else body, name="" if body is None else "a"
    )

    assert (await client.post("/import", data=data)).status == 422
    assert (await client.post("/api/v1/imports", data=b"", headers=BYTES)).status == 422
    assert left() == []


async def test_what_the_importer_refuses_leaves_nothing(client, taken, left):
    taken.error = UnreadableFile("This is a picture.")

    answer = await client.post("/import", data=await fields(client))

    assert answer.status == 422
    assert left() == []


@pytest.mark.parametrize(
    ("boundary", "body"),
    [
        ("", b"x"),
        ("; boundary=" + "b" * 71, b"x"),
        ("; boundary=b", b"no boundary at all"),
        (
            "; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nbroken off',
        ),
        ("; boundary=b", b"--b\r\n" + b"X: y\r\n" * 1000 + b"\r\n"),
        ("; boundary=b", b"--b\r\nX: " + b"y" * 100_000 + b"\r\n\r\n"),
        ("; boundary=b", b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n"),
        ("; boundary=b", b"--b--\r\n"),
        (
            "; boundary=b",
            b"--b\r\nContent-Disposition: form-data; name=_charset_\r\n\r\n"
            + b"x" * 99
            + b"\r\n--b--",
        ),
        ("; boundary=b", b""),
    ],
)
async def test_malformed_multipart_is_the_clients_mistake(client, taken, left, boundary, body):
    kind = {"Content-Type": f"multipart/form-data{boundary}"}

    answer = await client.post("/api/v1/imports", data=body, headers=kind)

    assert 400 <= answer.status < 500
    assert taken.files == []
    assert left() == []


async def test_a_client_that_goes_away_leaves_nothing(client, taken, left, eventually):
    _, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(
        b"POST /api/v1/imports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        b"Content-Type: application/octet-stream\r\n\r\nsome"
    )
    await eventually(left)
    writer.close()

    await eventually(lambda: not left())
    assert taken.files == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("bookmarks.html", "bookmarks.html"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\b.html", "b.html"),
        ("a\nb\x00.html", "a�b�.html"),
        ("caf\udce9.html", "caf?.html"),
        ("", "upload"),
        ("/", "upload"),
        ("x" * 500, "x" * 200),
    ],
)
def test_a_name_is_made_fit_to_be_shown(given, kept):
    assert clean_name(given) == kept


def test_only_what_was_received_half_and_long_ago_is_removed(tmp_path):
    directory = tmp_path / "tmp"
    directory.mkdir()
    for name in ("old.part", "new.part", "old.upload"):
        (directory / name).touch()
        if name.startswith("old"):
            os.utime(directory / name, (0, 0))

    remove_stale(tmp_path)

    assert sorted(path.name for path in directory.iterdir()) == ["new.part", "old.upload"]
