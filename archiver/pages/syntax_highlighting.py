"""Syntax highlighting.

A lexer's patterns can be slow on some code: their time may grow with the square of its length. So
only ``MAX_CODE`` characters are highlighted, and only in worker processes, for ``MAX_SECONDS``.
"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html import unescape
from threading import current_thread, main_thread
from typing import Never

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

MAX_CODE = 20_000
"""Maximum characters of highlighted code in an article."""
MAX_SECONDS = 1.0
"""CPU time in seconds after which the code of an article stays plain."""
_AS_SANITISED = {0xA0: "&nbsp;"}
_CODE = re.compile(r'(<pre[^<>]*><code class="language-([^"]+)">)([^<>]*)(</code></pre>)')
_COLOURED = re.compile(r'<code class="language-[^"]+">.*?</code>', re.DOTALL)
_SPAN = re.compile(r"</?span[^<>]*>")


def coloured(html: str) -> str:
    """Return a sanitised article with highlighting spans in code whose language is known."""
    if '<code class="language-' not in html:
        return html
    budget = MAX_CODE

    def colour(match: re.Match[str]) -> str:
        nonlocal budget
        budget -= len(match[3])
        spans = _spans(unescape(match[3]), match[2]) if budget >= 0 else None
        return match[0] if spans is None else f"{match[1]}{spans}{match[4]}"

    try:
        with _limited_time():
            return _CODE.sub(colour, html)
    except (RecursionError, TimeoutError):
        return html


@contextmanager
def _limited_time() -> Iterator[None]:
    """Raise ``TimeoutError`` if the block takes too long; only the main thread gets signals."""
    if current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGVTALRM, _raise_timeout)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _raise_timeout(*_: object) -> Never:
    raise TimeoutError


def without_highlighting(html: str) -> str:
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
