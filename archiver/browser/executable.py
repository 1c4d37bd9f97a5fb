"""Where Chromium is, which one it is, and what its pages call themselves."""

import asyncio
import os
import re
import shutil
from pathlib import Path

from archiver.child_process import child_command, child_environment, end_child
from archiver.config import Settings
from archiver.errors import NoBrowser
from archiver.model.message import marked

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
"""The shell without windows is the same engine, at a third of the cost."""
NO_SANDBOX = marked(
    "Chromium's sandbox can't start here: the machine, or the container, does not allow user "
    "namespaces. See docs/administration.md."
)
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
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise NoBrowser(
            "{executable} does not say which version it is.", executable=executable
        ) from error
    finally:
        await end_child(process)
    found = _VERSION.search(output)
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


async def prove_sandbox(settings: Settings) -> None:
    """Try what Chromium's sandbox needs where we are root: it starts in a namespace there, or not.

    Raises:
        NoBrowser: it can't start.
    """
    if os.geteuid() != 0 or not settings.browser_sandbox:
        return
    process = await asyncio.create_subprocess_exec(
        *child_command("archiver.browser.cell_trial"),
        stdin=asyncio.subprocess.DEVNULL,
        env=child_environment(),
    )
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            status = await process.wait()
    except TimeoutError:
        return  # a machine too busy to say; the first page that needs one tells
    finally:
        await end_child(process)
    if status:
        raise NoBrowser(NO_SANDBOX)
