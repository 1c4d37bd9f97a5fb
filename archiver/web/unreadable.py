"""Answers what is no request, or was answered by no handler, before any middleware is asked.

Nothing of the request is repeated, and a line in the log is all it costs: anybody may send such.
"""

from http import HTTPStatus

from aiohttp import web

from archiver.logs import get_log
from archiver.web.middleware.headers import STATED

_UNREADABLE = "The request can't be read: it is not well-formed HTTP/1.1, or too long.\n"
_BROKEN = "Something went wrong here. The log says what.\n"

_log = get_log(__name__)


class Handler(web.RequestHandler):
    """aiohttp's handler of a connection, but for what it says of errors."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer with the headers that all of our answers have, and close the connection.

        Raises:
            ConnectionError: an answer has begun already.
        """
        is_theirs = status < HTTPStatus.INTERNAL_SERVER_ERROR
        if is_theirs:
            _log.info("unreadable_request", client=request.remote, reason=type(exc).__name__)
        else:
            _log.error("request_failed", status=status, reason=message, exc_info=exc or False)
        if request.writer.output_size > 0:
            raise ConnectionError("An answer has begun already.")
        text = _UNREADABLE if is_theirs else _BROKEN
        response = web.Response(status=status, text=text, headers=dict(STATED))
        response.force_close()
        return response
