"""TLS to PostgreSQL, as libpq's ``sslmode`` says it, at a server whose certificate is its own.

It takes a server of its own: another one would have to be told so, with all tests that use it.
"""

import os
import shutil
import subprocess
import tempfile
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from archiver.index.dialect.postgres_engines import PostgresEngines
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from archiver.errors import ConfigurationError
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
def port():
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as found:
        with closing(connect(read_address(f"postgresql://archiver@{NAME}:{found}/postgres"))) as it:
            it.cursor().execute("CREATE ROLE guarded LOGIN PASSWORD 'open'")
            it.commit()
        found_at = Path(folder) / "data" / "server.crt"
        yield found, found_at


def is_encrypted(address, **environment):
    with closing(connect(read_address(address), environment)) as conn:
        cursor = conn.cursor()
        cursor.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        return cursor.fetchone()[0]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("", True),
        ("?sslmode=prefer", True),
        ("?sslmode=require", True),
        ("?sslmode=disable", False),
    ],
)
def test_it_is_used_as_the_mode_says_where_the_server_has_it(port, mode, expected):
    assert is_encrypted(f"postgresql://archiver@127.0.0.1:{port[0]}/postgres{mode}") is expected


def test_a_password_is_taken_under_it(port):
    address = f"postgresql://guarded@{NAME}:{port[0]}/postgres?sslmode=require"

    assert is_encrypted(address, PGPASSWORD="open")


def test_a_certificate_that_no_authority_signed_is_refused_in_a_sentence(port):
    address = f"postgresql://archiver@{NAME}:{port[0]}/postgres?sslmode=verify-full"

    with pytest.raises(ConfigurationError, match=r"can't be opened: .*certificate verify failed"):
        PostgresEngines(address).prepare()


def test_the_authorities_of_the_system_decide_and_the_name_must_be_right(port, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(port[1]))

    assert is_encrypted(f"postgresql://archiver@{NAME}:{port[0]}/postgres?sslmode=verify-full")
    with pytest.raises(ConfigurationError, match=r"127\.0\.0\.1"):
        PostgresEngines(
            f"postgresql://archiver@127.0.0.1:{port[0]}/postgres?sslmode=verify-full"
        ).prepare()


@pytest.mark.parametrize("mode", ["require", "verify-full"])
def test_a_server_without_it_is_refused_where_it_is_wanted(mode):
    with pytest.raises(ConfigurationError, match="the server has no TLS"):
        PostgresEngines(f"{SERVER}/postgres?sslmode={mode}").prepare()
