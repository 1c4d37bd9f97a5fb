"""A bucket of an S3-compatible object store, and what can go wrong with it, in our words.

The one module that knows obstore; it is imported only where ``ARCHIVER_STORE`` is set. Endpoint,
region and credentials are read from the environment by obstore, by their usual names (``AWS_…``).
Every function blocks, with a bound. What the store answers is never passed on: the explanation of
a refused signature holds parts of what was signed.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import obstore
from obstore import exceptions
from obstore.store import S3Store

from archiver.errors import StoreUnavailable

LISTED_AT_ONCE = 1000
RETRIES = 2
RETRY_SECONDS = 10.0
CONNECT_SECONDS = 5.0
SILENT_SECONDS = 20.0
TRANSFER_SECONDS = 300.0
"""One request in all: the largest segment over a slow line."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REFUSALS = frozenset(
    {"AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "ExpiredToken"}
)
_NO_BUCKET = "NoSuchBucket"
_OTHER_CLOCK = "RequestTimeTooSkewed"
_NO_RANGES = frozenset({"InvalidRange", "416"})
_CODE = re.compile(r"<Code>(\w{1,64})</Code>")
_STATUS = re.compile(r"\b(?:status|code):? ?(\d{3})\b")
_REFUSED = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)


class NoBucket(StoreUnavailable):
    """There is no bucket of that name, or no more."""


class _NoSuchRange(StoreUnavailable):
    """An object ends before what was asked for of it, or has nothing at all."""


class Bucket:
    """The objects below a prefix of a bucket, each by the rest of its name.

    Raises:
        StoreUnavailable: by every method; the store does not answer, or refuses.
        NoBucket: by every method, where the store says that there is no such bucket.
        FileNotFoundError: by those that name an object, if it is not there.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        name, _, prefix = address.removeprefix("s3://").partition("/")
        endpoint = next((os.environ[each] for each in _ENDPOINTS if os.environ.get(each)), "")
        self._objects = S3Store(
            name,
            prefix=prefix or None,
            config={"endpoint": endpoint} if endpoint else None,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "read_timeout": timedelta(seconds=SILENT_SECONDS),
                "timeout": timedelta(seconds=TRANSFER_SECONDS),
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            },
        )

    def check(self) -> None:
        """See that the bucket is there and answers."""
        next(self.sizes(), None)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Every object: its name and its bytes."""
        with _in_our_words():
            for some in obstore.list(self._objects, chunk_size=LISTED_AT_ONCE):
                yield from ((each["path"], each["size"]) for each in some)

    def size(self, name: str) -> int:
        """Bytes of an object."""
        with _in_our_words():
            return obstore.head(self._objects, name)["size"]

    def read(self, name: str, start: int, end: int) -> tuple[bytes, int]:
        """The bytes of an object from one to before another, and how many it has in all."""
        try:
            with _in_our_words():
                found = obstore.get(self._objects, name, options={"range": (start, end)})
                return bytes(found.bytes()), found.meta["size"]
        except _NoSuchRange:
            return b"", self.size(name)

    def create(self, name: str, path: Path) -> bool:
        """Put a file under a name that is free; whether it was. Nothing is ever overwritten."""
        try:
            with _in_our_words():
                obstore.put(self._objects, name, path, mode="create", use_multipart=False)
        except exceptions.AlreadyExistsError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Delete an object; nothing happens if there is none."""
        with _in_our_words():
            obstore.delete(self._objects, name)


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except exceptions.AlreadyExistsError:
        raise
    except (exceptions.BaseError, OSError, ValueError) as error:
        why = _why(str(error))
        if why == _NO_BUCKET:
            raise NoBucket("The bucket of the object store is gone. Make it again.") from None
        if isinstance(error, FileNotFoundError):
            raise
        if why in _NO_RANGES:
            raise _NoSuchRange(
                "The object store has less of an object than it should. Run `archiver verify`."
            ) from None
        if why == _OTHER_CLOCK:
            raise StoreUnavailable(
                "The object store refuses what this machine asks: their clocks differ. Set the "
                "clock of this machine right."
            ) from None
        if why in _REFUSALS or isinstance(error, _REFUSED):
            raise StoreUnavailable(
                "The object store refuses the credentials. Set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY to some that may list, read, write and delete in the bucket."
            ) from None
        raise StoreUnavailable(
            "The object store does not answer as it should ({why}). Try again later.", why=why
        ) from None


def _why(text: str) -> str:
    """What of an error may be told to anybody."""
    if found := _CODE.search(text) or _STATUS.search(text):
        return found[1]
    return "no answer in time" if "timed out" in text or "timeout" in text else "no connection"
