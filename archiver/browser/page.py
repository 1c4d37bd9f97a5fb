"""Browser page: navigation and capture."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from archiver.browser.process import Browser
from archiver.errors import BrowserError, PageGone, PageTooLarge
from archiver.http.cookies import Cookie

WIDTH, HEIGHT = 1280, 800
MAX_HEIGHT = 20_000
"""Maximum height of a screenshot in CSS pixels."""
MAX_WEBP = 16_000
"""Height above which a screenshot is stored as JPEG; WebP allows at most 16,383 pixels."""
THUMBNAIL_SCALE = 0.25
COMPARED_SCALE = 0.05
"""Scale of a screenshot in which a line of text is one pixel (``view_similarity``)."""
MAX_CHARACTERS = 15 << 20
"""Maximum characters of a rendered page; the parser has the same limit."""
MAX_TEXT = 1 << 20
MAX_SOURCE = 1 << 18
"""Maximum characters of a page with its scripts.

CAPTCHAs and bot checks are recognised in this text. The start of a page is enough for that.
"""
MAX_PDF_BYTES = 64 << 20
WORLD = "archiver"
_END_SECONDS = 5.0
_PIECE = 1 << 20
_QUALITY = 80
_RESIZE = "Emulation.setDeviceMetricsOverride"


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """Page after its scripts have run.

    Attributes:
        html: its current markup, without scripts.
        url: its current URL without fragment.
    """

    html: str
    url: str


@dataclass(frozen=True, slots=True)
class Screenshot:
    """Encoded image of a page.

    Attributes:
        media_type: ``image/webp``, ``image/jpeg`` or ``image/png``.
        content: its bytes.
        is_whole: whether it shows the complete page.
    """

    media_type: str
    content: bytes
    is_whole: bool = True


class Page:
    """Browser page, created by ``open_page``."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._connection = browser.connection
        self._session = session
        self._world: int | None = None
        self._frame = ""
        self._gone = asyncio.Event()
        self.is_loaded = False
        on = self._connection.on
        on(session, "Page.loadEventFired", self._on_load)
        on(session, "Page.javascriptDialogOpening", self._on_dialog)
        on(session, "Page.frameNavigated", self._on_navigated)
        on(session, "Inspector.targetCrashed", lambda _: self._gone.set())
        on(session, "Inspector.detached", lambda _: self._gone.set())

    async def prepare(self) -> None:
        """Configure the page before the first navigation."""
        for name in ("Page.enable", "Inspector.enable"):
            await self._call_method(name)
        await self._call_method(_RESIZE, **_window(HEIGHT))
        await self._call_method(
            "Page.addScriptToEvaluateOnNewDocument", source=_script("observe"), worldName=WORLD
        )
        await self._call_method(
            "Page.addScriptToEvaluateOnNewDocument", source=_script("open_shadows")
        )

    async def navigate(self, url: str) -> str:
        """Navigate to a URL; return the network error, empty if there is none.

        Raises:
            BrowserError: the page is gone.
        """
        self.is_loaded = False
        result = await self._call_method("Page.navigate", url=url)
        return str(result.get("errorText", ""))

    async def set_cookies(self, cookies: Iterable[Cookie]) -> None:
        """Add cookies, except those that the browser rejects.

        A private cookie (``Cookie.is_private``) is not sent to subdomains, because they may belong
        to others.
        """
        for each in cookies:
            with suppress(BrowserError):
                await self._call_method("Network.setCookie", **_cookie(each))

    async def seconds_unchanged(self) -> float:
        """Return the seconds since the last change of the page; 0 while it is starting."""
        return float(await self._evaluate("globalThis.archiver ? archiver.still() : 0")) / 1000

    async def hide_banners(self) -> None:
        """Remove known cookie consent banners."""
        await self._evaluate(f"globalThis.archiver && ({_script('uncover')})()")

    async def wait_by_page_timer(self, seconds: float) -> float:
        """Wait for a new timer of the page; timers that were due earlier have fired before it.

        Returns: the seconds by which the timer was late, as on a busy machine.
        """
        wait = f"""(async (due) => {{
            await new Promise((done) => setTimeout(done, due - performance.now()));
            return performance.now() - due;
        }})(performance.now() + {1000 * max(seconds, 0)})"""
        late = await self._evaluate(wait)
        return max(float(late) / 1000, 0)

    async def scroll(self, seconds: float) -> bool:
        """Scroll down a screenful at a time, for at most ``seconds``, and back to the top.

        Returns: whether the end was reached.
        """
        is_at_end = await self._evaluate(
            f"globalThis.archiver?.scroll({seconds * 1000:.0f}) ?? true"
        )
        await self._evaluate("globalThis.archiver?.top()")
        return bool(is_at_end)

    async def rendered(self) -> RenderedPage:
        """Return the rendered page.

        Raises:
            PageTooLarge: it exceeds the size limit.
            BrowserError: it is gone, or cannot be read.
        """
        page = await self._evaluate(f"({_script('serialise')})({MAX_CHARACTERS})")
        if page is None:
            raise PageTooLarge("The page is too large after its scripts have run.")
        url = str(page["url"]).partition("#")[0]
        return RenderedPage(str(page["html"]), url)

    async def source(self) -> str:
        """Return the page with its scripts, up to ``MAX_SOURCE`` characters."""
        whole = f"document.documentElement?.outerHTML.slice(0, {MAX_SOURCE}) ?? ''"
        return str(await self._evaluate(whole))

    async def text(self) -> str:
        """Return the visible text, up to ``MAX_TEXT`` characters."""
        return str(await self._evaluate(reading()))

    async def navigate_without_scripts(self, url: str) -> str:
        """Navigate to a URL as ``navigate`` does, with scripts disabled."""
        await self._call_method("Network.enable")
        await self._call_method("Network.setBypassServiceWorker", bypass=True)
        await self._call_method("Emulation.setScriptExecutionDisabled", value=True)
        return await self.navigate(url)

    async def screenshot(self) -> Screenshot:
        """Take a screenshot of the whole page, up to ``MAX_HEIGHT``.

        An element that scrolls instead of the page is shown in full.
        """
        overflow = int(await self._evaluate("globalThis.archiver?.beyond() ?? 0"))
        if overflow:
            await self._call_method(_RESIZE, **_window(min(HEIGHT + overflow, MAX_HEIGHT)))
        try:
            width, height = await self._size()
            shown_height = min(height, MAX_HEIGHT)
            picture = await self._capture(
                "webp" if shown_height <= MAX_WEBP else "jpeg", width, shown_height, 1
            )
        finally:
            if overflow:
                self._connection.send(_RESIZE, self._session, **_window(HEIGHT))
        return replace(picture, is_whole=max(height, HEIGHT + overflow) <= MAX_HEIGHT)

    async def small_screenshot(self) -> Screenshot:
        """Take a PNG of the page that is scaled down for a comparison."""
        _, height = await self._size()
        return await self._capture("png", WIDTH, min(height, MAX_HEIGHT), COMPARED_SCALE)

    async def thumbnail(self) -> Screenshot:
        """Take a small screenshot of the first screenful."""
        return await self._capture("webp", WIDTH, HEIGHT, THUMBNAIL_SCALE)

    async def pdf(self) -> bytes:
        """Print the page to PDF.

        Raises:
            BrowserError: the page is gone or the PDF is too large.
        """
        await self._evaluate("globalThis.archiver?.unroll()")
        result = await self._call_method(
            "Page.printToPDF", printBackground=True, transferMode="ReturnAsStream"
        )
        handle, content = result["stream"], bytearray()
        try:
            while True:
                piece = await self._call_method("IO.read", handle=handle, size=_PIECE)
                data = piece["data"]
                content += base64.b64decode(data) if piece.get("base64Encoded") else data.encode()
                if len(content) > MAX_PDF_BYTES:
                    raise BrowserError("The PDF of the page is too large.")
                if piece.get("eof"):
                    return bytes(content)
        finally:
            self._connection.send("IO.close", self._session, handle=handle)

    async def _size(self) -> tuple[float, float]:
        """Return (width, height) of the whole page in CSS pixels, with the width clamped."""
        size = (await self._call_method("Page.getLayoutMetrics"))["cssContentSize"]
        width = min(max(float(size["width"]), 1), 2 * WIDTH)
        return width, max(float(size["height"]), 1)

    async def _capture(self, kind: str, width: float, height: float, scale: float) -> Screenshot:
        result = await self._call_method(
            "Page.captureScreenshot",
            format=kind,
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": width, "height": height, "scale": scale},
            **({} if kind == "png" else {"quality": _QUALITY}),
        )
        content = await asyncio.to_thread(base64.b64decode, result["data"])
        return Screenshot(f"image/{kind}", content)

    async def _evaluate(self, expression: str) -> Any:
        """Evaluate an expression in an isolated world of the page."""
        for _ in range(3):
            world = await self._enter()
            try:
                result = await self._call_method(
                    "Runtime.evaluate",
                    expression=expression,
                    contextId=world,
                    awaitPromise=True,
                    returnByValue=True,
                )
            except PageGone:
                raise
            except BrowserError:
                # The page has navigated to another document.
                self._world = None
                continue
            if "exceptionDetails" in result:
                raise BrowserError(f"Cannot read the page: {_reason(result)}")
            return result["result"].get("value")
        raise BrowserError("The page keeps redirecting.")

    async def _enter(self) -> int:
        if self._world is None:
            tree = await self._call_method("Page.getFrameTree")
            self._frame = tree["frameTree"]["frame"]["id"]
            response = await self._call_method(
                "Page.createIsolatedWorld", frameId=self._frame, worldName=WORLD
            )
            self._world = int(response["executionContextId"])
            # If scripts are disabled, the script that ``prepare`` registered did not run.
            observed = f"globalThis.archiver || {_script('observe')}"
            await self._call_method("Runtime.evaluate", expression=observed, contextId=self._world)
        return self._world

    async def _call_method(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and stop waiting as soon as the page is gone."""
        asking = asyncio.ensure_future(self._connection.call(method, self._session, **parameters))
        ending = asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait([asking, ending], return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise PageGone("The page was closed, or killed because it used too much memory.")
            return asking.result()
        finally:
            for each in (asking, ending):
                each.cancel()
            await asyncio.wait([asking, ending])

    def _on_load(self, _: dict[str, Any]) -> None:
        self.is_loaded = True

    def _on_navigated(self, event: dict[str, Any]) -> None:
        if not event["frame"].get("parentId"):
            self._world = None

    def _on_dialog(self, event: dict[str, Any]) -> None:
        """Close a dialog: accept leaving the page, dismiss all others."""
        self._connection.send(
            "Page.handleJavaScriptDialog",
            self._session,
            accept=event.get("type") == "beforeunload",
        )


@asynccontextmanager
async def open_page(
    browser: Browser, port: int, *, bypass: str = "<-loopback>"
) -> AsyncIterator[Page]:
    """Open a page whose requests go to the proxy at a port; close it at the end of the block.

    The proxy is the request gate. ``bypass`` is Chromium's list of addresses that it connects to
    without the proxy: by default none, not even loopback addresses.

    If the browser does not close the page in time, it is marked as gone.

    Raises:
        BrowserError: the page cannot be opened.
    """
    connection = browser.connection
    response = await connection.call(
        "Target.createBrowserContext",
        proxyServer=f"127.0.0.1:{port}",
        proxyBypassList=bypass,
        disposeOnDetach=True,
    )
    context, session = response["browserContextId"], ""
    try:
        await connection.call(
            "Browser.setDownloadBehavior", behavior="deny", browserContextId=context
        )
        target = await connection.call(
            "Target.createTarget", url="about:blank", browserContextId=context
        )
        attached = await connection.call(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        session = attached["sessionId"]
        page = Page(browser, session)
        await page.prepare()
        yield page
    finally:
        connection.remove_listeners(session)
        with suppress(BrowserError):
            try:
                async with asyncio.timeout(_END_SECONDS):
                    await connection.call("Target.disposeBrowserContext", browserContextId=context)
            except TimeoutError:
                connection.mark_gone()


def _cookie(cookie: Cookie) -> dict[str, Any]:
    """Return the parameters of ``Network.setCookie`` for a cookie."""
    scheme = "https" if cookie.is_secure else "http"
    domain = cookie.is_for_subdomains and not cookie.is_private
    return {
        "name": cookie.name,
        "value": cookie.value,
        "url": f"{scheme}://{cookie.host}{cookie.path}",
        "path": cookie.path,
        "secure": cookie.is_secure,
        **({"domain": f".{cookie.host}"} if domain else {}),
        **({"expires": cookie.expires} if cookie.expires else {}),
    }


def _window(height: int) -> dict[str, Any]:
    return {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}


def reading() -> str:
    """Return a script expression for the visible text, up to ``MAX_TEXT`` characters."""
    return f"({_script('text')})({MAX_TEXT})"


@cache
def _script(name: str) -> str:
    return Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8")


def _reason(result: dict[str, Any]) -> str:
    details = result["exceptionDetails"]
    reason = details.get("exception", {}).get("description") or details.get("text", "")
    return str(reason)[:200]
