"""Command line interface."""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from archiver import __version__
from archiver.cli.command_runner import UNCHANGED
from archiver.cli.options import (
    COMMON,
    CRAWL_STOPPED,
    CRAWLING,
    EVERYTHING,
    EXTRACTING,
    AddCommand,
    Command,
    Program,
    export,
    help_option,
    import_options,
    imports_options,
    list_options,
    runs,
)
from archiver.config import GC_THRESHOLDS
from archiver.errors import ArchiverError


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Personal web archive: save, search and read web pages.

    Settings are flags after a command, ARCHIVER_* environment variables, or lines of settings.toml
    in the data directory (~/.local/share/archiver, unless --data says otherwise). Flags override
    variables, and variables override the file. `archiver config` shows and changes settings.
    """


def _write_language(_: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the tables of the search syntax."""
    language = import_module("archiver.search.query_fields")
    with formatter.section("Operators"):
        formatter.write_dl([(each.example, each.means) for each in language.OPERATORS])
    with formatter.section("Filters"):
        rows = [(each.example, f"{each.means} ({each.accepted})") for each in language.FIELDS]
        formatter.write_dl(rows)
    formatter.write_paragraph()
    formatter.write_text(f"Dates: {language.DATES}. All in UTC.")


@cli.command(cls=Command)
@click.option(
    "--remove", is_flag=True, help="Remove the password, so that anyone who can connect has access."
)
@runs("cli.access.password", creates_archive=True, needs_index=False)
def password() -> None:
    """Set, change or remove the password of the web service.

    Asks for it on a terminal, otherwise reads it from standard input. All browsers are signed out;
    a running service applies the change within seconds.
    """


@cli.command(cls=Command)
@runs("cli.maintenance.verify")
def verify() -> None:
    """Check every stored record against its digest.

    Prints the problems, and exits with 1 if there are any.
    """


@cli.command(cls=Command)
@click.option("--dry-run", is_flag=True, help="Only print what would be freed.")
@click.option("--empty-bin", is_flag=True, help="Erase all deleted entries, not only old ones.")
@runs("cli.maintenance.compact", (*COMMON, "bin_days"), first=("bin_days",))
def compact() -> None:
    """Erase entries from disk once their time in the bin is over.

    Erases entries that were deleted more than 30 days ago (--bin-days). This cannot be undone.
    `archiver serve` does this every day.

    Prints how many segment files were rewritten, how many records were erased and how many bytes
    were freed, and a line for each segment that could not be rewritten now.
    """


@cli.command(cls=Command)
@click.option(
    "--accept-missing",
    is_flag=True,
    help="Continue without missing or damaged segments; their snapshots are marked as lost.",
)
@runs("cli.maintenance.run_reindex", needs_index=False, stopped=UNCHANGED)
def reindex() -> None:
    """Rebuild the index from the WARC files.

    Keeps data that is only in the current index: the queue, imports, feeds, edits that are not in a
    WARC file yet, and entries whose records are damaged. If WARC files that the index uses are
    missing, the command names them, leaves the index unchanged and exits with 1.
    """


@cli.command(cls=Command)
@runs("cli.maintenance.machines")
def machines() -> None:
    """List the running workers of an archive on a database server.

    Prints machine, worker, address and start time.
    """


@cli.group(cls=Program)
def cookies() -> None:
    """Manage cookies for pages behind a login.

    Each cookie is sent only to its own host. Cookies are stored in cookies.txt of the data
    directory, readable only by its owner, or in the database server. They are never written to WARC
    files, exports or logs.
    """


@cookies.command("import", cls=Command)
@click.argument(
    "file",
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path),
)
@runs("cli.access.cookies", creates_archive=True, needs_index=False)
def import_cookies() -> None:
    """Import a cookies.txt in Netscape format; "-" reads standard input."""


@cookies.command("list", cls=Command)
@runs("cli.access.cookies", creates_archive=True, needs_index=False)
def list_cookies() -> None:
    """List cookies with host, path, name and expiry date, but without their values."""


@cookies.command("remove", cls=Command)
@click.argument("remove", metavar="HOST")
@runs("cli.access.cookies", creates_archive=True, needs_index=False)
def remove_cookies() -> None:
    """Remove the cookies of a host and its subdomains."""


@cli.group(cls=Program)
def sites() -> None:
    """Manage rules for single sites.

    A rule sets whether a browser is used, the delay between requests, and the user agent; or it
    forbids saving anything. It also applies to subdomains without a rule. A running
    service applies changes within a second.
    """


