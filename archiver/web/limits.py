"""What one client may take of the service: seconds, bytes and connections."""

import resource
from dataclasses import dataclass, replace
from typing import Self

_SHARE_OF_FILES = 4
_FEWEST = 8


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of one server. Tests give shorter ones.

    Attributes:
        head_seconds: from a connection's beginning, or the last answer on it, to the end of the
            next request's head; so also how long a connection may be idle.
        body_seconds: for the whole of a form or a JSON body.
        upload_seconds: for the next bytes of an upload.
        connections: open at the same time.
        loopback_connections: further ones for who is on this machine, such as a health check.
        request_line_bytes: of a request's first line; a capture's address holds another URL.
        field_bytes: of one header field.
        fields: header fields of one request.
        drain_seconds: for answers under way when the service stops.
    """

    head_seconds: float = 15
    body_seconds: float = 60
    upload_seconds: float = 60
    connections: int = 512
    loopback_connections: int = 16
    request_line_bytes: int = 32 << 10
    field_bytes: int = 8 << 10
    fields: int = 100
    drain_seconds: float = 3

    @property
    def files(self) -> int:
        """Open files that all of the connections take."""
        return self.connections + self.loopback_connections

    def fit_to_machine(self) -> Self:
        """As many connections as a quarter of the open files allowed to this process, at most."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard == resource.RLIM_INFINITY:
            return self
        room = max(hard // _SHARE_OF_FILES - self.loopback_connections, _FEWEST)
        return replace(self, connections=min(self.connections, room))
