"""A seed: a URL that can be used, and what the person says of it, on its way to the queue."""

from dataclasses import dataclass
from enum import StrEnum

from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl


@dataclass(frozen=True, slots=True)
class Seed:
    """What is put into the queue.

    Attributes:
        hash_url: of ``url``.
        url: serialised, without fragment.
        host: of ``url``.
        annotation: what the person says of it; it is known when that was.
    """

    hash_url: HashUrl
    url: str
    host: str
    annotation: Annotation


@dataclass(frozen=True, slots=True)
class RevisedSeed:
    """A seed as a record holds it: how often its annotation had been changed by then.

    ``is_link``: it is kept as a link, which nobody is to capture.
    """

    seed: Seed
    revision: int
    is_link: bool = False


class Reception(StrEnum):
    """What became of a seed when it was put into the queue."""

    ADDED = "added"
    KNOWN = "known"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Received:
    """A seed that is safe: its job, where one is open, and how it was received.

    ``ADDED``: an entry or a job was made. ``KNOWN``: it was here. ``MERGED``: so it was, and waits
    already; of an import: and the seed says more than that, or comes again.
    """

    hash_url: HashUrl
    url: str
    reception: Reception
    job_id: int | None
