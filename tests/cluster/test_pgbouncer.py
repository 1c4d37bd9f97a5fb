"""PgBouncer between the program and the server, one connection of the server's for each of ours."""

import os
import pwd
import ssl
import subprocess
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from pg8000.dbapi import InterfaceError

from tests.cluster.commands import ran
from tests.cluster.s3_servers import free_port
from tests.postgres import SERVER

CONFIGURED = """
[databases]
* = host={host} port={port} user=archiver
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
auth_type = any
pool_mode = session
unix_socket_dir =
client_tls_sslmode = allow
client_tls_key_file = {key}
client_tls_cert_file = {certificate}
"""
NEW_CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"


@pytest.fixture(scope="module")
def whose():
    """Who runs PgBouncer, as ``Popen`` takes it: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("postgres")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid}


@pytest.fixture(scope="module")
def signed(whose):
    """A key and a certificate that no authority has signed."""
    with TemporaryDirectory() as folder:
        if whose:
            os.chown(folder, whose["user"], whose["group"])
        key, certificate = Path(folder, "key"), Path(folder, "certificate")
        words = [*NEW_CERTIFICATE.split(), "-keyout", key, "-out", certificate]
        subprocess.run(words, capture_output=True, check=True, **whose)
        yield {"key": key, "certificate": certificate}


@pytest.fixture
def pooled(address, tmp_path, whose, signed):
    """The same index, by way of PgBouncer."""
    host, _, port = SERVER.rpartition("@")[2].partition(":")
    own = free_port()
    file = tmp_path / "pgbouncer.ini"
    file.write_text(CONFIGURED.format(host=host, port=port, own=own, **signed))
    with (
        file.open() as opened,
        subprocess.Popen(
            ["pgbouncer", "/dev/stdin"], stdin=opened, stderr=subprocess.PIPE, text=True, **whose
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


def is_encrypted(address):
    with closing(connect(read_address(address))) as connection:
        connection.cursor().execute("SELECT 1")
        return isinstance(connection._usock, ssl.SSLSocket)


def test_a_connection_is_encrypted_where_the_server_has_it_unless_that_is_not_wanted(pooled):
    modes = ("", "?sslmode=prefer", "?sslmode=require", "?sslmode=disable")

    assert [is_encrypted(pooled + mode) for mode in modes] == [True, True, True, False]


def test_who_insists_on_a_server_that_is_vouched_for_gets_no_other(pooled):
    with pytest.raises(InterfaceError, match="certificate verify failed"):
        is_encrypted(f"{pooled}?sslmode=verify-full")


def test_who_insists_on_encryption_is_told_that_the_server_has_none(address):
    assert not is_encrypted(address)
    with pytest.raises(InterfaceError, match="the server has no TLS"):
        is_encrypted(f"{address}?sslmode=require")
