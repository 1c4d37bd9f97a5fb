"""Exceptions.

The tree::

    ArchiverError
    ├── InputError              invalid input from a user or client
    │   ├── InvalidUrl          not a URL a browser would accept, or not http(s)
    │   ├── InvalidQuery        a search that can't be parsed; has the position
    │   ├── UnreadableFile      a file that is empty, of the wrong kind, or not text
    │   └── TooLarge            over a limit; the message names it
    ├── NotFound                the entry, snapshot or import does not exist
    │   ├── InBin               an entry that was deleted and can be restored
    │   └── NotInArchive        a URL that was never captured
    ├── ConfigurationError      settings or files with which the program can't run
    │   ├── IndexOutdated       an index of an earlier version, to be rebuilt
    │   ├── IndexNewer          an index of a newer or unknown version
    │   ├── DiskNotWritable     a full or read-only disk
    │   └── IndexDamaged        an index that is damaged or not a database
    ├── FetchError              no response was received; carries a Failure
    ├── BrowserError            a browser operation failed
    │   ├── NoBrowser           no browser is installed, or it can't start
    │   ├── BrowserGone         the browser exited, or was killed for using too much memory
    │   ├── PageGone            a page crashed, or was killed for using too much memory
    │   └── PageTooLarge        the rendered page is over the size limit
    ├── InvalidResponse         a server's response is not valid HTTP
    └── StoreError              stored data is wrong or can't be accessed
        ├── IndexUnavailable    the index can't be read or written now
        │   └── IndexNotWritable    the disk is full or read-only
        ├── RecordsMissing      a reindex would lose entries of the current index
        ├── StoreUnavailable    the object store can't be read or written now
        ├── InvalidRecord       not a WARC record, or one whose digest is wrong
        └── TruncatedRecord     a truncated record

A message is a sentence for the user and says what to do next.
"""

from archiver.model.failure import Failure
from archiver.model.message import Message, marked


class ArchiverError(Exception):
    """Base class of all exceptions of this program; catch it only at entry points.

    The message is English, with named placeholders for values (``model.message``).

    Attributes:
        sentence: the message with its values, for translation.
    """

    def __init__(self, text: str = "", /, **values: object) -> None:
        self.sentence = Message(text, **values)
        super().__init__(str(self.sentence))


class InputError(ArchiverError):
    """Invalid input; the message says what would be valid."""


URL_TOO_LONG = marked("The URL is longer than {most} characters.")
OTHER_SCHEME = marked("Only http and https URLs can be saved, not “{scheme}:”.")
NO_SCHEME = marked("The URL must start with https:// or http://. Did you mean {meant}?")


class InvalidUrl(InputError):
    """Not a URL a browser would accept (WHATWG URL), or its scheme is not http(s)."""


class InvalidQuery(InputError):
    """A search that can't be parsed.

    Attributes:
        message: reason why the search is invalid, without the position.
        at: index of the first invalid character.
        length: number of invalid characters.
        suggestion: the corrected query; empty if unknown.
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
    """Input over a limit; the message names the limit and the setting that changes it."""


class NotFound(ArchiverError):
    """The entry, snapshot or import does not exist."""


class InBin(NotFound):
    """An entry that was deleted and can be restored."""


class NotInArchive(NotFound):
    """A URL that was never captured.

    Attributes:
        url: the requested URI-R.
    """

    def __init__(self, url: str) -> None:
        super().__init__("{url} is not in the archive.", url=url)
        self.url = url


class ConfigurationError(ArchiverError):
    """Settings or files with which the program can't run."""


class IndexOutdated(ConfigurationError):
    """The index was written by an earlier version and has to be rebuilt."""


class IndexNewer(ConfigurationError):
    """The index was written by a newer or an unknown version."""


class IndexDamaged(ConfigurationError):
    """The index is damaged or not a database."""


class DiskNotWritable(ConfigurationError):
    """The disk of the data directory is full or read-only; reading may still be possible."""


class FetchError(ArchiverError):
    """No response was received.

    Attributes:
        failure: reason as it is stored with the attempt.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class BrowserError(ArchiverError):
    """A browser operation failed."""


class NoBrowser(BrowserError):
    """No browser is installed, or it can't start; the message says what to do."""


class BrowserGone(BrowserError):
    """The browser exited, or was killed for using too much memory."""


class PageGone(BrowserError):
    """A browser page crashed, or was killed for using too much memory; other pages continue."""


class PageTooLarge(BrowserError):
    """A rendered page is over the size limit."""


class InvalidResponse(ArchiverError):
    """A server's response is not valid HTTP."""


class StoreError(ArchiverError):
    """Stored data is wrong or can't be accessed.

    Attributes:
        offset: byte offset of the affected record in its segment, if known.
    """

    offset: int | None = None


class IndexUnavailable(StoreError):
    """The index can't be read or written now: the disk is full, or another process has a lock.

    Attributes:
        is_damaged: the file is damaged, so trying again does not help.
    """

    is_damaged = False


class IndexNotWritable(IndexUnavailable):
    """The index can't be written, because the disk is full or read-only."""


class RecordsMissing(StoreError):
    """A reindex would lose entries, because segments or records are missing."""


class StoreUnavailable(StoreError):
    """The object store is unreachable, denies access, or does not have the bucket."""


class InvalidRecord(StoreError):
    """Not a WARC record (ISO 28500), or a record with a digest that does not match its block."""


class TruncatedRecord(StoreError):
    """A truncated record: the tail of a segment whose writer was killed."""
