"""Chromium executable and command line flags."""

import asyncio
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from archiver.browser.supervisor import CHECK
from archiver.config import Settings
from archiver.errors import NoBrowser
from archiver.helpers import child_command, child_environment, end_child
from archiver.model.message import marked

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
"""Names of the executable, in order of preference.

The headless shell has the same engine, and needs a third of the CPU time.
"""
NO_SANDBOX = marked(
    "Chromium's sandbox cannot start because this machine or container does not allow user "
    "namespaces. See docs/administration.md."
)
_VERSION = re.compile(rb"(\d{2,4})\.\d+\.\d+\.\d+")
_OLDEST = 120
_PATIENCE_SECONDS = 15


def find_browser(settings: Settings) -> Path:
    """Return the browser named in the settings, or the first on ``PATH``.

    Raises:
        NoBrowser: there is none.
    """
    if settings.browser:
        path = shutil.which(settings.browser)
        if path is None:
            raise NoBrowser(
                "The browser in the settings, {browser}, is not an executable program.",
                browser=settings.browser,
            )
        return Path(path)
    for name in NAMES:
        if path := shutil.which(name):
            return Path(path)
    raise NoBrowser(
        "No browser is installed, so pages that need JavaScript are saved without it and "
        "marked as incomplete. Install Chromium, or set `browser` to its path: archiver "
        "config browser PATH"
    )


async def version_of(executable: Path) -> int:
    """Return the major version of a Chromium.

    Raises:
        NoBrowser: it is not Chromium, is too old or cannot be run.
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
            "Cannot run {executable}: {strerror}.", executable=executable, strerror=error.strerror
        ) from error
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise NoBrowser(
            "{executable} does not report a version, so it is probably not Chromium. Set "
            "`browser` to the path of Chromium: archiver config browser PATH",
            executable=executable,
        ) from error
    finally:
        await end_child(process)
    match = _VERSION.search(output)
    if match is None or int(match[1]) < _OLDEST:
        raise NoBrowser(
            "{executable} is not Chromium {oldest} or newer. Install a newer one, or set "
            "`browser` to its path: archiver config browser PATH",
            executable=executable,
            oldest=_OLDEST,
        )
    return int(match[1])


def user_agent(version: int, ours: str) -> str:
    """Return the browser's own user agent, followed by that of the archiver."""
    chrome = (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{version}.0.0.0 Safari/537.36"
    )
    return f"{chrome} {ours.removeprefix('Mozilla/5.0 ')}"


async def prove_sandbox(settings: Settings) -> None:
    """Check that Chromium's sandbox can start, if this process runs as root.

    As root, the sandbox needs a user namespace, which some containers do not allow.

    Raises:
        NoBrowser: it cannot start.
    """
    if os.geteuid() != 0 or not settings.browser_sandbox:
        return
    process = await asyncio.create_subprocess_exec(
        *child_command("archiver.browser.supervisor", CHECK),
        stdin=asyncio.subprocess.DEVNULL,
        env=child_environment(),
    )
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            status = await process.wait()
    except TimeoutError:
        return  # the machine is too busy for the check; the first rendering reports a problem
    finally:
        await end_child(process)
    if status:
        raise NoBrowser(NO_SANDBOX)


NOWHERE = "127.0.0.1:1"
"""Address without a listener.

It is the proxy of the browser process itself, which needs no network access. Each page has another
proxy: its request gate.
"""

CONFINED = (
    f"--proxy-server={NOWHERE}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""Flags that keep a page from bypassing the request gate (``browser.request_gate``).

For each flag there is a test that fails without it. The only exception is the WebRTC flag without
``force``: current Chromium ignores it, but other versions honour only that spelling. The proxy, the
host rule and the QUIC flag cover requests that belong to no page, so no gate sees them.
"""

_QUIET = (
    "--headless=new",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-notifications",
    "--disable-prompt-on-repost",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    "--deny-permission-prompts",
    "--block-new-web-contents",
)
_RENDERING_FLAGS = (
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    "--disk-cache-size=33554432",
    "--js-flags=--max-old-space-size=768",
)
_DISABLED_FEATURES = (
    "AutofillServerCommunication",
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "InterestFeedContentSuggestions",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "Prerender2",
    "Translate",
    "WebRtcHideLocalIpsWithMdns",
)
"""Disabled features that contact third parties or keep several pages alive.

WebRTC cannot bypass the proxy, so no local addresses need hiding; hiding them would announce mDNS
names on the network (RFC 6762).
"""


def command(
    executable: Path,
    profile: Path,
    *,
    fingerprint: str,
    user_agent: str,
    is_sandboxed: bool,
    confined: Sequence[str] = CONFINED,
) -> list[str]:
    """Return the command line of the browser.

    Args:
        executable: its path.
        profile: an empty directory.
        fingerprint: fingerprint of the request gate's TLS key, which the browser trusts.
        user_agent: the user agent of its pages.
        is_sandboxed: whether to enable Chromium's sandbox.
        confined: the flags that keep it from bypassing its proxy.
    """
    return [
        str(executable),
        *_QUIET,
        *_RENDERING_FLAGS,
        *confined,
        f"--disable-features={','.join(_DISABLED_FEATURES)}",
        f"--user-data-dir={profile}",
        f"--ignore-certificate-errors-spki-list={fingerprint}",
        f"--user-agent={user_agent}",
        *(() if is_sandboxed else ("--no-sandbox",)),
        "--remote-debugging-pipe",
        "about:blank",
    ]
