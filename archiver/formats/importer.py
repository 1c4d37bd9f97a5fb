"""What a reader of one kind of file offers: all that is known of a format stands in its line."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from archiver.formats.given_file import GivenFile
from archiver.model.bookmark import Bookmark


@dataclass(frozen=True, slots=True)
class Importer:
    """One kind of file.

    Attributes:
        name: what a person calls this kind of file, such as ``Netscape HTML``; marked for
            translation where it is more than names.
        recognises: whether a file is of this kind; looks at its head, reads nothing away.
        read: reads to the end, once: linear time, no error whatever the bytes. What can't be
            read is a bookmark with a ``problem``.
        suffixes: of such files, without the dot, for the dialog that chooses one.
        origin: who writes such files and where it is found there; empty if that needs no saying.
        says_all_tags: what it says of folders is among its tags where it is to be; their names
            are not made tags again.
    """

    name: str
    recognises: Callable[[GivenFile], bool]
    read: Callable[[GivenFile], Iterator[Bookmark]]
    suffixes: tuple[str, ...] = ()
    origin: str = ""
    says_all_tags: bool = False
