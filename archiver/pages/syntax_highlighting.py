"""Syntax highlighting.

A lexer's patterns can be slow on malicious code, so highlighting runs only in worker processes,
where a signal can interrupt it.
"""

import gc
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html import unescape
from types import FrameType

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

MAX_CODE = 20_000
"""Maximum characters of highlighted code in an article."""
SECONDS = 0.5
"""CPU time limit for one article in seconds."""
_AS_SANITISED = {0xA0: "&nbsp;"}
_CODE = re.compile(r'(<pre[^<>]*><code class="language-([^"]+)">)([^<>]*)(</code></pre>)')
_COLOURED = re.compile(r'<code class="language-[^"]+">.*?</code>', re.DOTALL)
_SPAN = re.compile(r"</?span[^<>]*>")


class _OutOfTime(BaseException):
    """The time limit was exceeded.

    This is not a subclass of ``Exception``, because lexers catch every ``Exception``.
    """


def coloured(html: str) -> str:
    """Return a sanitised article with highlighting spans in code whose language is known.

    The article is unchanged if time runs out.
    """
    if '<code class="language-' not in html:
        return html
    budget = MAX_CODE

    def colour(match: re.Match[str]) -> str:
        nonlocal budget
        budget -= len(match[3])
        spans = _spans(unescape(match[3]), match[2]) if budget >= 0 else None
        return match[0] if spans is None else f"{match[1]}{spans}{match[4]}"

    try:
        with _within(SECONDS):
            return _CODE.sub(colour, html)
    except (_OutOfTime, RecursionError):
        return html


def plain(html: str) -> str:
    """Return an article without the spans of ``coloured``."""
    return _COLOURED.sub(lambda code: _SPAN.sub("", code[0]), html)


def _spans(code: str, language: str) -> str | None:
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    spans: str = highlight(code, lexer, _formatter()).translate(_AS_SANITISED)
    spans = spans.replace("&#39;", "'").replace("&quot;", '"')
    return spans if code.endswith("\n") else spans.removesuffix("\n")


@cache
def _formatter() -> HtmlFormatter[str]:
    return HtmlFormatter(nowrap=True)


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise ``_OutOfTime`` in the ``with`` block after ``seconds`` of CPU time.

    Outside of the main thread ``_OutOfTime`` is raised immediately, because signals are not
    available there. Garbage collection is paused, because an exception that a signal raises during
    garbage collection is lost.
    """

    def ring(_: int, __: FrameType | None) -> None:
        raise _OutOfTime

    try:
        before = signal.signal(signal.SIGVTALRM, ring)
    except ValueError as error:
        raise _OutOfTime from error
    was_enabled = gc.isenabled()
    gc.disable()
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if was_enabled:
            gc.enable()
