"""A link that came with its page."""

from dataclasses import dataclass

from archiver.model.kept_page import KeptPage
from archiver.model.seed import Seed


@dataclass(frozen=True, slots=True)
class SavedPage:
    """What a file held of one link.

    Attributes:
        seed: the link.
        page: what was kept of it.
        is_dated: whether the file tells when the link was saved.
    """

    seed: Seed
    page: KeptPage
    is_dated: bool
