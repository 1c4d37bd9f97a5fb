"""Error middleware.

The JSON format is ``{"error": {"code": "not_found", "message": "A sentence."}}``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from archiver import errors
from archiver.logs import get_log
from archiver.model.message import Message
from archiver.web.app_keys import ORIGIN, SESSION, SIGNED_IN
from archiver.web.client_limits import Full
from archiver.web.responses import message_of

ErrorPage = Callable[[web.Request, int, Message], web.Response]
"""Renderer of an error page: (request, HTTP status, message)."""

_log = get_log(__name__)

_BY_CLASS: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.InvalidUrl, 400, "invalid_url"),
    (errors.UnreadableFile, 422, "unreadable_file"),
    (errors.TooLarge, 413, "too_large"),
    (errors.InputError, 400, "invalid_input"),
    (errors.NotInArchive, 404, "not_in_archive"),
    (errors.NotFound, 404, "not_found"),
    (errors.IndexUnavailable, 503, "index_unavailable"),
    (errors.StoreUnavailable, 503, "store_unavailable"),
    (errors.StoreError, 500, "store_error"),
    (errors.ArchiverError, 500, "error"),
    (Full, 503, "too_many_listeners"),
    (TimeoutError, 408, "timeout"),
)
"""The first match is used, so subclasses come before their base classes."""

_SAYS = {
    400: Message("The request can't be understood."),
    404: Message("There is nothing at this address."),
    405: Message("This address does not take such a request."),
    408: Message("The request took too long to arrive."),
    413: Message("This is more than one request may hold: send a file with the import instead."),
    500: Message("Something went wrong here. The log says what."),
    503: Message("Too many pages are listening for news: close some, or ask again later."),
}
_OPERATORS: dict[type[Exception], Message] = {
    errors.IndexUnavailable: Message(
        "The index of this archive can't be reached now. Try again in a moment; if that goes on, "
        "the log of the service says why."
    ),
}
"""Messages that hide details for the operator, such as the address of the database."""
_FATAL = 500
_GONE = 499
"""Status in the metrics for a client that disconnected; never sent."""
_CODES = {413: "too_large"}
_PLAIN_ROUTES = frozenset({"healthz", "metrics", "static"})
_KEPT_HEADERS = ("Allow", "Retry-After", "WWW-Authenticate")


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as reported: status, a code for programs, a message for users."""

    status: int
    code: str
    message: Message
    headers: dict[str, str] = field(default_factory=dict)


def error_middleware(error_page: ErrorPage) -> Middleware:
    """Return the middleware, with a renderer of error pages."""

    @web.middleware
    async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
        request[SIGNED_IN], request[ORIGIN], request[SESSION] = False, "", ""
        try:
            return await handler(request)
        except web.HTTPException as answer:
            if answer.status < HTTPStatus.BAD_REQUEST:
                raise
            return _render(request, _of_http(answer), error_page)
        except ConnectionError:
            if request.transport is not None and not request.transport.is_closing():
                raise
            return web.Response(status=_GONE)  # the client disconnected, so nothing is wrong
        except Exception as error:
            if request.writer.output_size > 0:
                raise  # the response has started, so it can only be aborted
            return _render(request, _of(error, request), error_page)

    return answer_errors


def _of_http(answer: web.HTTPException) -> Problem:
    given = answer.text or ""
    usual = given == f"{answer.status}: {answer.reason}" or answer.status in _CODES
    phrase = HTTPStatus(answer.status).phrase
    return Problem(
        status=answer.status,
        code=_CODES.get(answer.status, phrase.lower().replace(" ", "_").replace("-", "_")),
        message=_SAYS.get(answer.status, Message(f"{phrase}.")) if usual else message_of(answer),
        headers={name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers},
    )


def _of(error: Exception, request: web.Request) -> Problem:
    for kind, status, code in _BY_CLASS:
        if isinstance(error, kind):
            if status >= _FATAL and kind is not Full:
                _log.error("request_failed", route=request.match_info.route.name, exc_info=error)
            return Problem(
                status, code, _OPERATORS.get(kind) or _message_of(error) or _SAYS[status]
            )
    _log.error("request_failed", route=request.match_info.route.name, exc_info=error)
    return Problem(_FATAL, "internal", _SAYS[_FATAL])


def _message_of(error: Exception) -> Message:
    if isinstance(error, errors.InvalidQuery):
        return Message(
            "{problem} (At character {place} of the search.)",
            problem=error.sentence,
            place=error.at + 1,
        )
    return error.sentence if isinstance(error, errors.ArchiverError) else Message(str(error))


def _render(request: web.Request, problem: Problem, error_page: ErrorPage) -> web.Response:
    if request.path.startswith("/api/"):
        shape = {"error": {"code": problem.code, "message": str(problem.message)}}
        response = web.json_response(shape, status=problem.status)
    elif request.match_info.route.name in _PLAIN_ROUTES:
        response = web.Response(status=problem.status, text=f"{problem.message}\n")
    else:
        response = error_page(request, problem.status, problem.message)
    response.headers.update(problem.headers)
    return response
