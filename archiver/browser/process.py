"""Chromium processes."""

import asyncio
import json
import os
import shutil
import socket
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from archiver.browser.cdp import Connection
from archiver.browser.chromium import CONFINED, NO_SANDBOX, command
from archiver.browser.supervisor import ASK_FOR_SOCKET
from archiver.errors import BrowserError, BrowserGone, NoBrowser
from archiver.helpers import child_command, child_environment, wait_until_readable

PREFIX = "browser-"
START_SECONDS = 30
END_SECONDS = 10
OLD_PROFILE_SECONDS = 2 * 86400
_PORT_DIGITS = 5
_STDERR_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Launch:
    """Parameters for starting a browser.

    Attributes:
        executable: path of the browser's executable.
        profiles: the directory in which a temporary profile is created.
        fingerprint: fingerprint of the TLS key of the request gate, the proxy of a page.
        user_agent: the user agent.
        memory_bytes: memory limit of all processes of the browser together.
        is_sandboxed: whether to enable Chromium's sandbox.
        is_isolated: whether to give the browser its own network namespace, if that is possible.
        confined: flags that keep the browser from bypassing its proxy.
    """

    executable: Path
    profiles: Path
    fingerprint: str
    user_agent: str
    memory_bytes: int
    is_sandboxed: bool = True
    is_isolated: bool = True
    confined: tuple[str, ...] = CONFINED


class Browser:
    """Running browser, created by ``start`` and ended by ``close``.

    Attributes:
        connection: the DevTools connection.
        is_isolated: whether the kernel isolates the browser from every network.
    """

    def __init__(self) -> None:
        self.connection = Connection()
        self.is_isolated = False
        self._control: socket.socket | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._gate_socket_lock = asyncio.Lock()
        self._profile: Path | None = None
        self._stderr_end = b""
        self._listening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, launch: Launch) -> Self:
        """Start a browser.

        Raises:
            NoBrowser: the browser cannot be started; the message gives the reason, if it is known.
        """
        browser = cls()
        try:
            async with asyncio.timeout(START_SECONDS):
                await browser._start(launch)
                await browser.connection.call("Browser.getVersion")
                await browser.connection.call("Target.setDiscoverTargets", discover=True)
        except (BrowserError, OSError, TimeoutError) as error:
            await browser.close()
            raise NoBrowser(browser._why(error)) from error
        except BaseException:
            await browser.close()
            raise
        browser.connection.on("", "Target.targetCreated", browser._on_target)
        return browser

    async def close(self) -> None:
        """Stop the browser and wait until all its processes and files are gone."""
        if self._control:
            self._control.close()
        await self.connection.close()
        if self._process:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self._process.wait()
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._profile:
            # The supervisor removes the profile, unless the supervisor was killed.
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)
        for task in filter(None, (self._listening, self._watching)):
            task.cancel()
            await asyncio.wait([task])

    async def gate_socket(self) -> tuple[socket.socket, int]:
        """Return a listening socket that the browser can reach, and its port.

        Raises:
            BrowserGone: the browser has ended.
        """
        if self._control is None or self.connection.gone.is_set():
            raise BrowserGone("The browser process has exited.")
        loop = asyncio.get_running_loop()
        async with self._gate_socket_lock:
            try:
                await loop.sock_sendall(self._control, ASK_FOR_SOCKET)
                await wait_until_readable(self._control.fileno())
                port, handles, _, _ = socket.recv_fds(self._control, _PORT_DIGITS, 1)
            except OSError as error:
                raise BrowserGone("The browser process has exited.") from error
        if not handles:
            raise BrowserGone("The browser process has exited.")
        return socket.socket(fileno=handles[0]), int(port)

    async def _start(self, launch: Launch) -> None:
        profile = self._profile = await asyncio.to_thread(_make_profile, launch.profiles)
        ours, theirs = socket.socketpair()
        to_browser, from_browser = os.pipe(), os.pipe()
        self._control = ours
        ours.setblocking(False)
        plan = _plan(launch, profile, (to_browser[0], from_browser[1]))
        try:
            self._process = await asyncio.create_subprocess_exec(
                *child_command("archiver.browser.supervisor", plan),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(to_browser[0], from_browser[1]),
                env=child_environment(),
            )
        finally:
            theirs.close()
            os.close(to_browser[0])
            os.close(from_browser[1])
            if self._process is None:
                os.close(to_browser[1])
                os.close(from_browser[0])
        self._listening = asyncio.create_task(self._listen(), name="browser-complaints")
        self._watching = asyncio.create_task(self._watch(self._process), name="browser-end")
        await self.connection.open(from_browser[0], to_browser[1])
        await wait_until_readable(ours.fileno())
        self.is_isolated = ours.recv(len(b"isolated\n")) == b"isolated\n"

    async def _listen(self) -> None:
        """Store the end of the browser's stderr, which explains a failed start."""
        source = self._process.stderr if self._process else None
        while source and (output := await source.read(_STDERR_BYTES)):
            self._stderr_end = (self._stderr_end + output)[-_STDERR_BYTES:]

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Close the connection once the supervisor is gone; the browser then exits."""
        watched = os.pidfd_open(process.pid)
        try:
            await wait_until_readable(watched)
        finally:
            os.close(watched)
        self.connection.close_pipes()

    def _on_target(self, event: dict[str, dict[str, str]]) -> None:
        """Close targets that a page opens, such as pop-ups."""
        target = event["targetInfo"]
        if target.get("openerId") and target.get("type") in ("page", "tab"):
            self.connection.send("Target.closeTarget", targetId=target["targetId"])

    def _why(self, error: Exception) -> str:
        stderr_text = self._stderr_end.decode("utf-8", "replace").lower()
        if "sandbox" in stderr_text:
            return NO_SANDBOX
        return f"Cannot start the browser: {error or type(error).__name__}."


def sweep_profiles(profiles: Path) -> None:
    """Delete old profiles that browsers left behind at a crash or power loss."""
    for each in profiles.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if time.time() - each.stat().st_mtime > OLD_PROFILE_SECONDS:
                shutil.rmtree(each, ignore_errors=True)


def _make_profile(profiles: Path) -> Path:
    profiles.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=profiles)).absolute()


def _plan(launch: Launch, profile: Path, pipes: tuple[int, int]) -> str:
    """Return the parameters of the supervisor process as JSON."""
    words = command(
        launch.executable,
        profile,
        fingerprint=launch.fingerprint,
        user_agent=launch.user_agent,
        is_sandboxed=launch.is_sandboxed,
        confined=launch.confined,
    )
    return json.dumps(
        {
            "command": words,
            "environment": _environment(profile),
            "profile": str(profile),
            "pipes": pipes,
            "memory_bytes": launch.memory_bytes,
            "renderer_bytes": launch.memory_bytes * 2 // 3,
            "is_isolated": launch.is_isolated,
        }
    )


def _environment(profile: Path) -> dict[str, str]:
    """Return the browser's environment, without the user's home directory."""
    variables = {name: value for name, value in child_environment().items() if name != "PYTHONPATH"}
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR")
    return (
        variables | dict.fromkeys(homes, str(profile)) | {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/"}
    )
