"""Why rows can't be read, where several readers say it, and where what they say has a detail.

A receipt keeps the English sentence, which programs read. A page words it in its own language:
one without a detail is a text like any other, and ``with_detail`` tells those apart that have one.
"""

import re

from archiver.model.message import Message, marked

NO_ADDRESS = marked("This row holds no address.")
NO_ROW = marked("This is no row of the list.")
NESTED = marked("This is nested too deep.")
FOLDER_NESTED = marked("This folder is nested too deep.")
HIDDEN = marked(
    "{detail} addresses in comments or scripts of this file are not read. Remove the comment marks "
    "and import it again if they are bookmarks."
)
NO_LINK = marked("From here on there are tags and no link: the rest is not read.")

NO_JSON = marked("This is no JSON that can be read: {detail}.")
DATABASE_ENDS = marked("The database can't be read any further: {detail}.")
TABLE_ENDS = marked("The table can't be read any further here: {detail}.")
NO_PROPERTY_LIST = marked("This property list can't be read: {detail}.")
TOO_LONG = marked("The address is longer than {most} characters.")
OTHER_SCHEME = marked("Only http and https addresses can be kept, and this one is “{scheme}:”.")
NO_SCHEME = marked("The address has no scheme. Did you mean {meant}?")
_WITH_DETAIL = (
    HIDDEN,
    NO_JSON,
    DATABASE_ENDS,
    TABLE_ENDS,
    NO_PROPERTY_LIST,
    OTHER_SCHEME,
    NO_SCHEME,
    TOO_LONG,
)
_VALUE = re.compile(r"\\\{(\w+)\\\}")
_PATTERNS = [
    (text, re.compile(_VALUE.sub(r"(?P<\1>.*)", re.escape(text)), re.DOTALL))
    for text in _WITH_DETAIL
]


def problem_of(text: str, detail: object) -> str:
    """One of the sentences above with its detail."""
    return str(Message(text, detail=str(detail)))


def with_detail(reason: str) -> Message | str:
    """A reason as it stands in a receipt, as what words it: itself, where it has no detail."""
    for text, pattern in _PATTERNS:
        if found := pattern.fullmatch(reason):
            return Message(text, **found.groupdict())
    return reason


def as_message(reason: str) -> Message:
    """A reason as it stands in a receipt, as what goes into another sentence."""
    found = with_detail(reason)
    return Message(found) if isinstance(found, str) else found
