"""Where Chromium is, which one it is, and what its pages call themselves."""

import asyncio
import os
import re
import shutil
from pathlib import Path

from archiver.child_process import child_environment, end_child
from archiver.config import Settings
from archiver.errors import NoBrowser

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
"""The shell without windows is the same engine, at a third of the cost."""
_VERSION = re.compile(rb"(\d{2,4})\.\d+\.\d+\.\d+")
_OLDEST = 120
_PATIENCE_SECONDS = 15


def find_browser(settings: Settings) -> Path:
    """The browser that the settings name, or the first on ``PATH``.

    Raises:
        NoBrowser: there is none.
    """
    if settings.browser:
        found = shutil.which(settings.browser)
        if found is None:
            raise NoBrowser(
                "ARCHIVER_BROWSER names {browser}, which can't be run.", browser=settings.browser
            )
        return Path(found)
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    raise NoBrowser(
        "No browser is installed. Pages that need one are kept as they were sent, and marked; "
        "install Chromium, or name one with ARCHIVER_BROWSER."
    )


async def version_of(executable: Path) -> int:
    """The major version of a Chromium.

    Raises:
        NoBrowser: it is none, too old, or can't be run.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            str(executable),
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=child_environment(),
        )
    except OSError as error:
        raise NoBrowser(
            "{executable} can't be run: {strerror}.", executable=executable, strerror=error.strerror
        ) from error
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            said, _ = await process.communicate()
    except TimeoutError as error:
        raise NoBrowser(
            "{executable} does not say which version it is.", executable=executable
        ) from error
    finally:
        await end_child(process)
    found = _VERSION.search(said)
    if found is None or int(found[1]) < _OLDEST:
        raise NoBrowser(
            "{executable} is no Chromium of version {oldest} or later.",
            executable=executable,
            oldest=_OLDEST,
        )
    return int(found[1])


def user_agent(version: int, ours: str) -> str:
    """What pages are told: the browser that it is, and whose."""
    chrome = (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{version}.0.0.0 Safari/537.36"
    )
    return f"{chrome} {ours.removeprefix('Mozilla/5.0 ')}"


def needs_cell(settings: Settings) -> bool:
    """Whether Chromium's sandbox can start in a user namespace only: it refuses to run as root."""
    return settings.browser_sandbox and os.geteuid() == 0
