"""Why a page could not be saved, in the language of the page that says so.

A failure is kept with an English sentence, which knows more than its kind (a host, a limit). In
English that is shown; in another language the kind and the status are worded, in whole sentences.
"""

from typing import Final

from archiver.model.failure import Failure, FailureKind
from archiver.model.message import Message, marked
from archiver.model.subscription import NO_FEED, FeedState
from archiver.web.wording import Wording

ANSWERED: Final = marked("The server answered {status}.")
SENTENCES: Final = {
    FailureKind.DNS: marked("The name of the host leads nowhere."),
    FailureKind.REFUSED: marked("The host refused the connection."),
    FailureKind.TLS: marked("The certificate of the host is not valid."),
    FailureKind.TIMEOUT: marked("There was no answer in time."),
    FailureKind.DISCONNECTED: marked("The connection broke off."),
    FailureKind.PROTOCOL: marked("The answer is no HTTP that a browser would show."),
    FailureKind.HTTP_STATUS: marked("The server answered with an error."),
    FailureKind.RESTING: marked("The host asked to be left alone for a while."),
    FailureKind.TOO_LARGE: marked("It is larger than the settings allow."),
    FailureKind.TOO_MANY_REDIRECTS: marked("The address leads to another, and so on without end."),
    FailureKind.BLOCKED_ADDRESS: marked(
        "It is at a private address. To allow it name its network, such as 192.168.1.0/24, in "
        "ARCHIVER_ALLOW_NETWORKS, or behind `archiver serve` with --allow-networks."
    ),
    FailureKind.INVALID_URL: marked("This is no address that can be kept."),
    FailureKind.NOT_A_PAGE: marked("There is no page to keep."),
    FailureKind.NOT_IN_FILE: marked("The imported file does not hold it."),
    FailureKind.WALLED: marked(
        "A check for people stands in place of the page. What your own browser saves of it can be "
        "imported."
    ),
    FailureKind.PARKED: marked("The domain is for sale; the page is gone."),
    FailureKind.NOT_ARCHIVED: marked("No public archive that was asked has it."),
    FailureKind.NOT_RESCUED: marked("Public archives could not be asked."),
    FailureKind.CANCELLED: marked("You cancelled it."),
    FailureKind.LOST: marked("It was lost with the machine that had it, before it was uploaded."),
    FailureKind.INTERNAL: marked("Something went wrong here; the log says what."),
}
SHORT: Final = {
    FailureKind.DNS: marked("the name leads nowhere"),
    FailureKind.REFUSED: marked("the connection was refused"),
    FailureKind.TLS: marked("the certificate is not valid"),
    FailureKind.TIMEOUT: marked("no answer in time"),
    FailureKind.DISCONNECTED: marked("the connection broke off"),
    FailureKind.PROTOCOL: marked("the answer is no HTTP"),
    FailureKind.HTTP_STATUS: marked("the server answered with an error"),
    FailureKind.RESTING: marked("the host asked to be left alone"),
    FailureKind.TOO_LARGE: marked("too large"),
    FailureKind.TOO_MANY_REDIRECTS: marked("redirects without end"),
    FailureKind.BLOCKED_ADDRESS: marked("a private address"),
    FailureKind.INVALID_URL: marked("no address"),
    FailureKind.NOT_A_PAGE: marked("no page"),
    FailureKind.NOT_IN_FILE: marked("not in the file"),
    FailureKind.WALLED: marked("a check for people stood before the page"),
    FailureKind.PARKED: marked("the domain is for sale"),
    FailureKind.NOT_ARCHIVED: marked("no public archive has it"),
    FailureKind.NOT_RESCUED: marked("public archives could not be asked"),
    FailureKind.CANCELLED: marked("cancelled by you"),
    FailureKind.LOST: marked("lost with a machine"),
    FailureKind.INTERNAL: marked("something went wrong here"),
}
"""The same as the row of a table says it."""


def why(wording: Wording, failure: Failure) -> str:
    """A failure in a sentence."""
    if wording.is_source:
        return failure.message
    if failure.kind is FailureKind.HTTP_STATUS and failure.status:
        return wording.worded(Message(ANSWERED, status=str(failure.status)))
    return wording.translated(SENTENCES[failure.kind])


def why_no_feed(wording: Wording, state: FeedState) -> str:
    """Why a feed could not be read the last time; in English where that is all that is known."""
    if wording.is_source or not state.reason:
        return state.problem
    return reason(wording, state.reason)


def sentences(wording: Wording) -> dict[str, str]:
    """Every sentence by its kind, for a script; none where failures say their own."""
    if wording.is_source:
        return {}
    return {kind.value: wording.translated(text) for kind, text in SENTENCES.items()}


def answered(wording: Wording) -> str:
    """What a script says of a status, which goes where ``{status}`` stands."""
    return wording.translated(ANSWERED)


def reason(wording: Wording, text: str) -> str:
    """A reason as entries are grouped by it: a kind, with the status where there was one."""
    kind, _, status = text.partition(" ")
    if kind == NO_FEED:
        return wording.translated(marked("what is there is no feed"))
    if status:
        return wording.worded(Message(marked("the server answered {status}"), status=status))
    return wording.translated(SHORT[FailureKind(kind)]) if kind in SHORT else kind
