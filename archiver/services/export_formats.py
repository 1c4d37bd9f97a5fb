"""Export formats."""

from dataclasses import dataclass

from archiver.formats.feeds import ATOM
from archiver.formats.list_writer import ListForm
from archiver.formats.netscape import BOOKMARKS_HTML
from archiver.formats.outlines import OPML_HOSTS
from archiver.formats.own_csv import CSV
from archiver.formats.own_json import JSON, JSON_LINES, schema_text
from archiver.model.message import marked


@dataclass(frozen=True, slots=True)
class ExportKind:
    """An export format.

    Attributes:
        key: name on the command line.
        name: readable name.
        suffix: of files, without the dot; also selects the format in URLs.
        media_type: of files.
        holds: contents and compatible programs.
        form: how a list is written; None if it contains pages instead of a list.
        most: maximum number of entries; 0 for no limit.
    """

    key: str
    name: str
    suffix: str
    media_type: str
    holds: str
    form: ListForm | None = None
    most: int = 0


EXPORTS: tuple[ExportKind, ...] = (
    ExportKind(
        "bookmarks",
        marked("Bookmarks (HTML)"),
        "bookmarks.html",
        "text/html; charset=utf-8",
        marked(
            "links with folders, titles, tags, notes, dates and to-read; every browser "
            "reads it, and linkding, Pinboard, Raindrop and most other services"
        ),
        BOOKMARKS_HTML,
    ),
    ExportKind(
        "json",
        "JSON",
        "json",
        "application/json",
        marked(
            "everything about each entry, including tags, notes and highlights; can be imported "
            "again, has a schema"
        ),
        JSON,
    ),
    ExportKind(
        "jsonl",
        marked("JSON lines"),
        "jsonl",
        "application/jsonl",
        marked("the same as JSON, one entry per line, for programs that read line by line"),
        JSON_LINES,
    ),
    ExportKind(
        "csv",
        "CSV",
        "csv",
        "text/csv; charset=utf-8",
        marked(
            "all metadata as a table, for spreadsheets; no cell is a formula; can be imported again"
        ),
        CSV,
    ),
    ExportKind(
        "atom",
        "Atom",
        "atom",
        "application/atom+xml",
        marked("links with titles, tags, notes and dates, for feed readers"),
        ATOM,
    ),
    ExportKind(
        "opml",
        "OPML",
        "opml",
        "text/x-opml; charset=utf-8",
        marked("the sites that the entries are from, each once, for what follows sites"),
        OPML_HOSTS,
    ),
    ExportKind(
        "markdown",
        "Markdown",
        "markdown.zip",
        "application/zip",
        marked(
            "a folder for each entry with its article, its pictures and what you said, "
            "linked among each other; opens in Obsidian"
        ),
    ),
    ExportKind(
        "md",
        marked("Markdown (one file)"),
        "md",
        "text/markdown; charset=utf-8",
        marked(
            "articles as one text, with footnotes and formulas; pictures and links by their "
            "addresses on the web"
        ),
    ),
    ExportKind(
        "epub",
        "EPUB",
        "epub",
        "application/epub+zip",
        marked("articles with their pictures as a book"),
        most=2_000,
    ),
    ExportKind(
        "html",
        marked("One page (HTML)"),
        "html",
        "text/html; charset=utf-8",
        marked("articles with their pictures as one page that needs nothing else"),
        most=2_000,
    ),
    ExportKind(
        "warc",
        "WARC",
        "warc.gz",
        "application/warc",
        marked(
            "snapshots with all that belongs to them, and what you said of them; pywb and "
            "other archives open it, and it reads back here (searches you keep and empty lists "
            "are in JSON alone)"
        ),
    ),
    ExportKind(
        "wacz",
        "WACZ",
        "wacz",
        "application/wacz+zip",
        marked(
            "snapshots with all that belongs to them, as one package with its index, as "
            "ReplayWeb.page opens it"
        ),
    ),
)
"""In display order."""
BY_KEY = {each.key: each for each in EXPORTS}
BY_SUFFIX = {each.suffix: each for each in EXPORTS}


def schema() -> str:
    """Return the JSON Schema of JSON exports."""
    return schema_text()
