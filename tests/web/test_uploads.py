import asyncio
import os
from dataclasses import replace

import pytest
from aiohttp import FormData
from aiohttp.test_utils import TestClient

from archiver.web.app import build_app
from archiver.web.uploads import clean_name, remove_stale
from tests.web.conftest import BoundedTestServer

LIMIT = 300_000
BYTES = {"Content-Type": "application/octet-stream"}
LINKS = b"".join(b'<DT><A HREF="http://127.0.0.1:1/%05d">A link</A>\n' % n for n in range(50))


@pytest.fixture
def settings(settings):
    return replace(settings, max_upload_bytes=LIMIT)


@pytest.fixture
async def client(runtime):
    server = BoundedTestServer(build_app(runtime), skip_url_asserts=True)
    async with TestClient(server) as client:
        yield client


@pytest.fixture
def received_files(runtime):
    """Return the received files by name, with their number of links."""

    async def read():
        for each in await runtime.import_statuses.recent():
            async for status in runtime.change_stream.one_import(each.id):
                if not status.is_unread:
                    break
        return [(each.name, each.read) for each in reversed(await runtime.import_statuses.recent())]

    return read


@pytest.fixture
def remaining_files(tmp_path):
    return lambda: [path.name for path in (tmp_path / "data").glob("tmp/*")]


def fields(body=LINKS, name="b.html") -> FormData:
    data = FormData()
    data.add_field("file", body, filename=name, content_type="text/html")
    return data


async def test_a_file_from_another_site_is_rejected_unread(client, received_files, remaining_files):
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        for path in ("/import", "/import/page", "/api/v1/imports"):
            answer = await client.post(path, data=fields(), headers=headers)
            assert answer.status == 403

    assert await received_files() == []
    assert remaining_files() == []


async def test_a_program_without_origin_headers_may_upload(client, received_files):
    multipart = await client.post("/api/v1/imports", data=fields())
    bare = await client.post(
        "/api/v1/imports?name=%C3%A9.txt", data=b"https://a.example/", headers=BYTES
    )
    unnamed = await client.post("/api/v1/imports", data=b"https://a.example/", headers=BYTES)

    assert (multipart.status, bare.status, unnamed.status) == (202, 202, 202)
    assert [name for name, _ in await received_files()] == ["b.html", "é.txt", "upload"]


async def test_a_body_over_the_limit_is_413_and_leaves_no_file(
    client, received_files, remaining_files
):
    async def endless():
        for _ in range(10):
            yield b"x" * 50_000

    response = await client.post("/api/v1/imports", data=b"x" * (LIMIT + 70_000), headers=BYTES)
    streamed = await client.post("/api/v1/imports", data=endless(), headers=BYTES)
    posted = await client.post("/import", data=fields(body=b"x" * (LIMIT + 1)))

    assert (response.status, streamed.status, posted.status) == (413, 413, 413)
    assert "import it in a terminal" in await posted.text()
    assert await received_files() == []
    assert remaining_files() == []


async def test_a_body_announced_as_too_long_is_rejected_before_it_is_sent(client, raw):
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


async def test_a_missing_or_empty_file_is_422(client, remaining_files):
    for body in (b"", None):
        data = fields(body=b"" if body is None else body, name="" if body is None else "a")

        assert (await client.post("/import", data=data)).status == 422, body
        assert (await client.post("/api/v1/imports", data=b"", headers=BYTES)).status == 422, body
        assert remaining_files() == [], body


async def test_malformed_multipart_data_is_a_client_error(client, received_files, remaining_files):
    for boundary, body in (
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
    ):
        kind = {"Content-Type": f"multipart/form-data{boundary}"}

        answer = await client.post("/api/v1/imports", data=body, headers=kind)

        assert 400 <= answer.status < 500, boundary
        assert await received_files() == [], boundary
        assert remaining_files() == [], boundary


async def test_a_client_that_disconnects_leaves_no_file(
    client, received_files, remaining_files, eventually
):
    _, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(
        b"POST /api/v1/imports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        b"Content-Type: application/octet-stream\r\n\r\nsome"
    )
    await eventually(remaining_files)
    writer.close()

    await eventually(lambda: not remaining_files())
    assert await received_files() == []


@pytest.mark.parametrize(
    ("name", "expected"),
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
def test_a_file_name_is_cleaned(name, expected):
    assert clean_name(name) == expected


def test_only_old_partial_uploads_are_deleted(tmp_path):
    directory = tmp_path / "tmp"
    directory.mkdir()
    for name in ("old.part", "new.part", "old.upload"):
        (directory / name).touch()
        if name.startswith("old"):
            os.utime(directory / name, (0, 0))

    remove_stale(tmp_path)

    assert sorted(path.name for path in directory.iterdir()) == ["new.part", "old.upload"]
