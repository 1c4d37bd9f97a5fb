"""Exceptions.

The tree::

    ArchiverError
    ├── InputError              what a person or a client gave can't be used
    │   ├── InvalidUrl          not a URL a browser would accept, or not http(s)
    │   ├── InvalidQuery        a search that can't be read; knows the place
    │   ├── UnreadableFile      a file that is empty, of the wrong kind, or not text
    │   └── TooLarge            over a limit that the message names
    ├── NotFound                no such entry, snapshot or import
    │   └── NotInArchive        a URL that was never captured
    ├── ConfigurationError      settings that contradict each other or the machine
    │   └── IndexOutdated       an index of an earlier version, to be rebuilt
    ├── FetchError              a response could not be had; carries a Failure
    ├── BrowserError            a browser did not do what it was to do
    │   ├── NoBrowser           there is none, or it can't be started here
    │   ├── BrowserGone         it ended, or was ended for the memory it took
    │   ├── PageGone            one page of it did
    │   └── PageTooLarge        what scripts made of a page is more than is taken
    ├── InvalidResponse         what a server sent is no response that a browser would show
    └── StoreError              the bytes on disk are not what they must be
        ├── IndexUnavailable    the index can't be read or written now
        ├── RecordsMissing      a reindex would lose what the current index knows
        ├── StoreUnavailable    segments that lie elsewhere can't be read or written now
        ├── InvalidRecord       not a WARC record, or one whose digest is wrong
        └── TruncatedRecord          a record that ends too early

A message is a sentence for the person who meets it and says what to do next.
"""

from archiver.model.failure import Failure
from archiver.model.message import Message


class ArchiverError(Exception):
    """The root: catch this at an edge, never in the middle.

    Its text is English, with named places for values (``model.message``).

    Attributes:
        said: the sentence, for whoever words it in another language.
    """

    def __init__(self, text: str = "", /, **values: object) -> None:
        self.sentence = Message(text, **values)
        super().__init__(str(self.sentence))


class InputError(ArchiverError):
    """What was given can't be used; the message says what would be."""


class InvalidUrl(InputError):
    """Not a URL a browser would accept (WHATWG URL), or its scheme is not http(s)."""


class InvalidQuery(InputError):
    """A search that can't be read.

    Attributes:
        message: why not, without the place.
        at: the first character of what can't be, from 0.
        length: of it, in characters.
        suggestion: the whole query as it was probably meant; empty if nobody knows.
    """

    def __init__(
        self, text: str, /, *, at: int, length: int, suggestion: str = "", **values: object
    ) -> None:
        super().__init__(text, **values)
        self.message = str(self.sentence)
        self.at = at
        self.length = length
        self.suggestion = suggestion

    def __str__(self) -> str:
        return f"{self.message} (At character {self.at + 1:,} of the search.)"


class UnreadableFile(InputError):
    """A file that is empty, of the wrong kind, or not text."""


class TooLarge(InputError):
    """Over a limit; the message names the limit and the setting that moves it."""


class NotFound(ArchiverError):
    """No such entry, snapshot or import."""


class NotInArchive(NotFound):
    """A URL that was never captured.

    Attributes:
        url: the URI-R that was asked for.
    """

    def __init__(self, url: str) -> None:
        super().__init__("{url} is not in the archive.", url=url)
        self.url = url


class ConfigurationError(ArchiverError):
    """Settings that contradict each other or the machine."""


class IndexOutdated(ConfigurationError):
    """The index was written by an earlier version and has to be rebuilt."""


class FetchError(ArchiverError):
    """A response could not be had.

    Attributes:
        failure: the typed reason, kept with the attempt.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class BrowserError(ArchiverError):
    """A browser did not do what it was to do."""


class NoBrowser(BrowserError):
    """There is no browser, or it can't be started here; the message says what would help."""


class BrowserGone(BrowserError):
    """The browser ended, or was ended for the memory it took."""


class PageGone(BrowserError):
    """One page of a browser ended, or was ended for the memory it took; others go on."""


class PageTooLarge(BrowserError):
    """A page as it stands is larger than is taken of one."""


class InvalidResponse(ArchiverError):
    """What a server sent is no HTTP response that a browser would show."""


class StoreError(ArchiverError):
    """The bytes on disk are not what they must be.

    Attributes:
        offset: the byte of the segment where the record in question starts, if that is known.
    """

    offset: int | None = None


class IndexUnavailable(StoreError):
    """The index can't be read or written now: the disk is full, or another process holds it."""


class RecordsMissing(StoreError):
    """A reindex would lose entries, because segments or records are missing."""


class StoreUnavailable(StoreError):
    """Segments that lie elsewhere can't be had now: no answer, a refusal, or not there yet."""


class InvalidRecord(StoreError):
    """Not a WARC record (ISO 28500), or one whose digest does not match its block."""


class TruncatedRecord(StoreError):
    """A record that ends too early: the tail of a segment whose writer was killed."""
