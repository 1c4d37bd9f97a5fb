"""A zip or tar archive that holds lists of links: each of its files is read as if given alone."""

from collections.abc import Callable, Iterator, Sequence

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.netscape import NETSCAPE, is_bookmark_file
from archiver.formats.plain_text import PLAIN_TEXT
from archiver.formats.tar_members import TarMembers
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark, broken
from archiver.model.message import marked

FindImporter = Callable[[GivenFile], Importer | None]
_TEXTS = ("txt", "csv", "tsv", "md", "markdown", "url", "webloc", "desktop", "org")
_NOT_LISTS = frozenset(
    {
        # What browsers put beside bookmarks.
        *("history.json", "browserhistory.json", "passwords.csv", "paymentcards.json"),
        *("extensions.json", "searchengines.json", "autofill.json", "settings.json"),
        *("addresses and more.json", "device information.json"),
        # What Mastodon's archive has of a person themselves.
        *("outbox.json", "actor.json"),
    }
)
"""Files with addresses in them that nobody means to import with their lists."""
_SAVED_ON_REDDIT = frozenset({"saved_posts.csv", "saved_comments.csv"})
"""Beside these, tables are of votes, posts and messages: of all that Reddit knows of somebody."""
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
            yield broken(name, _LEFT_OUT)

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
    for name in _that_may_be_lists(packed.names):
        with packed.open(name) as member:
            inner = file.inner(member, name)
            importer = find(inner) if inner.head.strip() else None
            if importer and _is_list(inner, importer):
                yield name, inner, importer


def _that_may_be_lists(names: Sequence[str]) -> list[str]:
    """As many as are read, in order."""
    bare = {each: each.rpartition("/")[2].lower() for each in names}
    is_reddit = not _SAVED_ON_REDDIT.isdisjoint(bare.values())
    return [
        each
        for each in sorted(names)[:_MOST_MEMBERS]
        if bare[each] not in _NOT_LISTS
        and not (is_reddit and bare[each].endswith(".csv") and bare[each] not in _SAVED_ON_REDDIT)
    ]


def _archive(file: GivenFile) -> Members | TarMembers | None:
    return file.zip or file.tar


def _is_list(file: GivenFile, importer: Importer) -> bool:
    """Whether it is a list, and no page or program that happens to have addresses in it."""
    if importer is NETSCAPE:
        return is_bookmark_file(file.text)
    return importer is not PLAIN_TEXT or file.suffix in _TEXTS
