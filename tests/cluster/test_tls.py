"""TLS to PostgreSQL, as libpq's ``sslmode`` says it, at a server whose certificate is its own.

It takes a server of its own: another one would have to be told so, with all tests that use it.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from archiver.errors import ConfigurationError, IndexUnavailable
from archiver.index.postgres_engine import PostgresIndex
from tests.cluster.s3_servers import free_port
from tests.postgres import SERVER

NAME = "localhost"
HBA = """hostssl all guarded all scram-sha-256
host all all all trust
local all all trust
"""
ATTEMPTS = 5
READY = "database system is ready to accept connections"


def write_certificate(folder):
    """A key, and a certificate for ``NAME`` that nobody but itself has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    private = serialization.PrivateFormat.PKCS8
    (folder / "server.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, private, plain)
    )
    (folder / "server.key").chmod(0o600)


def as_its_user(*command):
    """A command as somebody whom the server lets start it: not as root."""
    if os.getuid():
        return [*map(str, command)]
    return [
        *("setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"),
        *map(str, command),
    ]


def prepare(folder):
    """What a server needs in a folder; the directory of its programs."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=str).parent
    data = folder / "data"
    if not os.getuid():
        shutil.chown(folder, "postgres", "postgres")
    made = as_its_user(programs / "initdb", "-D", data, "-U", "archiver", "-A", "trust", "-N")
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    write_certificate(data)
    (data / "pg_hba.conf").write_text(HBA)
    if not os.getuid():
        for each in ("server.key", "server.crt"):
            shutil.chown(data / each, "postgres", "postgres")
    return programs


def started(programs, folder):
    """A server that is ready, and its port; another one where somebody has taken that meanwhile."""
    for _ in range(ATTEMPTS):
        port, said = free_port(), []
        options = ("-c", "ssl=on", "-c", "fsync=off", "-c", f"unix_socket_directories={folder}")
        command = as_its_user(programs / "postgres", "-D", folder / "data", "-p", port, *options)
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in server.stderr:
            said.append(line)
            if READY in line:
                return server, port
        server.communicate()
    raise AssertionError("".join(said))


@contextmanager
def running(folder):
    """A server in a folder; its port."""
    server, port = started(prepare(folder), folder)
    try:
        yield port
    finally:
        server.terminate()
        server.communicate()


@pytest.fixture(scope="module")
def server():
    """The port of the server, and its certificate."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as port:
        address = f"postgresql://archiver@{NAME}:{port}/postgres"
        asyncio.run(run(address, "CREATE ROLE guarded LOGIN PASSWORD 'open'"))
        yield port, Path(folder) / "data" / "server.crt"


async def run(address, statement):
    conn = await asyncpg.connect(address)
    try:
        await conn.execute(statement)
    finally:
        await conn.close()


def is_encrypted(address):
    async def ask():
        conn = await PostgresIndex(address).connect()
        try:
            return await conn.fetchval("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        finally:
            await conn.close()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("", True),
        ("?sslmode=prefer", True),
        ("?sslmode=require", True),
        ("?sslmode=disable", False),
    ],
)
def test_it_is_used_as_the_mode_says_where_the_server_has_it(server, mode, expected):
    address = f"postgresql://archiver@127.0.0.1:{server[0]}/postgres{mode}"

    assert is_encrypted(address) is expected


def test_a_password_is_taken_under_it(server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "open")

    assert is_encrypted(f"postgresql://guarded@{NAME}:{server[0]}/postgres?sslmode=require")


def test_a_wrong_password_is_told_with_where_it_is_read_from(server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "wrong")

    with pytest.raises(IndexUnavailable, match=r"password authentication failed.*PGPASSWORD"):
        is_encrypted(f"postgresql://guarded@{NAME}:{server[0]}/postgres?sslmode=require")


def test_without_authorities_to_check_against_it_is_refused_in_a_sentence(
    server, monkeypatch, tmp_path
):
    monkeypatch.setenv("HOME", str(tmp_path))
    address = f"postgresql://archiver@{NAME}:{server[0]}/postgres?sslmode=verify-full"

    with pytest.raises(ConfigurationError, match=r"can't be opened: .*root certificate"):
        PostgresIndex(address).prepare()


def test_the_authorities_of_the_file_decide_and_the_name_must_be_right(server):
    port, certificate = server
    more = f"postgres?sslmode=verify-full&sslrootcert={certificate}"

    assert is_encrypted(f"postgresql://archiver@{NAME}:{port}/{more}")
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1"):
        is_encrypted(f"postgresql://archiver@127.0.0.1:{port}/{more}")


def test_a_server_without_it_is_refused_where_it_is_wanted():
    with pytest.raises(IndexUnavailable, match="SSL"):
        is_encrypted(f"{SERVER}/postgres?sslmode=require")
