"""Rewriting of URLs to replay addresses."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, unquote

from archiver.http.data_urls import NO_BASE
from archiver.http.text_decoders import UTF_8, Encoding, encode_query
from archiver.http.urls import join
from archiver.pages.references import (
    MAX_NESTED_DOCUMENTS,
    Use,
    clean_reference,
    find_candidates,
)
from archiver.replay.addresses import PLAIN, Modifier, PathWriters, ReplayAddress
from archiver.replay.svg_copies import SvgCopies, SvgCopy

BLOCKED: Final = ""
"""Result of ``UrlRewriter.rewrite`` for a reference that must be disabled."""

_CACHE_SIZE = 4096
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_FRAGMENT_SAFE = "!#$%&'()*+,/:;=?@[]^_`{|}~\\"


_MODIFIERS = {
    **dict.fromkeys(Use, Modifier.IMAGE),
    Use.FRAME: Modifier.FRAME,
    Use.STYLE: Modifier.STYLE,
    Use.SCRIPT: Modifier.SCRIPT,
}
_DISTINCT_USES = (Use.IMAGE, Use.PAINT, Use.STYLE, Use.SCRIPT, Use.FRAME, Use.ANCHOR)
"""One use for each way of rewriting; any other use is rewritten like one of these."""
_NAVIGATES = frozenset({Use.ANCHOR, Use.FRAME})
_SHARED = frozenset({Use.PAINT, Use.FONT, Use.MEDIA})
"""Uses that browsers may load with CORS: fonts, masks, clip paths, shapes, subtitles."""
_ARCHIVED_SCHEMES = frozenset({"http", "https"})
_HARMFUL = frozenset({"javascript", "vbscript", "livescript", "jar", "view-source"})
"""Schemes that run code or show local content."""
_SELF_CONTAINED = frozenset({"about", "data"})
"""Schemes that load nothing from elsewhere."""


RewriteDataUrl = Callable[[str, Use, "UrlRewriter"], str | None]
"""Function that rewrites a data URL: takes the URL, its use, and a rewriter for its content."""
_EMBEDDED = frozenset({Use.FRAME, Use.STYLE})
"""Uses of data URLs whose content may have references."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """Support for embedded content: data URLs, and copies of elements of SVG files.

    Attributes:
        origin: ``http://host[:port]`` of replay.
        rewrite_data_url: function that rewrites a data URL.
        svg: copies of elements of SVG files.
        depth: nesting level of data URLs.
    """

    origin: str
    rewrite_data_url: RewriteDataUrl
    svg: SvgCopies
    depth: int = 0


class UrlRewriter:
    """Rewriter of the references of one document.

    Args:
        url: the document's URL, serialised.
        timestamp: 14-digit timestamp of its capture; for each requisite, the capture nearest to it
            is replayed.
        page: ``FRAME`` if the document is in a frame, so that linked pages are shown in the frame;
            else ``NONE``.
        paths: path writers for the rewritten references.
        embedding: support for data URLs and other SVG files; None if they are not rewritten.
        encoding: the document's encoding, in which browsers encode queries.
    """

    def __init__(
        self,
        url: str,
        timestamp: str,
        *,
        page: Modifier = Modifier.NONE,
        paths: PathWriters = PLAIN,
        embedding: "Embedding | None" = None,
        encoding: Encoding = UTF_8,
    ) -> None:
        self.url = url
        self.base = url
        self._timestamp = timestamp
        self._paths = paths
        self._embedding = embedding
        self._encoding = encoding
        self._modifiers = {**_MODIFIERS, Use.ANCHOR: page}
        self._timestamp_segment = f"/{timestamp}"
        self._cache: dict[tuple[str, Use], str | None] = {}

    def nested(self) -> "UrlRewriter":
        """Return the rewriter for a document in ``srcdoc``, with the same base URL."""
        return self._copy(self.base)

    def copy_of(self, reference: str) -> tuple[SvgCopy, "UrlRewriter"] | None:
        """Return the copy of an element of another SVG file, and the rewriter for its references.

        Returns:
            None if the reference is only a fragment, if there is no such element, or if there is no
                ``embedding``.
        """
        address, _, fragment = clean_reference(reference).partition("#")
        url = join(self.base, address) if address else None
        if url is None or self._embedding is None:
            return None
        if url == self.url:
            return SvgCopy(fragment, ""), self
        copy = self._embedding.svg.included(url, unquote(fragment))
        return (copy, self._copy(url)) if copy else None

    def _copy(self, url: str) -> "UrlRewriter":
        page = self._modifiers[Use.ANCHOR]
        return UrlRewriter(
            url, self._timestamp, page=page, paths=self._paths, embedding=self._embedding
        )

    def set_base(self, reference: str) -> None:
        """Apply a ``<base href>`` (HTML §4.2.3); a base that is not an HTTP URL is ignored."""
        moved = join(self.url, clean_reference(reference))
        if moved is not None and moved != self.base:
            self.base = moved
            self._cache.clear()

    def rewrite(self, reference: str, use: Use) -> str | None:
        """Return the replacement of a reference.

        Returns:
            Usually a root-relative ASCII path with the original fragment. None if the reference
                stays as it is: a fragment, ``data:`` in a requisite, ``mailto:``, or a reference
                that was already rewritten. ``BLOCKED`` if it must be disabled.
        """
        key = (reference, use)
        try:
            return self._cache[key]
        except KeyError:
            rewritten = self._rewrite(reference, use)
        if len(self._cache) >= _CACHE_SIZE:
            self._cache.clear()
        if len(reference) < _CACHE_SIZE:
            self._cache[key] = rewritten
        return rewritten

    def is_rewritten_reference(self, reference: str) -> bool:
        """Return whether a reference was already rewritten for this document."""
        path = reference.partition("#")[0]
        _, moment, reference_after = path.partition(self._timestamp_segment)
        modifier, _, url = reference_after.partition("/")
        if not moment or join(url, url) != url:
            return False
        return any(
            modifier == self._modifiers[use] and self._path(url, use) == path
            for use in _DISTINCT_USES
        )

    def _rewrite(self, reference: str, use: Use) -> str | None:
        cleaned = clean_reference(reference)
        if not cleaned or cleaned.startswith("#"):
            return self._same_document(cleaned, use)
        scheme = _SCHEME.match(cleaned)
        if scheme and (name := scheme[1].lower()) not in _ARCHIVED_SCHEMES:
            if name == "data" and use in _EMBEDDED and self._embedding is not None:
                return self._data_url(cleaned, use, self._embedding)
            return self._other_scheme(name, use)
        if self.is_rewritten_reference(cleaned):
            return None
        address, mark, fragment = cleaned.partition("#")
        if not address.isascii():
            address = encode_query(address, self._encoding)
        url = join(self.base, address + mark)
        if url is None:
            return BLOCKED
        inside = self._in_svg(url, fragment) if use is Use.PAINT and fragment else ""
        return inside or self._path(url, use) + mark + quote(fragment, safe=_FRAGMENT_SAFE)

    def _data_url(self, url: str, use: Use, embedding: "Embedding") -> str | None:
        """Rewrite the content of a data URL, in which relative URLs can't be resolved."""
        if embedding.depth >= MAX_NESTED_DOCUMENTS:
            return BLOCKED
        paths = self._paths if embedding.depth else self._paths.below(embedding.origin)
        inner = UrlRewriter(
            NO_BASE,
            self._timestamp,
            page=self._modifiers[Use.ANCHOR],
            paths=paths,
            embedding=replace(embedding, depth=embedding.depth + 1),
        )
        return embedding.rewrite_data_url(url, use, inner)

    def _in_svg(self, url: str, fragment: str) -> str:
        """Return the replacement of a CSS reference to an element of an SVG file.

        An element of the same document is referred to by its fragment. A filter of another file
        becomes a data URL. The result is empty for other elements.
        """
        if url == self.url:
            return f"#{quote(fragment, safe=_FRAGMENT_SAFE)}"
        return self._embedding.svg.filter_url(url, unquote(fragment)) if self._embedding else ""

    def _path(self, url: str, use: Use) -> str:
        write = self._paths.shared if use in _SHARED else self._paths.requisite
        if use in _NAVIGATES:
            write = self._paths.frame if use is Use.FRAME else self._paths.link
        return write(ReplayAddress(self._timestamp, self._modifiers[use], url))

    def _same_document(self, fragment: str, use: Use) -> str | None:
        """Return the result for a fragment, which usually stays as it is (None).

        If ``<base>`` sets another URL, a link with only a fragment leads to that URL.
        """
        if use is not Use.ANCHOR or self.base == self.url:
            return None
        return self._path(self.base, use) + quote(fragment, safe=_FRAGMENT_SAFE)

    def _other_scheme(self, scheme: str, use: Use) -> str | None:
        """Return the result for a scheme that is not archived.

        Data URLs are kept in requisites, rewritten in frames and style sheets, and blocked as
        pages. Requisites must not load local files or blobs.
        """
        is_known = use is Use.ANCHOR or scheme in _SELF_CONTAINED
        if scheme in _HARMFUL or not is_known or (scheme == "data" and use in _NAVIGATES):
            return BLOCKED
        return None


def rewrite_srcset(value: str, rewrite: Callable[[str], str | None]) -> str:
    """Rewrite each candidate of a srcset; the text between candidates is kept.

    The URL of a blocked candidate becomes ``data:,``.
    """
    out: list[str] = []
    done = 0
    for start, end in find_candidates(value):
        rewritten = rewrite(value[start:end])
        if rewritten is not None:
            out += value[done:start], rewritten or "data:,"
            done = end
    out.append(value[done:])
    return "".join(out)
