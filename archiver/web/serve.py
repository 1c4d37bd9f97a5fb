"""The `serve` command."""

import asyncio
import errno
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import uvloop
from aiohttp import web

from archiver.app import App, open_app
from archiver.config import InvalidSettings, Settings
from archiver.errors import ConfigurationError, DiskNotWritable
from archiver.logs import get_log
from archiver.model.message import Message
from archiver.services.access import LEAST_PASSWORD, has_password, is_loopback
from archiver.services.preferences import reread
from archiver.web.app import build_app
from archiver.web.app_keys import RELOAD
from archiver.web.client_limits import ServerLimits
from archiver.web.server import BoundedRunner
from archiver.web.signing import SECRET_BYTES

log = get_log(__name__)
_VERIFY_HINT = "`archiver verify` lists them"
_BACKLOG = 128
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_BIND_ERRORS = {
    errno.EADDRINUSE: "is in use: stop the other program, or choose another with --port",
    errno.EACCES: "needs administrator rights: choose a port above 1023 with --port",
    errno.EADDRNOTAVAIL: "is not an address of this machine: choose another with --host",
}


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, on a new event loop.

    Raises:
        ConfigurationError: for the same reasons as in ``serve``.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(settings))


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; print the address when the server accepts requests.

    Raises:
        ConfigurationError: the address is not available, or it is public and there is no password.
    """
    require_password(settings)
    listening = _bind(settings.host, settings.port)
    second = _bind_replay_origin(settings, listening)
    try:
        stop = _stop_on_signals()
        is_first = True
        while not stop.is_set():
            sockets = [each.dup() for each in (listening, second) if each]
            await _serve_until(stop, settings, sockets, announces=is_first)
            settings, is_first = _reread(settings), False
    finally:
        for each in filter(None, (listening, second)):
            each.close()


async def _serve_until(
    stop: asyncio.Event, settings: Settings, sockets: list[socket.socket], *, announces: bool
) -> None:
    """Serve until the program stops or the settings change."""
    limits = ServerLimits()
    async with open_to_serve(settings) as runtime:
        secret = await _secret_of_cluster(runtime)
        await runtime.crawling.check_browser()
        app = build_app(runtime, limits=limits, secret=secret)
        runner = BoundedRunner(app, limits, base_path=settings.base_path)
        try:
            await runner.setup()
            for each in sockets:
                await web.SockSite(runner, each, backlog=_BACKLOG).start()
            if announces:
                _announce(
                    sockets[0],
                    settings.data,
                    unusable_files=len(runtime.fixity.unusable_files),
                    warnings=await runtime.health.warnings(),
                    browser_problem=runtime.crawling.browser_problem,
                )
            waiting = [asyncio.create_task(each.wait()) for each in (stop, app[RELOAD])]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
        finally:
            await runner.cleanup()


@asynccontextmanager
async def open_to_serve(settings: Settings) -> AsyncIterator[App]:
    """Open the archive; if the disk is full or read-only, open it for reading only."""
    async with AsyncExitStack() as stack:
        try:
            app = await stack.enter_async_context(open_app(settings, serve=True))
        except DiskNotWritable as error:
            app = await stack.enter_async_context(open_app(settings, reads_only=True))
            log.warning("nothing can be saved; the archive is served for reading", why=str(error))
        yield app


def _reread(settings: Settings) -> Settings:
    """Return the changed settings; return ``settings`` if the settings file became invalid."""
    try:
        return reread(settings)
    except InvalidSettings as error:
        log.warning("settings are invalid and were not applied", why=str(error))
        return settings


def require_password(settings: Settings) -> None:
    """Check that a password is set, or that only this machine can connect.

    With PostgreSQL a stored password is in the database, so ``_secret_of_cluster`` checks this.

    Raises:
        ConfigurationError: the password is missing, empty or too short.
    """
    if settings.password == "":
        raise ConfigurationError(
            "ARCHIVER_PASSWORD is empty. Set a password, or unset the variable."
        )
    is_short = settings.password is not None and len(settings.password) < LEAST_PASSWORD
    if is_short and not is_loopback(settings.host):
        raise ConfigurationError(
            f"ARCHIVER_PASSWORD has fewer than {LEAST_PASSWORD} characters, which is too few to "
            f"listen on {settings.host or 'every address'}. Set a longer one."
        )
    is_locked = settings.password is not None or has_password(settings.data)
    if not settings.index:
        _require_password_on_network(settings, is_locked=is_locked)


async def _secret_of_cluster(runtime: App) -> bytes | None:
    """Return the secret with which all machines of a cluster sign; None without PostgreSQL.

    Raises:
        ConfigurationError: there is no password, and other machines can connect.
    """
    settings, access = runtime.settings, runtime.access
    if not settings.index:
        return None
    await access.refresh()
    _require_password_on_network(settings, is_locked=access.password_version is not None)
    return await access.signing_secret(secrets.token_bytes(SECRET_BYTES))


def _require_password_on_network(settings: Settings, *, is_locked: bool) -> None:
    if not is_locked and not is_loopback(settings.host):
        raise ConfigurationError(
            f"Listening on {settings.host or 'every address'} would open the archive to everyone "
            "on the network. Set a password with `archiver password` or ARCHIVER_PASSWORD, or "
            "listen on 127.0.0.1."
        )


def _bind_replay_origin(settings: Settings, listening: socket.socket) -> socket.socket | None:
    """Bind the port of the replay origin, if it is plain HTTP on the host of the service.

    Return None for any other replay origin: a proxy must forward its requests to this server with
    the ``Host`` of the replay origin.
    """
    separate_origin = urlsplit(settings.replay_origin or "")
    if (
        separate_origin.scheme != "http"
        or not separate_origin.port
        or separate_origin.port == listening.getsockname()[1]
    ):
        return None
    names = {settings.host.strip("[]").lower(), "localhost" if is_loopback(settings.host) else ""}
    return _bind(settings.host, separate_origin.port) if separate_origin.hostname in names else None


def _bind(name: str, port: int) -> socket.socket:
    """Bind the address. This is done first, so that an unavailable port has no side effects."""
    host = name.strip("[]") or None
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = addresses[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        problem = _BIND_ERRORS.get(error.errno or 0, f"cannot be used: {error.strerror or error}")
        raise ConfigurationError(f"Port {port} on {name} {problem}.") from error


def _stop_on_signals() -> asyncio.Event:
    """Return an event that the first stop signal sets; a second signal ends the process."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)

    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    return stop


def _announce(
    listening: socket.socket,
    data: Path,
    *,
    unusable_files: int,
    warnings: Sequence[Message],
    browser_problem: Message | None,
) -> None:
    host, port = listening.getsockname()[:2]
    displayed_host = f"[{host}]" if ":" in host else host
    sys.stdout.write(f"archiver listens on http://{displayed_host}:{port}/\n")
    for each in warnings:
        sys.stdout.write(f"WARNING: {each}\n")
    if unusable_files:
        sys.stdout.write(f"ignored files in warc/: {unusable_files}; {_VERIFY_HINT}\n")
    if browser_problem:
        sys.stdout.write(f"pages are not rendered in a browser: {browser_problem}\n")
    sys.stdout.write(f"the archive is in {data.absolute()}\n")
    sys.stdout.flush()
