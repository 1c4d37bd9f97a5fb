"""TLS to PostgreSQL, as libpq's ``sslmode`` names it; the server's certificate is self-signed."""

import asyncio
import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from archiver.db.postgresql import PostgresIndex
from archiver.errors import ConfigurationError, IndexUnavailable
from benchmarks.private_postgres import PrivatePostgres
from tests.postgres import SERVER

NAME = "localhost"


def write_certificate(folder):
    """Write a key and a self-signed certificate for ``NAME``."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "server.crt", folder / "server.key"
    certificate.write_bytes(builder.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    private.chmod(0o600)
    if os.geteuid() == 0:  # the server does not run as root
        shutil.chown(private, "postgres")
    return certificate, private


@pytest.fixture(scope="module")
def server():
    """The port of the server, and its certificate."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        folder.chmod(0o711)
        certificate, private = write_certificate(folder)
        files = (f"ssl_cert_file={certificate}", f"ssl_key_file={private}")
        with PrivatePostgres(None, "ssl=on", *files) as running:
            yield running.port, certificate


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
        ("?sslmode=require", True),
        ("?sslmode=disable", False),
    ],
)
def test_the_mode_decides_whether_a_connection_is_encrypted(server, mode, expected):
    address = f"postgresql://archiver@127.0.0.1:{server[0]}/postgres{mode}"

    assert is_encrypted(address) is expected


def test_certificate_and_server_name_are_verified(server):
    port, certificate = server
    address = f"postgres?sslmode=verify-full&sslrootcert={certificate}"

    assert is_encrypted(f"postgresql://archiver@{NAME}:{port}/{address}")
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1"):
        is_encrypted(f"postgresql://archiver@127.0.0.1:{port}/{address}")


def test_an_unverifiable_certificate_is_refused(server, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    address = f"postgresql://archiver@{NAME}:{server[0]}/postgres?sslmode=verify-full"

    with pytest.raises(ConfigurationError, match=r"Cannot open .*root certificate"):
        PostgresIndex(address).prepare()


def test_a_server_without_tls_is_refused_when_it_is_required():
    with pytest.raises(IndexUnavailable, match="SSL"):
        is_encrypted(f"{SERVER}/postgres?sslmode=require")
