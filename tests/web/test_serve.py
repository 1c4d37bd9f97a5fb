import asyncio
import socket
import sys

import pytest
from aiohttp import ClientSession

from archiver.config import Settings
from archiver.errors import ConfigurationError
from archiver.services.access import is_loopback
from archiver.web.serve import require_password
from archiver.web.serve import serve as serve_settings


def test_only_loopback_addresses_need_no_password():
    for host in ("127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST"):
        assert is_loopback(host)
        require_password(Settings(host=host))
    for host in ("0.0.0.0", "::", "", "192.168.1.2", "archive.example", "2130706433"):
        with pytest.raises(ConfigurationError, match="ARCHIVER_PASSWORD"):
            require_password(Settings(host=host))
        with pytest.raises(ConfigurationError, match="fewer than"):
            require_password(Settings(host=host, password="short"))
        require_password(Settings(host=host, password="a long password"))


async def test_a_port_in_use_is_reported_before_anything_starts(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        with pytest.raises(ConfigurationError, match=f"Port {port} on 127.0.0.1 is in use"):
            await serve_settings(Settings(data=tmp_path / "data", port=port))

    assert not (tmp_path / "data").exists()


PROGRAM = """
from pathlib import Path
from archiver.config import Settings
from archiver.web.serve import run
run(Settings(data=Path({data!r}), port=0, browser="/nowhere"))
"""


async def test_the_service_reports_problems_restarts_with_new_settings_and_stops(tmp_path):
    foreign = tmp_path / "data" / "warc" / "foreign.warc.gz"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"garbage")
    program = PROGRAM.format(data=str(tmp_path / "data"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    try:
        first, *further = [(await process.stdout.readline()).decode() for _ in range(3)]
        address = first.removeprefix("archiver listens on ").strip()
        async with ClientSession() as session:
            fields = {"section": "maintenance", "bin_days": "7", "quiet_hour": ""}
            settings = await (await session.post(f"{address}settings", data=fields)).text()
            health = await session.get(f"{address}healthz")
            stream = await session.get(f"{address}api/v1/events")

            process.terminate()
            tail = await stream.content.read()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert further[0] == "ignored files in warc/: 1; `archiver verify` lists them\n"
    assert further[1].startswith("pages are not rendered in a browser: The browser in the settings")
    assert foreign.read_bytes() == b"garbage"
    assert 'name="bin_days" value="7 d"' in settings, "the changed setting is in effect"
    assert (health.status, stream.status) == (200, 200)
    assert b"data:" not in tail
