"""Command line interface."""

import gc
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from archiver import __version__
from archiver.cli.command_runner import run_body
from archiver.cli.options import (
    COMMON,
    CRAWLING,
    EVERYTHING,
    EXTRACTING,
    AddCommand,
    Command,
    ImportCommand,
    export,
    flag,
    help_option,
    import_options,
    imports_options,
    list_options,
    with_settings,
)
from archiver.config import GC_THRESHOLDS, SETTINGS, Settings, variable
from archiver.errors import ArchiverError


class Program(click.Group):
    """All commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what stands before the command.

        Raises:
            click.UsageError: it is not known there.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            setting = next((each for each in SETTINGS if flag(each) == error.option_name), None)
            if setting is None:
                raise
            raise click.UsageError(
                f"{error.option_name} goes behind the command, and counts for that alone: "
                f"archiver COMMAND {error.option_name} … For every command set "
                f"{variable(setting)}.",
                ctx,
            ) from None


def _write_language(_: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the tables of the language."""
    language = import_module("archiver.search.query_fields").LANGUAGE
    with formatter.section("Together"):
        formatter.write_dl([(each.example, each.means) for each in language.operators])
    with formatter.section("Fields"):
        rows = [(each.example, f"{each.means} ({each.takes})") for each in language.fields]
        formatter.write_dl(rows)
    formatter.write_paragraph()
    formatter.write_text(f"Dates: {language.dates}. All in UTC.")


class SearchCommand(Command):
    """``archiver search``."""

    further = help_option("--help-words", "what can be asked, besides words", _write_language)


@click.command(cls=Command)
@click.option("--remove", is_flag=True, help="Let everybody in who can connect.")
@with_settings(COMMON)
def password(settings: Settings, *, remove: bool) -> int:
    """Set the password of the web service, or another one: asked for, or a line of input.

    It signs everybody out; a running service knows it within seconds.
    """
    return run_body("password", settings, remove=remove)


@click.command(cls=Command)
@with_settings(COMMON)
def verify(settings: Settings) -> int:
    """Read everything back and check it; prints what is wrong.

    Exits with 1 if anything is.
    """
    return run_body("verify", settings)


@click.command(cls=Command)
@click.option("--dry-run", is_flag=True, help="Only say what would be freed.")
@with_settings(COMMON)
def compact(settings: Settings, *, dry_run: bool) -> int:
    """Erase what was thrown away: it leaves the disk, and can't be undone any more.

    Prints how many segments were written anew, how many records were erased, how many bytes that
    freed, and a line for each segment that had to be left for now.
    """
    return run_body("compact", settings, dry_run=dry_run)


@click.command(cls=Command)
@click.option(
    "--accept-missing",
    is_flag=True,
    help="Build the index even if entries of missing or damaged segments are lost.",
)
@with_settings(COMMON)
def reindex(settings: Settings, *, accept_missing: bool) -> int:
    """Rebuild the index from the WARC files.

    If segments are missing that the current index uses, the command names them, leaves the index
    as it is and exits with 1.
    """
    return run_body("reindex", settings, accept_missing=accept_missing)


@click.command(cls=Command)
@click.option("--unsealed", is_flag=True, help="List the segments that are not uploaded.")
@click.option("--forget", metavar="NAME", help="Give up a machine that is lost for good.")
@with_settings(COMMON)
def machines(settings: Settings, *, unsealed: bool, forget: str | None) -> int:
    """List the workers that are alive at an index on a server.

    Prints the machine, whether it is this one, the worker, its address, and since when it works.
    Exits with 1 if there are none.

    With --unsealed prints the segments that are not uploaded yet: machine, whether it is this one,
    segment, bytes. With --forget notes for each entry which snapshots were lost with a machine.
    """
    return run_body("machines", settings, unsealed=unsealed, forget=forget)


@click.group()
def cookies() -> None:
    """Cookies for the crawl, for pages that know you: sent to their own hosts alone.

    They are stored in cookies.txt of the data directory, readable only by its owner; on servers
    they are in the database. They are written into no WARC file, export or log.
    """


