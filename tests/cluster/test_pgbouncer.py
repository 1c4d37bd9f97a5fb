"""PgBouncer between the program and the server, one connection of the server's for each of ours."""

import os
import pwd
import subprocess

import pytest

from tests.cluster.commands import ran
from tests.cluster.s3_servers import free_port
from tests.in_postgres import SERVER

CONFIGURED = """
[databases]
* = host={host} port={port} user=archiver
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
auth_type = any
pool_mode = session
unix_socket_dir =
"""


@pytest.fixture
def pooled(address, tmp_path):
    """The same index, by way of PgBouncer."""
    host, _, port = SERVER.rpartition("@")[2].partition(":")
    own = free_port()
    file = tmp_path / "pgbouncer.ini"
    file.write_text(CONFIGURED.format(host=host, port=port, own=own))
    given = {}
    if os.geteuid() == 0:  # it refuses to run as root
        nobody = pwd.getpwnam("postgres")
        given = {"user": nobody.pw_uid, "group": nobody.pw_gid}
    with (
        file.open() as opened,
        subprocess.Popen(
            ["pgbouncer", "/dev/stdin"], stdin=opened, stderr=subprocess.PIPE, text=True, **given
        ) as running,
    ):
        while "process up" not in (line := running.stderr.readline()):
            assert line, "pgbouncer ended"
        yield address.replace(f":{port}/", f":{own}/")
        running.kill()


async def test_a_page_is_queued_captured_and_found_through_pgbouncer(live, pooled, tmp_path):
    here = {"ARCHIVER_INDEX": pooled, "ARCHIVER_DATA": str(tmp_path / "data")}
    url = live.article("foxes")

    assert (await ran("import", "-", "--no-crawl", said=url, **here))[0] == 0
    assert (await ran("crawl", **here))[0] == 0

    assert url in (await ran("search", "clever", **here))[1]
