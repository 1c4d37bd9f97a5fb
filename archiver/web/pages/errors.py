"""Pages for what went wrong, in words that say what to do next."""

from aiohttp import web

from archiver.errors import InvalidUrl
from archiver.model.message import Message
from archiver.urls.parse import parse_url
from archiver.web.render import render
from archiver.web.views import AbsentView, ErrorView

TITLES = {
    400: Message("This can't be done"),
    401: Message("Sign in first"),
    403: Message("This is not open to you"),
    404: Message("Not found"),
    405: Message("This can't be done here"),
    408: Message("That took too long"),
    413: Message("This is too much at once"),
    415: Message("This kind can't be read"),
    422: Message("This can't be read"),
    429: Message("Too many tries"),
    500: Message("Something went wrong here"),
    503: Message("Not to be had just now"),
}
"""What pages of errors are called: what it means to a person, not its name (RFC 9110 §15)."""


def error_page(request: web.Request, status: int, message: Message) -> web.Response:
    """Render the page of an error."""
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
