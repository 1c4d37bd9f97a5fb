"""What a link is for, by its relation (HTML §4.6.7); in markup and in ``Link`` fields alike."""

from typing import Final

from archiver.references.use import Use

HINTS: Final = frozenset({"dns-prefetch", "preconnect", "prerender"})
"""Relations of which nothing is left to do in an archive."""

AHEAD: Final = frozenset({"preload", "modulepreload", "prefetch"})
"""Relations that have a browser fetch ahead what a page, or the next one, asks for itself."""

_PRELOADED: Final = {
    "style": Use.STYLE,
    "font": Use.FONT,
    "image": Use.IMAGE,
    "audio": Use.MEDIA,
    "video": Use.MEDIA,
    "track": Use.MEDIA,
    "script": Use.SCRIPT,
    "worker": Use.SCRIPT,
    "sharedworker": Use.SCRIPT,
    "serviceworker": Use.SCRIPT,
    "audioworklet": Use.SCRIPT,
    "paintworklet": Use.SCRIPT,
}

LINK_USES: Final = frozenset(
    {Use.STYLE, Use.ICON, Use.OTHER, Use.ANCHOR, Use.INERT, *_PRELOADED.values()}
)
"""What links can be for."""


def link_use(rel: str, loaded_as: str) -> Use:
    """What a link with that ``rel`` and that ``as`` is for.

    What is preloaded for scripts alone, or for the page that may come next, is not loaded.
    """
    relations = frozenset(rel.lower().split())
    if "stylesheet" in relations:
        return Use.STYLE
    if any("icon" in relation for relation in relations):
        return Use.ICON
    if "manifest" in relations:
        return Use.OTHER
    if "modulepreload" in relations:
        return Use.SCRIPT
    if "preload" in relations:
        return _PRELOADED.get(loaded_as.strip().lower(), Use.ANCHOR)
    return Use.INERT if relations and relations <= HINTS else Use.ANCHOR
