"""Rewriting of URLs to replay addresses."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from archiver.http.urls import join
from archiver.pages.reference_attributes import Use, clean_reference
from archiver.pages.reference_values import find_candidates, find_refresh_url
from archiver.replay.addresses import PLAIN, Modifier, PathWriters, ReplayAddress

BLOCKED: Final = ""
"""Returned by ``UrlRewriter.rewrite`` if a reference must be disabled."""

_CACHE_SIZE = 4096
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_FRAGMENT_SAFE = "!#$%&'()*+,/:;=?@[]^_`{|}~\\"


_MODIFIERS = {
    **dict.fromkeys(Use, Modifier.IMAGE),
    Use.FRAME: Modifier.FRAME,
    Use.STYLE: Modifier.STYLE,
    Use.SCRIPT: Modifier.SCRIPT,
}
_DISTINCT_USES = (Use.IMAGE, Use.STYLE, Use.SCRIPT, Use.FRAME, Use.ANCHOR)
"""One use for each way that references are rewritten; other uses are rewritten as images."""
_NAVIGATES = frozenset({Use.ANCHOR, Use.FRAME})
_ARCHIVED_SCHEMES = frozenset({"http", "https"})
_HARMFUL = frozenset({"javascript", "vbscript", "livescript", "jar", "view-source"})
"""Schemes that run code or show local content."""
_SELF_CONTAINED = frozenset({"about", "data"})
"""Schemes that load nothing from elsewhere."""


class UrlRewriter:
    """Rewriter of the references of one document.

    Args:
        url: the document's URL, serialised.
        timestamp: 14-digit timestamp of its capture; requisites nearest to it are used.
        page: ``FRAME`` if the document is shown in a frame, so that linked pages are too; else
            ``NONE``.
        paths: path writers for the rewritten references.
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
        self._timestamp_segment = f"/{timestamp}"
        self._cache: dict[tuple[str, Use], str | None] = {}

    def nested(self) -> "UrlRewriter":
        """Return the rewriter for a document in ``srcdoc``, with the same base URL."""
        page = self._modifiers[Use.ANCHOR]
        return UrlRewriter(self.base, self._timestamp, page=page, paths=self._paths)

    def set_base(self, reference: str) -> None:
        """Apply a ``<base href>`` (HTML §4.2.3); a base that is not an HTTP URL is ignored."""
        moved = join(self.url, clean_reference(reference))
        if moved is not None and moved != self.base:
            self.base = moved
            self._cache.clear()

    def rewrite(self, reference: str, use: Use) -> str | None:
        """Return the replacement of a reference.

        Returns:
            A root-relative ASCII path with the original fragment; None if the reference stays as it
                is (a fragment, ``data:`` in a requisite, ``mailto:``, a reference that was already
                rewritten); ``BLOCKED`` if it must be disabled.
        """
        key = (reference, use)
        try:
            return self._cache[key]
        except KeyError:
            found = self._rewrite(reference, use)
        if len(self._cache) >= _CACHE_SIZE:
            self._cache.clear()
        if len(reference) < _CACHE_SIZE:
            self._cache[key] = found
        return found

    def is_rewritten_reference(self, reference: str) -> bool:
        """Return whether a reference was already rewritten for this document."""
        path = reference.partition("#")[0]
        _, moment, rest = path.partition(self._timestamp_segment)
        modifier, _, url = rest.partition("/")
        if not moment or join(url, url) != url:
            return False
        uses = (Use.IMAGE, Use.STYLE, Use.SCRIPT, Use.FRAME, Use.ANCHOR)
        return any(
            modifier == self._modifiers[use] and self._path(url, use) == path for use in uses
        )

    def _rewrite(self, reference: str, use: Use) -> str | None:
        given = clean_reference(reference)
        if not given or given.startswith("#"):
            return self._same_document(given, use)
        scheme = _SCHEME.match(given)
        if scheme and (name := scheme[1].lower()) not in _ARCHIVED_SCHEMES:
            return self._other_scheme(name, use)
        if self.is_rewritten_reference(given):
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
        """Return None for a reference within the document, unless its base URL is another page."""
        if use is not Use.ANCHOR or self.base == self.url:
            return None
        return self._path(self.base, use) + quote(fragment, safe=_FRAGMENT_SAFE)

    def _other_scheme(self, scheme: str, use: Use) -> str | None:
        """Return the result for a scheme that is not archived.

        Data URLs are kept in requisites, but blocked as pages, since their content is not
        rewritten. Requisites must not load local files or blobs.
        """
        is_known = use is Use.ANCHOR or scheme in _SELF_CONTAINED
        if scheme in _HARMFUL or not is_known or (scheme == "data" and use in _NAVIGATES):
            return BLOCKED
        return None


def rewrite_srcset(value: str, lead: Callable[[str], str | None]) -> str:
    """Rewrite each candidate of a srcset; the text between them is kept.

    The URL of a blocked candidate becomes ``data:,``.
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
    """Rewrite the URL of a refresh, in a meta element or a header.

    Returns:
        The unchanged value if it has no URL; ``BLOCKED`` if its URL must be disabled.
    """
    place = find_refresh_url(value)
    led = lead(value[slice(*place)]) if place else None
    if led is None or place is None:
        return value
    return f"{value[: place[0]]}{led}{value[place[1] :]}" if led else BLOCKED
