"""A connection for a WebSocket, by the same guard as every other."""

import asyncio
import socket
import ssl

from archiver.config import Settings
from archiver.errors import FetchError
from archiver.model.failure import Failure, FailureKind
from archiver.net.fetcher import Fetcher
from archiver.net.guard import BlockedAddressError


async def connect(
    fetcher: Fetcher, settings: Settings, host: str, port: int, is_tls: bool
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to an address of a host that may be connected to; certificates are checked.

    Raises:
        FetchError: none may be, or none can be.
    """
    # It reads all certificates that the machine trusts: tens of milliseconds of the loop.
    context = await asyncio.to_thread(ssl.create_default_context) if is_tls else None
    try:
        async with asyncio.timeout(settings.connect_timeout):
            for address in await _addresses(fetcher, host, port):
                name = host if is_tls else None
                return await asyncio.open_connection(
                    address, port, ssl=context, server_hostname=name
                )
    except BlockedAddressError as error:
        raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, f"{error}.")) from error
    except (OSError, TimeoutError) as error:
        message = f"{host} can't be reached: {error}."
        raise FetchError(Failure(FailureKind.REFUSED, message)) from error
    raise FetchError(Failure(FailureKind.DNS, f"The name {host} can't be resolved."))


async def _addresses(fetcher: Fetcher, host: str, port: int) -> list[str]:
    if ":" in host or host.replace(".", "").isdecimal():
        if not fetcher.guard.permits(host):
            raise BlockedAddressError(host, host)
        return [host]
    found = await fetcher.resolver.resolve(host, port, socket.AF_UNSPEC)
    return [each["host"] for each in found]
