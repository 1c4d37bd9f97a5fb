"""A seed: a URL that can be used, and what the person said of it, before it is in the queue."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from archiver.model.capture import HashUrl


@dataclass(frozen=True, slots=True)
class Seed:
    """What is put into the queue.

    Attributes:
        hash_url: of ``url``.
        url: serialised, without fragment.
        url_given: as the person gave it.
        host: of ``url``.
        added_at: when the person saved it (aware, UTC).
        title: the person's title; empty if none.
        tags: in order, without duplicates.
        note: the person's note.
        source: ``web``, ``cli``, ``api`` or ``import:<file name>``.
    """

    hash_url: HashUrl
    url: str
    url_given: str
    host: str
    added_at: datetime
    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    source: str = ""


class Reception(StrEnum):
    """What became of a seed when it was put into the queue."""

    ADDED = "added"
    KNOWN = "known"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Received:
    """A seed that is safe: its job, where one is open, and how it was received.

    ``ADDED``: a job was made. ``MERGED``: one was open already. ``KNOWN``: it is in the archive.
    """

    hash_url: HashUrl
    url: str
    reception: Reception
    job_id: int | None
