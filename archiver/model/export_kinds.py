"""Formats of exports.

This module is quick to import, because ``archiver export --help`` needs it.
"""

from dataclasses import dataclass

from archiver.model.message import marked


@dataclass(frozen=True, slots=True)
class ExportKind:
    """An export format.

    Attributes:
        key: name on the command line.
        name: readable name.
        suffix: suffix of file names, without the dot; it also selects the format in URLs.
        media_type: media type of the files.
        holds: description of the contents and of compatible programs.
        is_list: whether it contains links and metadata only, no articles or snapshots.
        most: maximum number of entries; 0 for no limit.
    """

    key: str
    name: str
    suffix: str
    media_type: str
    holds: str
    is_list: bool = False
    most: int = 0


EXPORTS: tuple[ExportKind, ...] = (
    ExportKind(
        "bookmarks",
        marked("Bookmarks (HTML)"),
        "bookmarks.html",
        "text/html; charset=utf-8",
        marked(
            "links with folders, titles, tags, notes, dates and to-read marks, for browsers, "
            "linkding, Pinboard, Raindrop and most other services"
        ),
        is_list=True,
    ),
    ExportKind(
        "json",
        "JSON",
        "json",
        "application/json",
        marked(
            "all metadata of each entry, including tags, notes and highlights; can be imported "
            "again and has a schema"
        ),
        is_list=True,
    ),
    ExportKind(
        "jsonl",
        marked("JSON lines"),
        "jsonl",
        "application/jsonl",
        marked("the same data as JSON, one entry per line, for programs that process large files"),
        is_list=True,
    ),
    ExportKind(
        "csv",
        "CSV",
        "csv",
        "text/csv; charset=utf-8",
        marked(
            "all metadata as a table for spreadsheets; text is never run as a formula; can be"
            " imported again"
        ),
        is_list=True,
    ),
    ExportKind(
        "atom",
        "Atom",
        "atom",
        "application/atom+xml",
        marked("links with titles, tags, notes and dates, for feed readers"),
        is_list=True,
    ),
    ExportKind(
        "opml",
        "OPML",
        "opml",
        "text/x-opml; charset=utf-8",
        marked("a list of subscriptions for feed readers, one per site"),
        is_list=True,
    ),
    ExportKind(
        "markdown",
        "Markdown",
        "markdown.zip",
        "application/zip",
        marked(
            "one folder per entry with its article, images and metadata; entries link to "
            "each other; opens in Obsidian"
        ),
    ),
    ExportKind(
        "md",
        marked("Markdown (one file)"),
        "md",
        "text/markdown; charset=utf-8",
        marked(
            "all articles in one text file, with footnotes and formulas; images and links point "
            "to the web"
        ),
    ),
    ExportKind(
        "epub",
        "EPUB",
        "epub",
        "application/epub+zip",
        marked("articles with their images as a book"),
        most=2_000,
    ),
    ExportKind(
        "html",
        marked("One page (HTML)"),
        "html",
        "text/html; charset=utf-8",
        marked("articles with their images as one self-contained page"),
        most=2_000,
    ),
    ExportKind(
        "warc",
        "WARC",
        "warc.gz",
        "application/warc",
        marked(
            "complete snapshots with your metadata, for pywb and other web archives; can be "
            "imported again (saved searches and empty lists are only in JSON exports)"
        ),
    ),
    ExportKind(
        "wacz",
        "WACZ",
        "wacz",
        "application/wacz+zip",
        marked("complete snapshots in one indexed file, for ReplayWeb.page"),
    ),
)
"""All export formats, in display order."""
BY_KEY = {each.key: each for each in EXPORTS}
BY_SUFFIX = {each.suffix: each for each in EXPORTS}
