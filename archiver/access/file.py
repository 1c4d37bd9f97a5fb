"""``access.json``: password, tokens and sessions as JSON."""

import json
from dataclasses import asdict
from typing import Any, Final

from archiver.errors import ConfigurationError
from archiver.model.access import Access, Scope, Session, Token

NAME: Final = "access.json"


def write_access(access: Access) -> bytes:
    """Return the JSON of an ``Access``."""
    return json.dumps(asdict(access), indent=1).encode()


def read_access(held: bytes | None, place: str) -> Access:
    """Parse the JSON of ``write_access``; None means that nothing is set.

    Args:
        held: the JSON.
        place: where it was found, for the message.

    Raises:
        ConfigurationError: it is not what ``write_access`` wrote.
    """
    if held is None:
        return Access()
    try:
        return _parse(held)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(
            f"{place} can't be read. Put back what was there, or delete it: then "
            "there is no password, no token and no session, and `archiver password` sets a "
            "new one."
        ) from error


def _parse(held: bytes) -> Access:
    document: dict[str, Any] = json.loads(held)
    password = document["password"]
    if password is not None and not isinstance(password, str):
        raise TypeError("a password is kept as text")
    return Access(
        password,
        tuple(Token(**{**each, "scope": Scope(each["scope"])}) for each in document["tokens"]),
        tuple(Session(**each) for each in document["sessions"]),
    )
