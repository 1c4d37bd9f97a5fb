"""What a form that comes back is about, in words: where it stands, and what it would do there."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from archiver.model.message import Message

_PLACES: Final[Sequence[tuple[re.Pattern[str], str, Message]]] = (
    (re.compile("/add"), "/", Message("Save pages")),
    (re.compile(r"(/[0-9a-f]{32}/).+"), "", Message("An entry")),
    (re.compile("/(?:edit|delete|restore|undo|rescue)"), "/snapshots", Message("Browse")),
    (re.compile("/tags"), "/tags", Message("Tags")),
    (re.compile("/lists(?:/order)?"), "/lists", Message("Lists")),
    (re.compile("/feeds"), "/feeds", Message("Feeds")),
    (re.compile("/crawl"), "/crawl", Message("Crawl")),
    (re.compile("/access"), "/access", Message("Access")),
    (re.compile("/export.*"), "/export", Message("Export")),
    (re.compile("/import.*"), "/import", Message("Import")),
)
"""By the path that a form goes to: the page it stands on; empty where the path names it."""
_DONE: Final[Mapping[tuple[str, str], Message]] = {
    ("do", "add"): Message("Mark"),
    ("do", "again"): Message("Try again"),
    ("do", "cancel"): Message("Cancel all that waits…"),
    ("do", "change"): Message("Save"),
    ("do", "delete"): Message("Delete"),
    ("do", "down"): Message("Down"),
    ("do", "follow"): Message("Follow"),
    ("do", "look"): Message("Check now"),
    ("do", "make"): Message("Make a list"),
    ("do", "make-token"): Message("Make a token"),
    ("do", "pause"): Message("Pause"),
    ("do", "remove"): Message("Take away"),
    ("do", "rename"): Message("Rename"),
    ("do", "rescue"): Message("Ask public archives"),
    ("do", "resume"): Message("Go on"),
    ("do", "take-all"): Message("Capture all"),
    ("do", "unfollow"): Message("Unfollow"),
    ("do", "up"): Message("Up"),
    ("is_read", "0"): Message("Mark as unread"),
    ("is_read", "1"): Message("Mark as read"),
    ("is_starred", "0"): Message("take the star away"),
    ("is_starred", "1"): Message("star"),
    ("where", "down"): Message("Down"),
    ("where", "first"): Message("To the top"),
    ("where", "last"): Message("To the end"),
    ("where", "up"): Message("Up"),
}
"""By a field and its value, which is the button that was pressed."""
_BY_PATH: Final[Sequence[tuple[str, Message]]] = (
    ("/add", Message("Save")),
    ("/edit", Message("Save")),
    ("/delete", Message("Delete")),
    ("/undo", Message("Undo")),
    ("/restore", Message("Undo")),
    ("/rescue", Message("Ask public archives")),
    ("/read-again", Message("Read it again")),
    ("/again", Message("Try again")),
    ("/capture", Message("Capture them now")),
)
"""By how the path ends, where no button says more."""
_COLOURS: Final[Mapping[str, Message]] = {
    "yellow": Message("yellow"),
    "green": Message("green"),
    "blue": Message("blue"),
    "pink": Message("pink"),
}

Fact = tuple[Message, Message | str, str]
"""What is told, its value, and where that leads; empty where it leads nowhere."""


def facts_of(action: str, fields: Sequence[tuple[str, str]]) -> tuple[Fact, ...]:
    """What a form is about that no field shows which a person types into.

    Args:
        action: the path that it goes to.
        fields: names and values.
    """
    found = (
        *_place(action.partition("?")[0]),
        *((Message("What it does"), each, "") for each in _deeds(action, fields)),
        *(
            (Message("Colour"), _COLOURS[value], "")
            for name, value in fields
            if name == "colour" and value in _COLOURS
        ),
    )
    entries = sum(name == "entry" for name, _ in fields)
    if not entries:
        return found
    return *found, (Message("Entries"), str(entries), "")


def _place(path: str) -> tuple[Fact, ...]:
    for pattern, leads_to, name in _PLACES:
        if matched := pattern.fullmatch(path):
            return ((Message("Page"), name, leads_to or matched[1]),)
    return ()


def _deeds(action: str, fields: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    pressed = tuple(_DONE[field] for field in fields if field in _DONE)
    by_path = (name for end, name in _BY_PATH if action.partition("?")[0].endswith(end))
    return pressed or tuple(by_path)[:1]
