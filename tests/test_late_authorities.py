"""A command that speaks no TLS reads no authorities; one that does trusts those of the system."""

import asyncio
import os
import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

FETCH = """
import asyncio, os, ssl, sys, uvloop
import archiver.cli
before = {name: os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")}
import aiohttp
from aiohttp import connector
assert before == {name: os.environ.get(name) for name in before}
contexts = [each for each in vars(connector).values() if isinstance(each, ssl.SSLContext)]
print(len(contexts), sum(each.cert_store_stats()["x509_ca"] for each in contexts))

async def fetch():
    async with aiohttp.ClientSession() as session, session.get(sys.argv[1]) as response:
        return await response.text()

if sys.argv[1:]:
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            print(runner.run(fetch()))
    except aiohttp.ClientConnectorCertificateError as error:
        print(error.certificate_error.reason)
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of localhost that is its own authority, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.fixture
async def url(certificate):
    """Of a server that speaks TLS."""

    async def greet(_):
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", greet)
    runner = web.AppRunner(app)
    await runner.setup()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    yield f"https://localhost:{runner.addresses[0][1]}/"
    await runner.cleanup()


async def fetched(*arguments, **environment):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        FETCH,
        *arguments,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode().splitlines()


async def test_authorities_are_not_read_by_who_speaks_no_tls(certificate):
    assert await fetched(SSL_CERT_FILE=str(certificate)) == ["2 0"]


async def test_an_authority_of_the_system_is_trusted(url, certificate):
    assert (await fetched(url, SSL_CERT_FILE=str(certificate)))[1:] == ["hello"]


async def test_nobody_else_is_trusted(url):
    found = (await fetched(url, SSL_CERT_FILE=os.devnull))[1:]

    assert found == ["CERTIFICATE_VERIFY_FAILED"]
