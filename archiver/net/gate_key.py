"""The key of the gate: made anew for each process, kept in memory, known to our browser alone."""

import os
import ssl
from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class GateKey:
    """What the gate shows to the browser.

    Attributes:
        tls: the server's side of TLS, by HTTP/1.1.
        fingerprint: Base64 of the SHA-256 of its SubjectPublicKeyInfo, as Chromium takes it.
    """

    tls: ssl.SSLContext
    fingerprint: str


def make_gate_key() -> GateKey:
    """A key and a certificate signed by itself; nothing of it is ever on disk."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    pem = _certificate(key) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.set_alpn_protocols(["http/1.1"])
    with os.fdopen(os.memfd_create("gate"), "wb") as file:
        file.write(pem)
        file.flush()
        tls.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
    return GateKey(tls, b64encode(sha256(public).digest()).decode())


def _certificate(key: ec.EllipticCurvePrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "archiver")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _VALID)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)