@cookies.command("import", cls=Command)
@click.argument(
    "file",
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path),
)
@with_settings(COMMON)
def import_cookies(settings: Settings, file: Path) -> int:
    """Keep the cookies of a cookies.txt in Netscape's format; "-" reads standard input."""
    return run_body("cookies", settings, file=file)


@cookies.command("list", cls=Command)
@with_settings(COMMON)
def list_cookies(settings: Settings) -> int:
    """List what is kept: host, path, name, last day; never a value."""
    return run_body("cookies", settings)


@cookies.command("remove", cls=Command)
@click.argument("host", metavar="HOST")
@with_settings(COMMON)
def remove_cookies(settings: Settings, host: str) -> int:
    """Forget the cookies of a host and of those beneath it."""
    return run_body("cookies", settings, remove=host)


@click.command(cls=Command)
@click.option(
    "--to",
    multiple=True,
    required=True,
    metavar="PLACE",
    help="folder, or postgresql://user@host/database, s3://bucket/prefix, or both of these.",
)
@click.option("--from", "from_", multiple=True, metavar="PLACE", help="Where it lies, to be sure.")
@click.option("--remove", is_flag=True, help="Remove segments where they lay, in the end.")
@with_settings(COMMON)
def migrate(
    settings: Settings, *, to: tuple[str, ...], from_: tuple[str, ...], remove: bool
) -> int:
    """Move the archive: its segments between folder and store, its index between file and server.

    Each segment is read back before it counts; the index is built anew, and takes along what
    waits. Broken off, the same command goes on. In the end everything is checked as `archiver
    verify` does; exits with 1 if anything is wrong.
    """
    return run_body("migrate", settings, to=to, from_=from_, remove=remove)


UPKEEP = (cookies, machines, password, verify, compact, reindex, migrate)

