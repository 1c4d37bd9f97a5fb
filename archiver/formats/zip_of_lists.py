"""A zip or tar archive that holds lists of links: each of its files is read as if given alone."""

from collections.abc import Callable, Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.netscape import NETSCAPE, is_bookmark_file
from archiver.formats.plain_text import PLAIN_TEXT
from archiver.formats.tar_members import TarMembers
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

FindImporter = Callable[[GivenFile], Importer | None]
_TEXTS = ("txt", "csv", "tsv", "md", "markdown", "url", "webloc", "desktop", "org")
_NOT_LISTS = ("history.json", "passwords.csv", "paymentcards.json", "extensions.json")
"""What browsers put beside bookmarks, and nobody means to import with them."""
_MOST_MEMBERS = 20_000
_LEFT_OUT = marked("Only so many files of an archive are read: give this one by itself.")


def zip_of_lists(find: FindImporter) -> Importer:
    """The importer; ``find`` tells what reads a file within, if anything does."""

    def read(file: GivenFile) -> Iterator[Bookmark]:
        for _, inner, importer in _lists(file, find):
            inner.lists = file.lists
            yield from importer.read(inner)
        packed = _archive(file)
        for name in sorted(packed.names if packed else ())[_MOST_MEMBERS:]:
            yield unreadable(name, _LEFT_OUT)

    def fits(file: GivenFile) -> bool:
        return next(_lists(file, find), None) is not None

    return Importer(
        marked("zip of lists"),
        fits,
        read,
        ("zip", "tar", "tgz"),
        marked(
            "any zip with such files in it: Pocket's, Safari's and Google Takeout's "
            "exports among them"
        ),
    )


def _lists(file: GivenFile, find: FindImporter) -> Iterator[tuple[str, GivenFile, Importer]]:
    packed = _archive(file)
    if packed is None:
        return
    for name in sorted(packed.names)[:_MOST_MEMBERS]:
        if name.rpartition("/")[2].lower() in _NOT_LISTS:
            continue
        with packed.open(name) as member:
            inner = GivenFile(member, name)
            importer = find(inner) if inner.head.strip() else None
            if importer and _is_list(inner, importer):
                yield name, inner, importer


def _archive(file: GivenFile) -> Members | TarMembers | None:
    return file.zip or file.tar


def _is_list(file: GivenFile, importer: Importer) -> bool:
    """Whether it is a list, and no page or program that happens to have addresses in it."""
    if importer is NETSCAPE:
        return is_bookmark_file(file.text)
    return importer is not PLAIN_TEXT or file.suffix in _TEXTS
