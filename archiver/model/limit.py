"""Limits that a page met while a browser showed it, and what is said of each."""

from collections.abc import Iterable
from enum import StrEnum

from archiver.model.message import Message


class Limit(StrEnum):
    """What kept a browser from showing all of a page; stored by these names.

    Those from ``TIME`` on kept it from being read: it is kept as it was sent.
    """

    LOADING = "loading"
    RESTLESS = "restless"
    SCROLLING = "scrolling"
    REQUESTS = "requests"
    BYTES = "bytes"
    ANSWER = "answer"
    HEIGHT = "height"
    PICTURES = "pictures"
    TIME = "time"
    SIZE = "size"
    TAB = "tab"
    BROWSER = "browser"
    UNREADABLE = "unreadable"

    @property
    def sentence(self) -> Message:
        """A sentence about a page that met it."""
        return _SAID[self]


_SAID = {
    Limit.LOADING: Message("It was still loading when it was read."),
    Limit.RESTLESS: Message("It never came to rest: this is how it stood at one moment."),
    Limit.SCROLLING: Message("It still went on when the time for scrolling was over."),
    Limit.REQUESTS: Message("It asked for more things than are fetched for one page."),
    Limit.BYTES: Message("It loads more bytes than are fetched for one page."),
    Limit.ANSWER: Message("It asked for something that is larger than is fetched."),
    Limit.HEIGHT: Message("It is longer than a picture of it may be."),
    Limit.PICTURES: Message("There was no time to make all pictures of it."),
    Limit.TIME: Message("A browser had no more time for it before it could be read."),
    Limit.SIZE: Message("What its scripts made of it is larger than is kept of one page."),
    Limit.TAB: Message("Its tab in the browser ended, or was ended for the memory it took."),
    Limit.BROWSER: Message("The browser that showed it ended."),
    Limit.UNREADABLE: Message("It could not be read in the browser that showed it."),
}


def known_limits(names: Iterable[object]) -> tuple[Limit, ...]:
    """The limits of these names, each once; names of a later version are passed over.

    >>> known_limits(["time", "rhyme", "time"])
    (<Limit.TIME: 'time'>,)
    """
    every = {each.value: each for each in Limit}
    found = (every.get(name) for name in names if isinstance(name, str))
    return tuple(dict.fromkeys(each for each in found if each))
