"""What describes one route of the API."""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value in the path or the query."""

    name: str
    says: str
    schema: Json
    place: str = "query"


@dataclass(frozen=True, slots=True)
class Operation:
    """One route of the API: what it takes, and what it answers when all is well.

    Attributes:
        method: lower case.
        path: as in the document, with ``{names}``.
        name: of the route, and the ``operationId``.
        says: what it does.
        parameters: in path and query.
        takes: media types of the body with the type of each; ``bytes`` is a file.
        status: of the answer.
        gives: type of the JSON answer; ``str`` is text of ``media_type``.
        media_type: of the answer.
    """

    method: str
    path: str
    name: str
    says: str
    gives: Any
    parameters: tuple[Parameter, ...] = ()
    takes: tuple[tuple[str, Any], ...] = ()
    status: int = 200
    media_type: str = "application/json"