_INTERRUPTED = 130


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Keep the pages you link to, and read them for ever.

    Every setting is a flag and a variable; a flag wins over its variable, and both over the
    default. A flag goes behind its command and counts for that alone, a variable for all of them.
    """


@cli.command(cls=Command)
@with_settings(EVERYTHING, first=("host", "port"))
def serve(settings: Settings) -> int:
    """Serve the archive and capture what is queued."""
    return run_body("serve", settings)


@cli.command(cls=AddCommand)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag them; can be repeated.")
@with_settings(CRAWLING, first=("render",))
def add(settings: Settings, urls: tuple[str, ...], tags: tuple[str, ...]) -> int:
    """Capture URLs now; prints hash_url, result and title of each.

    "-" reads them from standard input, one a line. With --render a browser shows them before they
    are kept, whether they need one or not.

    Exits with 1 if any of them failed.
    """
    return run_body("add", settings, urls=urls, tags=tags)


@cli.command("import", cls=ImportCommand)
@import_options
@with_settings(CRAWLING)
def import_(settings: Settings, file: Path, **wanted: object) -> int:
    """Read a list of bookmarks into the queue, then capture them.

    FILE is what a browser or a service exported, or any text with URLs in it; or an archive file
    (WARC, WACZ), whose captures are taken in as they are; "-" reads standard input. What kind it
    is, is found out.

    Of the links that are read, "added" are new, "known" were here and the file says nothing new
    of them, "merged" were here, or came before in the file, and got what it says beyond that, and
    "unusable" can't be kept.
    """
    return run_body("import_", settings, file=file, **wanted)


@cli.command(cls=Command)
@with_settings(CRAWLING, first=("articles", "render"))
def crawl(settings: Settings) -> int:
    """Capture what is queued until nothing is.

    With --articles later it leaves the articles to `archiver extract`.
    """
    return run_body("crawl", settings)


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option(
    "--below",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Those kept worse than that; as a share up to 1, too.",
)
@with_settings(CRAWLING, first=("render",))
def recapture(settings: Settings, refs: tuple[str, ...], below: float | None) -> int:
    """Capture entries again, to fill the gaps: those named, or all that lack something.

    What a page needs and was fetched within the last day is not fetched again. "gone" counts the
    entries that lack only what was gone, 404 or 410, twice running: name them to try all the same.

    Exits with 1 if any that was named failed, and says why.
    """
    return run_body("recapture", settings, refs=refs, below=below)


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option("--query", metavar="WORDS", help="What `archiver search` would find, not yet kept.")
@with_settings(CRAWLING)
def rescue(settings: Settings, refs: tuple[str, ...], query: str | None) -> int:
    """Ask public archives for pages that are gone: those named, or all without a snapshot.

    Which archives may be asked says --rescue (wayback, archive.today, arquivo.pt, aggregator, or
    addresses of TimeGates). Of each page the memento nearest to the day the link was saved is kept.
    """
    return run_body("rescue", settings, refs=refs, query=query)


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option("--query", metavar="WORDS", help="All that `archiver search` would find, too.")
@click.option("--title", metavar="T", help='Your own title; "" gives the page\'s back.')
@click.option("--note", metavar="N", help="Your note, in the place of what it was.")
@click.option("--tag", "with_tags", multiple=True, metavar="T", help="Add a tag; repeatable.")
@click.option("--untag", "without_tags", multiple=True, metavar="T", help="Take one away.")
@click.option("--list", "with_lists", multiple=True, metavar="L", help="Put them into a list.")
@click.option("--unlist", "without_lists", multiple=True, metavar="L", help="Take them out of one.")
@click.option("--read/--unread", "is_read", default=None, help="Mark as read, or not.")
@click.option("--star/--unstar", "is_starred", default=None, help="Star, or not.")
@click.option("--undo", type=int, metavar="NUMBER", help="Put back what that edit changed.")
@click.option("--yes", is_flag=True, help="Do not ask whether all that is found is meant.")
@with_settings(COMMON)
def edit(settings: Settings, **given: object) -> int:
    """Change what you said of entries: those named, or all that a search finds.

    Prints how many were found, how many are not what they were, and a number by which that is
    undone, as long as it is among the last 20 edits.
    """
    return run_body("edit", settings, **given)


@cli.command(cls=Command)
@click.option("--make", metavar="PATH", help="Make a list; Recipes/Soups is one in another.")
@click.option("--query", default="", metavar="WORDS", help="With --make: save this search.")
@click.option("--rename", nargs=2, metavar="PATH NEW", help="Rename one, or put it into another.")
@click.option("--delete", metavar="PATH", help="Delete one, and those in it; the entries stay.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@with_settings(COMMON)
def lists(settings: Settings, **given: object) -> int:
    """Print the lists, each behind the one it lies in: path, entries, what a saved search asks.

    After a change, only what was changed is printed. `archiver edit --list` puts entries in,
    `archiver search list:PATH` prints them in their order.
    """
    return run_body("lists", settings, **given)


@cli.command(cls=Command)
@click.argument("refs", nargs=-1, metavar="[URL|HASH_URL]...")
@click.option("--query", metavar="WORDS", help="All that `archiver search` would find.")
@click.option("--snapshot", metavar="TIMESTAMP", help="Only this snapshot, by its 14 digits.")
@click.option("--undo", type=int, metavar="NUMBER", help="Put back what that deletion took.")
@click.option("--yes", is_flag=True, help="Do not ask whether all that is found is meant.")
@with_settings(COMMON)
def delete(settings: Settings, **given: object) -> int:
    """Throw entries away: those named, or all that a search finds.

    They are gone from every list at once, with all their snapshots. Prints how many entries and
    snapshots went, and a number by which that is undone until `archiver compact` erases them.
    """
    return run_body("delete", settings, **given)


@cli.command(cls=Command)
@click.option("--again", is_flag=True, help="Read again what an older version has read.")
@click.option(
    "--query", default="", metavar="WORDS", help="Only what `archiver search` would find."
)
@click.option("--diff", is_flag=True, help="Print the paragraphs that changed, words marked.")
@with_settings(EXTRACTING, first=("extract_processes",))
def extract(settings: Settings, *, again: bool, query: str, diff: bool) -> int:
    """Read the articles that were left for later (--articles later).

    `archiver serve` does so by itself while nothing is left to fetch.

    With --again it reads from the stored bytes what an older version of the reader has read, and
    prints of each snapshot whose text changed: timestamp, words put in, words taken out, URL.
    """
    return run_body("extract", settings, again=again, query=query, diff=diff)


@cli.command(cls=Command)
@imports_options
@with_settings(COMMON)
def imports(settings: Settings, **given: object) -> int:
    """List the newest imports: number, date, what is done with it, file, how far it has come.

    reading, waiting (the next `archiver serve` goes on with it), capturing, stopped, or done.

    `undo NUMBER` deletes the entries that only that import created, and prints how many. Entries
    that you changed since, or that another import has too, stay.

    `failed NUMBER` prints why pages of it could not be saved, and how many for each reason;
    `again NUMBER` queues those again.

    `capture NUMBER` queues what it kept as links.
    """
    return run_body("imports", settings, **given)


@cli.command("list", cls=Command)
@list_options
@with_settings(COMMON)
def list_(settings: Settings, **wanted: object) -> int:
    """List entries: hash_url, date, state, title, URL."""
    return run_body("listing", settings, q="", **wanted)


@cli.command(cls=Command)
@click.argument(
    "action",
    type=click.Choice(["list", "follow", "unfollow", "import", "export", "look"]),
    default="list",
)
@click.argument("what", metavar="[ADDRESS|FILE]", default="")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag what a feed brings.")
@click.option(
    "--everything", is_flag=True, help="Capture what is in it now, too; also of one you follow."
)
@with_settings(CRAWLING)
def feeds(settings: Settings, **wanted: object) -> int:
    """Follow feeds: what is new in them is captured, while `archiver serve` runs.

    An ADDRESS is that of a feed, or of a page that names one; a FILE is the OPML of a feed reader,
    which `export` writes, or prints without one. `look` exits with 1 if a feed could not be read.
    Listed are: address, last look (UTC), links brought, title, what went wrong.
    """
    return run_body("feeds", settings, **wanted)


@cli.command(cls=SearchCommand)
@click.argument("words", nargs=-1, required=True)
@list_options
@with_settings(COMMON)
def search(settings: Settings, words: tuple[str, ...], **wanted: object) -> int:
    """Find entries by words, the best first; all of them, where no screen is, the newest first.

    All words must be there, in the title, the text, your note and tags, the author or the address.
    What begins with a "-" stands after "--".
    """
    return run_body("listing", settings, q=" ".join(words), **wanted)


@cli.command(cls=Command)
@click.argument("ref", metavar="URL|HASH_URL")
@click.option("--at", "timestamp", metavar="TIMESTAMP", help="The snapshot nearest to this moment.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@with_settings(COMMON)
def show(settings: Settings, ref: str, timestamp: str | None, as_json: bool) -> int:
    """Show an entry: its details, its snapshots, its article as text.

    The beginning of a hash_url will do, from four digits on.

    TIMESTAMP is 4 to 14 digits, UTC: YYYYMMDDhhmmss.
    """
    return run_body("show", settings, ref=ref, timestamp=timestamp, as_json=as_json)


for each in (export, *UPKEEP):
    cli.add_command(each)


def main() -> None:
    """Run the program; its entry point."""
    gc.set_threshold(*GC_THRESHOLDS)
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    status = run(sys.argv[1:])
    if all(each.daemon for each in threading.enumerate() if each is not threading.main_thread()):
        _leave(status)
    sys.exit(status)


def _open_what_is_closed() -> None:
    """Write into nothing where whoever started the program closed an output (``2>&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nothing = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
            setattr(sys, name, nothing)


def _leave(status: int) -> None:
    """End without taking the program apart, piece by piece: a twelfth of a short command's time.

    Whoever opened something has closed it, and nobody is left to be waited for.
    """
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command; every error a person can meet becomes a line on standard error.

    Returns:
        0 when all went well, 1 when something failed, 2 when the arguments or settings are wrong,
        128 and the signal's number when a signal ended it.
    """
    try:
        status = cli.main(list(arguments), prog_name="archiver", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our output has gone: nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except ArchiverError as error:
        return _fail(str(error))
    except OSError as error:
        what = error.strerror or str(error)
        return _fail(f"{error.filename}: {what}." if error.filename else f"{what}.")
    return status if isinstance(status, int) else 0


def _fail(message: str, status: int = 1) -> int:
    click.echo(f"archiver: {message}", err=True)
    return status
