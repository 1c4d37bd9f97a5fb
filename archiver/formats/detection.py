"""All importers, and detection of a file's format."""

from collections.abc import Callable, Iterator, Sequence

from archiver.errors import UnreadableFile
from archiver.formats.archive_members import Members, TarMembers
from archiver.formats.bibliographies import BIBTEX, RIS
from archiver.formats.browsers import (
    BUKU,
    CHROME_BOOKMARKS,
    CHROME_HISTORY,
    FIREFOX_JSON,
    FIREFOX_JSONLZ4,
    PLACES,
    SAFARI,
)
from archiver.formats.feeds import FEED, JSON_FEED
from archiver.formats.generic import ANY_JSON, ANY_TABLE, ANY_XML, may_have_addresses
from archiver.formats.importer import Importer
from archiver.formats.karakeep import KARAKEEP, KARAKEEP_DATA, KARAKEEP_DUMP
from archiver.formats.linkwarden import LINKWARDEN, LINKWARDEN_ZIP
from archiver.formats.netscape import NETSCAPE, OWN_HTML, is_bookmark_file
from archiver.formats.notes import ENEX, NOTES_ZIP, OWN_MARKDOWN
from archiver.formats.other_programs import OTHER_PROGRAMS
from archiver.formats.outlines import DELICIOUS_XML, OPML, XBEL
from archiver.formats.own_csv import OWN_CSV
from archiver.formats.own_json import OWN_JSON
from archiver.formats.plain_text import PLAIN_TEXT, SHORTCUT
from archiver.formats.read_later_services import OMNIVORE_ZIP, READECK_ZIP
from archiver.formats.refusal import refusal_of
from archiver.formats.saved_pages import MHTML, SINGLE_FILE
from archiver.formats.social import MASTODON, REDDIT_JSON, TELEGRAM, X_ARCHIVE
from archiver.formats.source_file import SourceFile
from archiver.formats.tab_managers import ONETAB, SESSION_BUDDY, TAB_SESSION_MANAGER
from archiver.formats.unread_addresses import AddressCheck
from archiver.formats.zotero_rdf import ZOTERO_RDF
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken

FindImporter = Callable[[SourceFile], Importer | None]
_TEXT_SUFFIXES = ("txt", "csv", "tsv", "md", "markdown", "url", "webloc", "desktop", "org")
_NOT_LISTS = frozenset(
    {
        # Browser data that is exported together with bookmarks.
        *("history.json", "browserhistory.json", "passwords.csv", "paymentcards.json"),
        *("extensions.json", "searchengines.json", "autofill.json", "settings.json"),
        *("addresses and more.json", "device information.json"),
        # Account data in Mastodon's archive.
        *("outbox.json", "actor.json"),
    }
)
"""Names of files with addresses that are not bookmarks."""
_SAVED_ON_REDDIT = frozenset({"saved_posts.csv", "saved_comments.csv"})
"""Tables of saved items in Reddit's archive of an account. The other tables of such an archive,
which contain votes, posts and messages, are not imported.
"""
_MAX_MEMBERS = 20_000
_LEFT_OUT = marked(
    "The archive contains too many files, so this one was not read. Import it separately."
)


def packed_lists(find: FindImporter) -> Importer:
    """Return the importer of an archive; ``find`` returns the importer of a file in it, or None."""

    def read(file: SourceFile) -> Iterator[Bookmark]:
        for inner, importer in _lists(file, find):
            inner.lists = file.lists
            yield from importer.read(inner)
        packed = _archive(file)
        for name in sorted(packed.names if packed else ())[_MAX_MEMBERS:]:
            yield broken(name, _LEFT_OUT)

    return Importer(
        marked("zip file of link lists"),
        lambda file: next(_lists(file, find), None) is not None,
        read,
        ("zip", "tar", "tgz"),
        marked(
            "a zip file of other supported files, such as exports from Pocket, Safari or Google "
            "Takeout"
        ),
    )


def _lists(file: SourceFile, find: FindImporter) -> Iterator[tuple[SourceFile, Importer]]:
    """Yield the files in an archive that are lists of links, each with its importer."""
    packed = _archive(file)
    if packed is None:
        return
    for name in _possible_lists(packed.names):
        with packed.open(name) as member:
            inner = file.inner(member, name)
            importer = find(inner) if inner.head.strip() else None
            if importer and _is_list(inner, importer):
                yield inner, importer