@sites.command("list", cls=Command)
@runs("cli.maintenance.sites", creates_archive=True, needs_index=False)
def list_sites() -> None:
    """List the rules.

    Prints host, browser, delay, user agent, and whether nothing is saved.
    """


@sites.command("set", cls=Command)
@click.argument("host", metavar="HOST")
@click.option("--render", metavar="MODE", help="Use a browser: auto, always or never.")
@click.option("--delay", metavar="TIME", help="Minimum time between two requests.")
@click.option("--user-agent", metavar="TEXT", help="User-Agent sent with every request.")
@click.option(
    "--never-save/--save",
    default=None,
    help="Never request anything from the site, or allow it again.",
)
@runs("cli.maintenance.set_site", creates_archive=True, needs_index=False)
def set_site() -> None:
    """Change the rule of a host.

    An option with an empty value is removed from the rule.
    """


@sites.command("remove", cls=Command)
@click.argument("host", metavar="HOST")
@runs("cli.maintenance.remove_site", creates_archive=True, needs_index=False)
def remove_site() -> None:
    """Remove the rule of a host; exits with 1 if it has none."""


@cli.command(cls=Command)
@click.option(
    "--to",
    multiple=True,
    required=True,
    metavar="PLACE",
    help="postgresql://user@host/database, s3://bucket/prefix (repeat --to for both), or the word "
    "`folder` for the data directory.",
)
@click.option(
    "--remove", is_flag=True, help="Remove the segments from the old location afterwards."
)
@runs("cli.maintenance.run_migrate", stopped="Stopped. Run the same command again to continue.")
def migrate() -> None:
    """Move the WARC files or the index to a server, or back.

    WARC files can be moved to an object store, the index to a PostgreSQL database. `--to folder`
    moves both back into the data directory. Each copied segment is verified; the index is rebuilt
    and keeps the queue. If interrupted, run the same command again to continue. At the end, all
    records are verified (see `archiver verify`); exits with 1 if there are problems.
    """


_INTERRUPTED = 130


@cli.command(cls=Command)
@runs("web.serve.run", EVERYTHING, first=("host", "port"), creates_archive=True)
def serve() -> None:
    """Run the web service and capture queued pages."""


@cli.command(cls=AddCommand)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Add this tag to the entries; can be repeated.",
)
@runs("cli.entries.add", CRAWLING, first=("render",), creates_archive=True)
def add() -> None:
    """Save URLs.

    Captures each URL, and prints its hash_url, result and title.

    "-" reads URLs from standard input, one per line. With `--render always`, every page is rendered
    in a browser, even if it does not need JavaScript.

    Exits with 1 if any URL failed.
    """


@cli.command("import", cls=Command)
@import_options
@runs("cli.imports.import_file", CRAWLING, creates_archive=True)
def import_() -> None:
    """Import bookmarks or archives, and capture the links.

    FILE is an export of a browser or service, any text with URLs, or an archive (WARC, WACZ); "-"
    reads standard input. The format is detected.

    Prints the number of links: "added", "known" (already saved), "merged" (already saved, with new
    metadata), "unusable".
    """


