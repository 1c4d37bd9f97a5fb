"""What a form held that was refused for whoever sent it: kept on the page that says so.

Nothing of it is kept on our side, and nothing is sent again but by a person: see
docs/decisions/0149-what-was-typed-comes-back.md.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web
from multidict import MultiMapping

from archiver.model.message import marked
from archiver.web import auth, csrf
from archiver.web.keys import LIMITS

FORM = "application/x-www-form-urlencoded"
FORM_WITH_FILE = "multipart/form-data"
STREAMED_ROUTES = frozenset({"upload", "hand_in"})
"""Pages that take a file: their token is the first part of the body, read by ``uploads``."""
FILED = frozenset({"change_feeds"})
"""Routes whose form may hold a small file; larger ones stream."""
KEPT = "kept:"
"""Before the name of each field that the form of the password carries on."""
KEPT_FOR = "kept_for"
_NEVER_BACK = frozenset({"sign_in", "sign_out", "choose_language"})
"""Their forms hold nothing but a password, or nothing that was typed."""
_SECRETS = frozenset({"password", "current"})
_ASKS_AGAIN = "sure"
"""What a form says that was asked already; whoever comes back to it is asked once more."""


@dataclass(frozen=True, slots=True)
class SentForm:
    """A form as it was filled in, but for its token.

    Attributes:
        action: the path of this service that it goes to.
        fields: names and values, in their order.
    """

    action: str
    fields: tuple[tuple[str, str], ...]

    @property
    def carried(self) -> tuple[tuple[str, str], ...]:
        """The fields as the form of the password carries them on."""
        return (KEPT_FOR, self.action), *((KEPT + name, value) for name, value in self.fields)


def is_taken(request: web.Request) -> bool:
    """Whether this is a form as our pages send them."""
    is_file = request.content_type == FORM_WITH_FILE and request.match_info.route.name in FILED
    is_form = request.content_type == FORM or is_file
    return is_form and (request.charset or "utf-8").lower() == "utf-8"


async def read_form(request: web.Request) -> MultiMapping[object]:
    """The fields of a form, within the time and the size that a form may take.

    Raises:
        web.HTTPBadRequest: it is not UTF-8.
        web.HTTPRequestEntityTooLarge: it is larger than ``FORM_BYTES``.
        TimeoutError: it took too long to arrive.
    """
    try:
        async with asyncio.timeout(request.app[LIMITS].body_seconds):
            return await request.post()
    except ValueError:
        raise web.HTTPBadRequest(text=marked("The form is not UTF-8.")) from None


def sent_form(request: web.Request, form: MultiMapping[object]) -> SentForm | None:
    """What is to come back of a form; None where a password or a file is in it."""
    said = tuple((name, value) for name, value in form.items() if isinstance(value, str))
    is_whole = len(said) == len(form)
    if request.match_info.route.name in _NEVER_BACK or _holds_password(request, form):
        return None
    left_out = (csrf.FIELD, _ASKS_AGAIN)
    fields = tuple((name, value) for name, value in said if name not in left_out)
    return SentForm(auth.local_path(request.raw_path), fields) if fields and is_whole else None


def carried_form(form: MultiMapping[object]) -> SentForm | None:
    """What the form of the password carried on of another one."""
    action = form.get(KEPT_FOR)
    if not isinstance(action, str):
        return None
    kept = ((name, value) for name, value in form.items() if name.startswith(KEPT))
    said = ((name, value) for name, value in kept if isinstance(value, str))
    fields = tuple((name.removeprefix(KEPT), value) for name, value in said)
    return SentForm(auth.local_path(action), fields)


def _holds_password(request: web.Request, form: Mapping[str, object]) -> bool:
    is_access = request.match_info.route.name == "change_access"
    return bool(_SECRETS & {*form}) or (is_access and form.get("do") == "set-password")
