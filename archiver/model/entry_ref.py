"""What names an entry: for whatever happens to it, before anything else of it has to be known."""

from dataclasses import dataclass

from archiver.model.capture import HashUrl


@dataclass(frozen=True, slots=True)
class EntryRef:
    """An entry, by name.

    Attributes:
        id: its row in the index.
        hash_url: its name everywhere.
        url: serialised, without fragment: what is hashed and fetched.
        host: of the URL, with the port if it is not the scheme's.
    """

    id: int
    hash_url: HashUrl
    url: str
    host: str