def _possible_lists(names: Sequence[str]) -> list[str]:
    """Return the sorted names of files that may be lists of links, up to a maximum number."""
    bare = {each: each.rpartition("/")[2].lower() for each in names}
    is_reddit = not _SAVED_ON_REDDIT.isdisjoint(bare.values())
    return [
        each
        for each in sorted(names)[:_MAX_MEMBERS]
        if bare[each] not in _NOT_LISTS
        and not (is_reddit and bare[each].endswith(".csv") and bare[each] not in _SAVED_ON_REDDIT)
    ]


def _archive(file: SourceFile) -> Members | TarMembers | None:
    return file.zip or file.tar


def _is_list(file: SourceFile, importer: Importer) -> bool:
    """Return whether a file is a list of links, not a page or program that contains addresses."""
    if importer is NETSCAPE:
        return is_bookmark_file(file.text)
    return importer is not PLAIN_TEXT or file.suffix in _TEXT_SUFFIXES


_PASSWORDS = frozenset({"password", "passwords", "passwort", "loginpassword", "otpauth"})
"""Column names by which a table with passwords is recognised."""

_SINGLE_FILES: tuple[Importer, ...] = (
    OWN_JSON,
    OWN_CSV,
    OWN_HTML,
    *OTHER_PROGRAMS,
    KARAKEEP,
    LINKWARDEN,
    FIREFOX_JSON,
    FIREFOX_JSONLZ4,
    PLACES,
    CHROME_BOOKMARKS,
    CHROME_HISTORY,
    BUKU,
    SAFARI,
    SESSION_BUDDY,
    TAB_SESSION_MANAGER,
    ONETAB,
    MASTODON,
    REDDIT_JSON,
    X_ARCHIVE,
    TELEGRAM,
    RIS,
    BIBTEX,
    JSON_FEED,
    FEED,
    ZOTERO_RDF,
    OPML,
    XBEL,
    DELICIOUS_XML,
    ENEX,
    SHORTCUT,
    MHTML,
    SINGLE_FILE,
    NETSCAPE,
    ANY_XML,
    ANY_JSON,
    ANY_TABLE,
    PLAIN_TEXT,
)
IMPORTERS: tuple[Importer, ...] = (
    OMNIVORE_ZIP,
    READECK_ZIP,
    LINKWARDEN_ZIP,
    KARAKEEP_DUMP,
    KARAKEEP_DATA,
    OWN_MARKDOWN,
    NOTES_ZIP,
    packed_lists(lambda file: _first(_SINGLE_FILES, file)),
    *_SINGLE_FILES,
)
"""All importers, the most specific first. The first importer that recognises a file reads it."""

PAGES = frozenset({MHTML.name, SINGLE_FILE.name})
"""Formats of single pages rather than lists of links."""


def read_all(file: SourceFile, importer: Importer) -> Iterator[Bookmark]:
    """Yield all bookmarks of a file, then a problem for each part of the file that was not read."""
    if not importer.has_other_addresses:
        file.check = AddressCheck()
    for item in importer.read(file):
        if file.check:
            file.check.add_bookmark(item)
        yield item
    if file.zip:
        yield from file.zip.left_out()
    if file.check:
        yield from file.check.problem()


def importer_of(file: SourceFile) -> Importer:
    """Return the importer of a file, based on its content, never on its name alone.

    Raises:
        UnreadableFile: the file is empty, contains passwords, or no importer recognises it.
    """
    if not file.head.strip():
        raise UnreadableFile(
            "{name} is empty. Export your bookmarks again, and import the new file.", name=file.name
        )
    if _has_passwords(file):
        raise UnreadableFile(
            "{name} contains passwords, so it was not read. Delete it.", name=file.name
        )
    importer = ANY_TABLE if file.columns_as and file.table else _first(IMPORTERS, file)
    if importer is None:
        raise refusal_of(file)
    if importer is ANY_TABLE and not (file.columns_as or may_have_addresses(file)):
        raise UnreadableFile(
            "{name} is a table without a URL column. Export it again with the links included.",
            name=file.name,
        )
    return importer


def _first(importers: tuple[Importer, ...], file: SourceFile) -> Importer | None:
    if _has_passwords(file):
        return None
    return next((each for each in importers if each.recognises(file)), None)


def _has_passwords(file: SourceFile) -> bool:
    return bool(_PASSWORDS & file.columns)
