"""Rewriting of URLs into the archive."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from archiver.http.urls import join
from archiver.pages.reference_attributes import Use, clean_reference
from archiver.pages.reference_values import find_candidates, find_refresh_url
from archiver.replay.addresses import PLAIN, Modifier, PathWriters, ReplayAddress

BLOCKED: Final = ""
"""What ``UrlRewriter.lead`` answers where a reference must not stay as it is."""

_CACHED = 4096
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_FRAGMENT_SAFE = "!#$%&'()*+,/:;=?@[]^_`{|}~\\"


_MODIFIERS = {
    **dict.fromkeys(Use, Modifier.IMAGE),
    Use.FRAME: Modifier.FRAME,
    Use.STYLE: Modifier.STYLE,
    Use.SCRIPT: Modifier.SCRIPT,
}
_LED_ALIKE = (Use.IMAGE, Use.STYLE, Use.SCRIPT, Use.FRAME, Use.ANCHOR)
"""One use for each way that a reference is written; all others are led as images are."""
_NAVIGATES = frozenset({Use.ANCHOR, Use.FRAME})
_EMBEDDED = frozenset({"http", "https"})
_HARMFUL = frozenset({"javascript", "vbscript", "livescript", "jar", "view-source"})
"""Schemes that act where they stand."""
_STANDING = frozenset({"about", "data"})
"""Schemes of what needs nothing from elsewhere."""


class UrlRewriter:
    """Leads the references of one document.

    Args:
        url: the document's URL, serialised.
        timestamp: 14 digits of its capture; what it points with is looked for near that.
        page: ``FRAME`` where the document is shown in a frame, so that what its anchors lead to
            is, too; else ``NONE``.
        paths: how what it leads to is written.
    """

    def __init__(
        self,
        url: str,
        timestamp: str,
        *,
        page: Modifier = Modifier.NONE,
        paths: PathWriters = PLAIN,
    ) -> None:
        self.url = url
        self.base = url
        self._timestamp = timestamp
        self._paths = paths
        self._modifiers = {**_MODIFIERS, Use.ANCHOR: page}
        self._moment = f"/{timestamp}"
        self._known: dict[tuple[str, Use], str | None] = {}

    def nested(self) -> "UrlRewriter":
        """The links of a document inside this one (``srcdoc``), whose base is this one's."""
        page = self._modifiers[Use.ANCHOR]
        return UrlRewriter(self.base, self._timestamp, page=page, paths=self._paths)

    def set_base(self, reference: str) -> None:
        """Honour a ``<base href>`` (HTML §4.2.3); one that leads to no page is passed over."""
        moved = join(self.url, clean_reference(reference))
        if moved is not None and moved != self.base:
            self.base = moved
            self._known.clear()

    def lead(self, reference: str, use: Use) -> str | None:
        """The reference to put in place of ``reference``.

        Returns:
            A root-relative path, ASCII, with the fragment it had; None where the reference is to
            stay as it is (a fragment, ``data:`` in a requisite, ``mailto:``, one that leads into
            the archive already); ``BLOCKED`` where it must not stay and leads nowhere.
        """
        key = (reference, use)
        try:
            return self._known[key]
        except KeyError:
            found = self._lead(reference, use)
        if len(self._known) >= _CACHED:
            self._known.clear()
        if len(reference) < _CACHED:
            self._known[key] = found
        return found

    def is_ours(self, reference: str) -> bool:
        """Whether it is what this very document's rewriting gives."""
        path = reference.partition("#")[0]
        _, moment, rest = path.partition(self._moment)
        modifier, _, url = rest.partition("/")
        if not moment or join(url, url) != url:
            return False
        uses = (Use.IMAGE, Use.STYLE, Use.SCRIPT, Use.FRAME, Use.ANCHOR)
        return any(
            modifier == self._modifiers[use] and self._path(url, use) == path for use in uses
        )

    def _lead(self, reference: str, use: Use) -> str | None:
        given = clean_reference(reference)
        if not given or given.startswith("#"):
            return self._same_document(given, use)
        scheme = _SCHEME.match(given)
        if scheme and (name := scheme[1].lower()) not in _EMBEDDED:
            return self._other_scheme(name, use)
        if self.is_ours(given):
            return None
        address, mark, fragment = given.partition("#")
        url = join(self.base, address + mark)
        if url is None:
            return BLOCKED
        return self._path(url, use) + mark + quote(fragment, safe=_FRAGMENT_SAFE)

    def _path(self, url: str, use: Use) -> str:
        write = self._paths.requisite
        if use in _NAVIGATES:
            write = self._paths.frame if use is Use.FRAME else self._paths.link
        return write(ReplayAddress(self._timestamp, self._modifiers[use], url))

    def _same_document(self, fragment: str, use: Use) -> str | None:
        """What stays within the document, unless its base is another's."""
        if use is not Use.ANCHOR or self.base == self.url:
            return None
        return self._path(self.base, use) + quote(fragment, safe=_FRAGMENT_SAFE)

    def _other_scheme(self, scheme: str, use: Use) -> str | None:
        """Data stands for itself in a requisite, but as a page it was not rewritten.

        Files of whoever looks, and what only the page's browser held, no requisite is led to.
        """
        is_known = use is Use.ANCHOR or scheme in _STANDING
        if scheme in _HARMFUL or not is_known or (scheme == "data" and use in _NAVIGATES):
            return BLOCKED
        return None


def rewrite_srcset(value: str, lead: Callable[[str], str | None]) -> str:
    """Lead each candidate of a srcset; what stands between stays as it is.

    A candidate that must not stay is left out: its URL becomes ``data:,``.
    """
    out: list[str] = []
    done = 0
    for start, end in find_candidates(value):
        led = lead(value[start:end])
        if led is not None:
            out += value[done:start], led or "data:,"
            done = end
    out.append(value[done:])
    return "".join(out)


def rewrite_refresh(value: str, lead: Callable[[str], str | None]) -> str:
    """Lead the URL of a refresh, in meta or header.

    Returns:
        The value as it was where it names no URL; ``BLOCKED`` where its URL must not stay.
    """
    place = find_refresh_url(value)
    led = lead(value[slice(*place)]) if place else None
    if led is None or place is None:
        return value
    return f"{value[: place[0]]}{led}{value[place[1] :]}" if led else BLOCKED