@cli.command(cls=Command)
@runs(
    "cli.crawl.crawl",
    CRAWLING,
    first=("articles", "render"),
    creates_archive=True,
    stopped=CRAWL_STOPPED,
)
def crawl() -> None:
    """Capture queued pages until the queue is empty.

    With `--articles later`, articles are not extracted until `archiver extract` runs.
    """


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option(
    "--below",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="All entries with a lower capture quality; 0.5 and 50 mean 50%.",
)
@runs("cli.crawl.recapture", CRAWLING, first=("render",), stopped=CRAWL_STOPPED)
def recapture() -> None:
    """Capture incomplete entries again, to fill gaps.

    Captures the given entries, or all entries with missing files. Files fetched within the last day
    are not fetched again. An entry is skipped, and counted as "gone", if the server answered 404 or
    410 for all its missing files in the last two snapshots. Give the URL of such an entry to retry
    it.

    Exits with 1 if any given entry failed, and prints why.
    """


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option("--query", metavar="WORDS", help="Only results of this search.")
@runs("cli.crawl.rescue", CRAWLING, stopped=CRAWL_STOPPED)
def rescue() -> None:
    """Recover missing pages from public archives.

    Looks for the given entries, or for all entries without a snapshot. Set the archives with
    --rescue (wayback, archive.today, arquivo.pt, aggregator, or TimeGate URLs). For each page, the
    copy closest to the date when you saved the link is stored.
    """


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option("--query", metavar="WORDS", help="Also change all results of this search.")
@click.option("--title", metavar="TITLE", help='Your title; "" restores the title of the page.')
@click.option("--note", metavar="NOTE", help="Your note; replaces the old one.")
@click.option("--tag", "with_tags", multiple=True, metavar="TAG", help="Add a tag.")
@click.option("--untag", "without_tags", multiple=True, metavar="TAG", help="Remove a tag.")
@click.option("--list", "with_folders", multiple=True, metavar="PATH", help="Add to a list.")
@click.option(
    "--unlist", "without_folders", multiple=True, metavar="PATH", help="Remove from a list."
)
@click.option("--read/--unread", "is_read", default=None, help="Mark as read or unread.")
@click.option("--star/--unstar", "is_starred", default=None, help="Star, or remove the star.")
@click.option("--undo", type=int, metavar="NUMBER", help="Undo the edit with this number.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@runs("cli.entries.edit")
def edit() -> None:
    """Edit titles, notes, tags and lists, and mark entries as read or starred.

    Changes the given entries, or the results of a search. The options for tags and lists can be
    repeated. Prints how many entries were found, how many changed, and a number to undo the edit
    with; the last 20 edits can be undone.
    """


@cli.command(cls=Command)
@click.option("--make", metavar="PATH", help="Create a list; Recipes/Soups is nested.")
@click.option("--query", default="", metavar="WORDS", help="With --make: save this search.")
@click.option("--rename", nargs=2, metavar="PATH NEW", help="Rename or move a list.")
@click.option(
    "--delete", metavar="PATH", help="Delete a list and its nested lists; entries are kept."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@runs("cli.lists.lists")
def lists() -> None:
    """Show, create, rename or delete lists.

    Prints the path of each list, the number of its entries including nested lists, and the query of
    a saved search. After a change, only the changed lists are printed. To add entries, use
    `archiver edit --list`. `archiver search list:PATH` prints them in list order.
    """


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option("--query", metavar="WORDS", help="Delete all results of this search.")
@click.option(
    "--snapshot", metavar="TIMESTAMP", help="Delete only the snapshot of this time (14 digits)."
)
@click.option("--undo", type=int, metavar="NUMBER", help="Undo the deletion with this number.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@runs("cli.entries.delete")
def delete() -> None:
    """Delete entries.

    Deletes the given entries, or the results of a search. They go to the bin, with all their
    snapshots. Prints how many entries and snapshots were deleted, and a number to undo it with.
    `archiver bin` lists and restores what was deleted in the last 30 days.
    """


@cli.command(cls=Command, context_settings={"ignore_unknown_options": True})
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Return to the default.")
@runs("cli.maintenance.config", ("data",))
def config() -> None:
    """Show or change settings.

    `config` prints name, value and source of each setting: default, settings.toml, environment or
    command line. `config NAME` prints one. `config NAME VALUE` stores it in settings.toml in the
    data directory; NAME may also be the flag or variable, such as --retries or ARCHIVER_RETRIES.
    A running `archiver serve` uses a new value after a restart, or after Save on its Settings page.
    """


@cli.command("bin", cls=Command)
@click.argument("action", type=click.Choice(["list", "restore", "empty"]), default="list")
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@runs("cli.maintenance.bin_", (*COMMON, "bin_days"), first=("bin_days",))
def bin_() -> None:
    """List, restore or erase deleted entries.

    `list` prints the date of deletion, title and URL of each entry, most recently deleted first.

    `restore URL...` restores these entries with all their snapshots; without a URL it restores
    everything in the bin.

    `empty` erases everything in the bin from disk. This cannot be undone.
    """


@cli.command(cls=Command)
@click.option(
    "--again", is_flag=True, help="Re-extract articles that were extracted by an older version."
)
@click.option("--query", default="", metavar="WORDS", help="Only results of this search.")
@click.option(
    "--diff", is_flag=True, help="Print changed paragraphs, with the changed words marked."
)
@runs("cli.crawl.extract", EXTRACTING, first=("extract_processes",))
def extract() -> None:
    """Extract postponed articles (--articles later).

    `archiver serve` does this automatically when the queue is empty.

    With --again, articles that an older version extracted are extracted again from the stored
    bytes. Prints timestamp, words added, words removed and URL of each snapshot whose text changed.
    """


@cli.command(cls=Command)
@imports_options
@runs("cli.imports.imports")
def imports() -> None:
    """List imports; undo, pause or resume one, or retry its failures.

    Without an action, prints number, date, phase, file and progress of the newest imports. Phases:
    reading, waiting (the next `archiver serve` continues), capturing, paused, incomplete, done.

    `undo NUMBER` deletes the entries that only this import added, and prints how many. It keeps
    entries that you have changed since then, or that another import contains. The number it prints
    is for `archiver delete --undo`.

    `failed NUMBER` prints the reasons for failures, with counts; `again NUMBER` retries them.

    `capture NUMBER` queues the entries that this import saved as links only.

    `pause NUMBER` stops the captures of this import, and `resume NUMBER` continues them; other jobs
    are not affected.
    """


@cli.command("list", cls=Command)
@list_options
@runs("cli.listing.listing")
def list_() -> None:
    """List entries, newest first.

    Prints a table on a terminal, otherwise tab-separated values: hash_url, date, state, title, URL.
    Commands accept the short id shown in the table instead of a URL.
    """


@cli.command(cls=Command)
@click.argument(
    "action",
    type=click.Choice(["list", "follow", "unfollow", "import", "export", "check"]),
    default="list",
)
@click.argument("what", metavar="[ADDRESS|FILE]", default="")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="With follow: tag for its entries; can be repeated.",
)
@click.option("--everything", is_flag=True, help="With follow and import: also save current items.")
@runs("cli.feeds.feeds", CRAWLING)
def feeds() -> None:
    """Follow feeds; `archiver serve` saves their new items.

    `list` prints URL, last check (UTC), number of saved links, title and problem of each feed.

    `follow ADDRESS` and `unfollow ADDRESS` take the URL of a feed, or of a page that links to one.

    `import FILE` reads an OPML file; `export FILE` writes one (default: standard output).

    `check` checks all feeds now, and exits with 1 if one could not be read.
    """


@cli.command(cls=Command)
@click.argument("words", nargs=-1, required=True)
@click.option("--exit-status", is_flag=True, help="Exit with 1 if nothing is found, as grep does.")
@list_options
@help_option("--help-words", "the search syntax", _write_language)
@runs("cli.listing.listing")
def search() -> None:
    """Search entries.

    All words must occur in the title, text, note, tags, author or URL. Prints the same columns as
    `list`: on a terminal the best matches, elsewhere all, newest first. Put words that begin with
    "-" after "--".
    """


@cli.command(cls=Command)
@click.argument("ref", metavar="URL|HASH_URL")
@click.option("--at", "timestamp", metavar="TIMESTAMP", help="The snapshot closest to this time.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@runs("cli.entries.show")
def show() -> None:
    """Show an entry: its details, its snapshots, its article as text.

    The first four or more characters of the hash_url are enough.

    TIMESTAMP is UTC, 4 to 14 digits: YYYYMMDDhhmmss, or the beginning of that.
    """


cli.add_command(export)


def main() -> None:
    """Run the program (entry point)."""
    gc.set_threshold(*GC_THRESHOLDS)
    _replace_closed_outputs()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    status = run(sys.argv[1:])
    gc.freeze()  # otherwise the interpreter searches all objects for cycles at exit, for 0.25 s
    sys.exit(status)


def _replace_closed_outputs() -> None:
    """Replace outputs that the caller closed (``2>&-``) by the null device."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nothing = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
            setattr(sys, name, nothing)


_DRIVERS = ("asyncpg", "obstore")
"""Packages of servers, which an installation may lack."""


def run(arguments: Sequence[str]) -> int:
    """Run one command, and print expected errors as a line on standard error.

    Returns: 0 on success, 1 on failure, 2 for invalid arguments or settings, 128 plus the signal's
    number after a signal.
    """
    try:
        status = cli.main(list(arguments), prog_name="archiver", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        # The program that reads the output has exited, so there is nothing to report.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except ArchiverError as error:
        return _fail(str(error))
    except ModuleNotFoundError as error:
        advice = "Install archiver again with its dependencies."
        if error.name in _DRIVERS:
            advice = f"Run `{sys.executable} -m pip install {error.name}`."
        status = _fail(f"The package {error.name} is not installed. {advice}")
    except OSError as error:
        what = error.strerror or str(error)
        return _fail(f"{error.filename}: {what}." if error.filename else f"{what}.")
    return status if isinstance(status, int) else 0


def _fail(message: str) -> int:
    click.echo(f"archiver: {message}", err=True)
    return 1
