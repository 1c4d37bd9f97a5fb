"""Where the icons and pictures lie that lists show pages by."""

from archiver.model.likeness import Emblems

EMBLEM_PATH = "/emblem/"
"""Before their digests."""


def emblem_path(digest: str) -> str:
    """Where one lies; nowhere, where there is none.

    >>> emblem_path("4a986c59"), emblem_path("")
    ('/emblem/4a986c59', '')
    """
    return EMBLEM_PATH + digest if digest else ""


def addressed(emblems: Emblems) -> Emblems:
    """The same with addresses at this service instead of digests, as programs are told them."""
    return Emblems(emblem_path(emblems.icon), emblem_path(emblems.cover))
