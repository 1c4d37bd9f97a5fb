"""Refuses unsafe requests that no page of ours sent, and forms without our token."""

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.model.message import marked
from archiver.web import csrf
from archiver.web.keys import FORM_READ
from archiver.web.pages.refused import send_again, sign_in_anew
from archiver.web.refused_forms import FORM, STREAMED_ROUTES, is_taken, read_form, sent_form

FORM_BYTES = 4 << 20
"""Most bytes a form or a JSON body may have: 10,000 URLs of 300 characters, percent-encoded."""

_FOREIGN = marked("This request was sent by another site, so it was not carried out.")
_STALE = marked(
    "This form is no longer valid: perhaps you signed in or out since it was opened. "
    "Go back, reload the page, and send it again."
)


@web.middleware
async def guard_forms(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Check origin and token before a handler sees the request.

    A JSON body needs no token: another site can't send ``application/json`` without asking first
    (a CORS preflight, which we never grant), and the check of the origin is made all the same.
    """
    unsafe = request.method not in csrf.SAFE_METHODS
    if unsafe and request.match_info.http_exception is None:
        if not csrf.comes_from_us(request):
            raise web.HTTPForbidden(text=_FOREIGN)
        route = request.match_info.route.name or ""
        is_form = not request.path.startswith("/api/") and route not in STREAMED_ROUTES
        if is_form and (refusal := await _refusal_of_form(request)) is not None:
            return refusal
    return await handler(request)


async def _refusal_of_form(request: web.Request) -> web.Response | None:
    """What is answered to a form without our token: what it held, where something was typed."""
    if not is_taken(request):
        raise web.HTTPUnsupportedMediaType(text=f"Send this as {FORM} in UTF-8.")
    form = await read_form(request)
    token = form.get(csrf.FIELD)
    if isinstance(token, str) and csrf.is_valid(request, token):
        request[FORM_READ] = form
        return None
    if request.match_info.route.name == "sign_in" and csrf.is_sent_by_our_page(request):
        return sign_in_anew(request, form)
    sent = sent_form(request, form) if csrf.is_sent_by_our_page(request) else None
    if sent is None:
        raise web.HTTPForbidden(text=_STALE)
    return send_again(request, sent, is_stale=True)
