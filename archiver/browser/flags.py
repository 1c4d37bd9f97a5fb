"""How Chromium is told to stay where it is, and to let alone what is no page's business."""

from collections.abc import Sequence
from pathlib import Path

NOWHERE = "127.0.0.1:1"
"""The proxy of the browser itself, which has no business outside: nobody listens there."""

CONFINED = (
    f"--proxy-server={NOWHERE}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""What keeps a page from going round the gate.

A test fails without each of them but one: of WebRTC's two names today's Chromium heeds the one with
``force``, and leaving the other out changes nothing; it stays for a Chromium that heeds that one.
The proxy, the rule for names and QUIC's flag are for what belongs to no page's context, and so has
no gate.
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
_STEADY = (
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
_WITHOUT = (
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
"""Features that ask others for something, or that make of one page several.

Without WebRTC's ways round the proxy there are no addresses to hide, and hiding them would have the
network told that somebody listens to its names (RFC 6762).
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
    """The words that start it.

    Args:
        executable: where it is.
        profile: an empty directory.
        fingerprint: of the gate's key.
        user_agent: what its pages call it.
        is_sandboxed: whether its own sandbox is on.
        confined: the flags that keep it from going round its proxy.
    """
    return [
        str(executable),
        *_QUIET,
        *_STEADY,
        *confined,
        f"--disable-features={','.join(_WITHOUT)}",
        f"--user-data-dir={profile}",
        f"--ignore-certificate-errors-spki-list={fingerprint}",
        f"--user-agent={user_agent}",
        *(() if is_sandboxed else ("--no-sandbox",)),
        "--remote-debugging-pipe",
        "about:blank",
    ]
