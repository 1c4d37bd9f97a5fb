"""A form that was refused for whoever sent it: what it held, to be sent again by hand."""

from collections.abc import Mapping
from typing import Final

from aiohttp import web
from multidict import MultiMapping

from archiver.model.message import Message
from archiver.web import auth, csrf
from archiver.web.access_views import LoginView, SendAgainView
from archiver.web.keys import FORM_READ, SIGNED_IN
from archiver.web.refused_forms import SentForm, carried_form, sent_form
from archiver.web.refused_words import facts_of
from archiver.web.render import render

_CALLED: Final[Mapping[str, Message]] = {
    "url": Message("Address"),
    "title": Message("Your own title"),
    "note": Message("Note"),
    "tags": Message("Tags, separated by commas"),
    "with_tags": Message("Add tags"),
    "without_tags": Message("Take tags away"),
    "lists": Message("Lists"),
    "with_lists": Message("Put into lists"),
    "without_lists": Message("Take out of lists"),
    "into": Message("A list to put everything into; its folders go below it"),
    "path": Message("List"),
    "name": Message("Name"),
    "new": Message("New name"),
    "query": Message("Search"),
}
"""What people type, by the names of fields; what is not here is chosen, and goes along hidden."""

_AGAIN = Message("Send it again?")
_STALE = Message(
    "Nothing was done yet: you signed in or out since this form was opened. Look whether it still "
    "says what you mean, and send it again."
)
_SIGNED_IN = Message(
    "Nothing was done yet, since you were not signed in any more. Now you are: look whether this "
    "still says what you mean, and send it again."
)
_SIGN_IN_FIRST = Message(
    "You are not signed in any more, so nothing was done yet. What you typed is kept on this page, "
    "and comes back when you have signed in."
)

_SIGN_IN_AND_REPEAT = Message(
    "You are not signed in any more, so nothing was done. Sign in, and do it again."
)
_LATER = Message(
    "What you typed is kept on this page: look in a moment whether it was done, and if it was not, "
    "send it again."
)
_ONCE_MORE = Message("This form was opened too long ago: give the password once more.")


def sign_in_first(request: web.Request, sent: SentForm) -> web.Response:
    """The form for the password, which carries on what was sent without one."""
    view = LoginView("/", problem=_SIGN_IN_FIRST, kept=sent.carried)
    return render(request, "pages/login.html", view, status=401)


def sign_in_and_repeat(request: web.Request, path: str) -> web.Response:
    """The form for the password, which leads to where a form stands that can't be carried on."""
    view = LoginView(path, problem=_SIGN_IN_AND_REPEAT)
    return render(request, "pages/login.html", view, status=401)


def sign_in_anew(request: web.Request, form: MultiMapping[object]) -> web.Response:
    """The form for the password once more, where it was opened too long ago.

    Raises:
        web.HTTPSeeOther: whoever sent it is signed in already, and goes on.
    """
    target, carried = auth.local_path(str(form.get("next", "/"))), carried_form(form)
    if request[SIGNED_IN] and carried:
        return send_again(request, carried, is_stale=True)
    if request[SIGNED_IN]:
        raise web.HTTPSeeOther(target)
    view = LoginView(target, problem=_ONCE_MORE, kept=carried.carried if carried else ())
    return render(request, "pages/login.html", view, status=403)


def send_again(request: web.Request, sent: SentForm, *, is_stale: bool) -> web.Response:
    """The form as it was sent, with a token of now."""
    view = _form_again(sent, _AGAIN, _STALE if is_stale else _SIGNED_IN)
    status = 403 if is_stale else 200
    return render(request, "pages/send_again.html", view, status=status)


def given_back(
    request: web.Request, status: int, title: Message, why: Message
) -> web.Response | None:
    """The form that a request for a page was, where it is refused for now; None if it was none.

    What did not arrive whole can't be given back, nor what no page of ours sent.

    Args:
        request: whose form was read.
        status: of the answer.
        title: of the page.
        why: it was refused.
    """
    form = request.get(FORM_READ)
    if form is None or not csrf.is_sent_by_our_page(request):
        return None
    if request.match_info.route.name == "sign_in":
        carried = carried_form(form)
        if carried is None:
            return None
        target = auth.local_path(str(form.get("next", "/")))
        login = LoginView(target, problem=why, kept=carried.carried)
        return render(request, "pages/login.html", login, status=status)
    sent = sent_form(request, form)
    if sent is None:
        return None
    view = _form_again(sent, title, why, _LATER)
    return render(request, "pages/send_again.html", view, status=status)


def _form_again(
    sent: SentForm, title: Message, why: Message, advice: Message | str = ""
) -> SendAgainView:
    fields = sent.fields
    typed = tuple((name, _CALLED[name], value) for name, value in fields if _is_typed(name, value))
    hidden = tuple((name, value) for name, value in fields if not _is_typed(name, value))
    facts = facts_of(sent.action, hidden)
    return SendAgainView(title, why, sent.action, typed, hidden, facts, advice)


def _is_typed(name: str, value: str) -> bool:
    return name in _CALLED and bool(value.strip())
