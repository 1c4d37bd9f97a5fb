import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from archiver.config import Settings
from archiver.errors import ConfigurationError
from archiver.services.access import is_loopback
from archiver.web.serve import refuse_open_doors
from archiver.web.serve import serve as serve_settings


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST"]
)
def test_loopback_needs_no_password(host):
    assert is_loopback(host)
    refuse_open_doors(Settings(host=host))


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "192.168.1.2", "archive.example", "2130706433"]
)
def test_elsewhere_a_password_is_needed(host):
    with pytest.raises(ConfigurationError, match="ARCHIVER_PASSWORD"):
        refuse_open_doors(Settings(host=host))

    with pytest.raises(ConfigurationError, match="fewer than"):
        refuse_open_doors(Settings(host=host, password="short"))
    refuse_open_doors(Settings(host=host, password="a long password"))


async def test_a_port_in_use_is_said_plainly_and_nothing_is_started(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ConfigurationError, match=f"Port {port} on 127.0.0.1 is in use"):
            await serve_settings(Settings(data=tmp_path / "data", port=port))

    assert not (tmp_path / "data").exists()


PROGRAM = """
from pathlib import Path
from archiver.config import Settings
from archiver.web.serve import run
run(Settings(data=Path({data!r}), port=0))
"""


@pytest.fixture
async def running(tmp_path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Yield a running service, and its address as it printed it."""
    program = PROGRAM.format(data=str(tmp_path / "data"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    line = (await process.stdout.readline()).decode()
    yield process, line.removeprefix("archiver listens on ").strip()
    if process.returncode is None:
        process.kill()
    await process.wait()


async def test_it_prints_its_address_and_stops_in_order_while_someone_listens(running):
    process, address = running
    async with ClientSession() as session:
        fields = {"section": "maintenance", "bin_days": "7", "quiet_hour": ""}
        settings = await (await session.post(f"{address}settings", data=fields)).text()
        health = await session.get(f"{address}healthz")
        stream = await session.get(f"{address}api/v1/events")

        process.send_signal(signal.SIGTERM)
        rest = await stream.content.read()

    assert 'name="bin_days" value="7"' in settings, "a changed setting is in effect"
    assert health.status == 200
    assert stream.status == 200
    assert b"data:" not in rest
    assert await process.wait() == 0


async def test_it_says_how_many_files_it_passes_by_and_that_there_is_no_browser(tmp_path):
    beside = tmp_path / "data" / "warc" / "somebody-else-s.warc.gz"
    beside.parent.mkdir(parents=True)
    beside.write_bytes(b"garbage")
    program = PROGRAM.format(data=str(tmp_path / "data"))
    program = program.replace("port=0", "port=0, browser='/nowhere'")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )

    lines = [(await process.stdout.readline()).decode() for _ in range(3)]
    process.terminate()
    await process.wait()

    assert lines[0].startswith("archiver listens on ")
    assert lines[1] == "ignored files in warc/: 1; `archiver verify` lists them\n"
    assert lines[2].startswith(
        "pages are not rendered in a browser: The browser in the settings, /nowhere"
    )
    assert beside.read_bytes() == b"garbage"


WITHOUT_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'


async def test_it_says_where_the_sandbox_of_its_browser_can_t_start(tmp_path):
    program = PROGRAM.format(data=str(tmp_path / "data"))
    program = program.replace("port=0", "port=0, browser='true'")
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--map-root-user", "sh", "-c", WITHOUT_NAMESPACES, "sh"),
        *(sys.executable, "-c", program),
        stdout=asyncio.subprocess.PIPE,
    )

    lines = [(await process.stdout.readline()).decode() for _ in range(2)]
    process.terminate()
    await process.wait()

    assert lines[1].startswith(
        "pages are not rendered in a browser: Chromium's sandbox cannot start"
    )
