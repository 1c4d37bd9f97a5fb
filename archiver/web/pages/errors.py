"""Pages for what went wrong, in words that say what to do next."""

from aiohttp import web

from archiver.errors import InvalidUrl
from archiver.model.message import Message
from archiver.urls.parse import parse_url
from archiver.web.render import render
from archiver.web.views import AbsentView, ErrorView

TITLES = {
    400: Message("Bad Request"),
    401: Message("Unauthorized"),
    403: Message("Forbidden"),
    404: Message("Not Found"),
    405: Message("Method Not Allowed"),
    408: Message("Request Timeout"),
    413: Message("Request Entity Too Large"),
    415: Message("Unsupported Media Type"),
    422: Message("Unprocessable Entity"),
    429: Message("Too Many Requests"),
    500: Message("Internal Server Error"),
    503: Message("Service Unavailable"),
}
"""What pages of errors are called (RFC 9110 §15)."""


def error_page(request: web.Request, status: int, message: Message) -> web.Response:
    """The page of an error."""
    title = TITLES.get(status, Message("Something went wrong"))
    return render(request, "pages/error.html", ErrorView(status, message, title), status=status)


def not_in_archive(
    request: web.Request, url: str, *, is_framed: bool = False, home: str = ""
) -> web.Response:
    """The page that says a URL was never captured, and offers to capture it.

    Below the banner of another page stands a frame where no form works, and links lead out of it;
    ``home`` is where to, where replay has an origin of its own.
    """
    try:
        parse_url(url)
        can_capture = True
    except InvalidUrl:
        can_capture = False
    view = AbsentView(url, can_capture, is_framed, home)
    return render(request, "pages/absent.html", view, status=404)
