"""How a PostgreSQL server is reached, and what a line that breaks raises.

The driver waits for ever for a server that is silent, and lets some errors through as those of
sockets: here a connection begins within seconds or not at all, and all that breaks is an
``InterfaceError``, which SQLAlchemy knows.
"""

import os
import select
import socket
import ssl
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pg8000.dbapi import InterfaceError
from scramp import ScramException

from archiver.index.dialect.postgres_address import Address, password_of
from archiver.index.dialect.postgres_wire import PipelinedConnection

CONNECT_SECONDS = 10
LOST_SECONDS = 30
"""After which a server that acknowledges nothing is lost."""
_ASKS_FOR_TLS = struct.pack("!ii", 8, 80877103)
"""SSLRequest (PostgreSQL, "Message Formats")."""
_KEPT_ALIVE = {
    (socket.SOL_SOCKET, "SO_KEEPALIVE"): 1,
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE"): LOST_SECONDS // 3,
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL"): LOST_SECONDS // 6,
    (socket.IPPROTO_TCP, "TCP_KEEPCNT"): 4,
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT"): LOST_SECONDS * 1000,
}


def connect(address: Address, environment: Mapping[str, str] = os.environ) -> "SaidConnection":
    """A new connection to a database.

    Raises:
        InterfaceError, DatabaseError: the server can't be reached, or refuses us.
    """
    sock = _reach(address)
    try:
        return _connection(address, sock, password_of(address, environment))
    except BaseException:
        sock.close()
        raise


def _reach(address: Address) -> socket.socket:
    """A socket that is connected."""
    try:
        if address.is_local:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(CONNECT_SECONDS)
            sock.connect(str(Path(address.host) / f".s.PGSQL.{address.port}"))
            return sock
        sock = socket.create_connection((address.host, address.port), CONNECT_SECONDS)
    except OSError as error:
        raise InterfaceError(
            f"no server is reached at {address.host}, port {address.port} "
            f"({error.strerror or error})"
        ) from error
    for (level, name), value in _KEPT_ALIVE.items():
        if hasattr(socket, name):
            sock.setsockopt(level, getattr(socket, name), value)
    return sock


def _connection(address: Address, sock: socket.socket, password: str) -> "SaidConnection":
    try:
        made = SaidConnection(
            user=address.user,
            host=address.host,
            port=address.port,
            database=address.database,
            password=password,  # without one, the driver fails in words of its own
            sock=_under_tls(address, sock),
            ssl_context=False,  # the driver's own reads all authorities, also where none is asked
            application_name="archiver",
        )
        made.wait_for_ever()
    except (OSError, ScramException) as error:
        raise InterfaceError(f"the connection failed ({error})") from error
    except (LookupError, ValueError, struct.error) as error:
        raise InterfaceError("what answers there is no PostgreSQL server") from error
    return made


def _under_tls(address: Address, sock: socket.socket) -> socket.socket:
    """The connection under TLS, where its mode wants that and the server has it."""
    if address.is_local or address.mode == "disable":
        return sock
    sock.sendall(_ASKS_FOR_TLS)
    if sock.recv(1) == b"S":
        return _context(address).wrap_socket(sock, server_hostname=address.host)
    if address.mode == "prefer":
        return sock
    raise InterfaceError("the server has no TLS")


def _context(address: Address) -> ssl.SSLContext:
    """What checks the server, if it is to be checked: only then, authorities are read."""
    if address.mode == "verify-full":
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class SaidConnection(PipelinedConnection):
    """A connection that says of a broken line what it is."""

    def handle_messages(self, context: Any) -> None:
        """Read what the server answers."""
        try:
            super().handle_messages(context)
        except (OSError, struct.error) as error:
            raise InterfaceError(f"the connection broke ({error})") from error

    @property
    def is_spoken_to(self) -> bool:
        """Whether the server has sent something that nobody has read."""
        waiting = select.poll()
        waiting.register(self._usock, select.POLLIN)
        return bool(waiting.poll(0))

    def wait_for_ever(self) -> None:
        """Let statements take their time, now that the server has answered."""
        self._usock.settimeout(None)
