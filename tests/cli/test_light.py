"""Commands that only read, without SQLAlchemy: what they ask and say is what it is with it."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from binascii import crc32
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from archiver.archive import INDEX
from archiver.index.core.kept import FILE
from archiver.index.schema import HEAD
from tests.cli.conftest import Run, Site

pytestmark = pytest.mark.sqlite("what is kept of statements is for SQLite alone")

TRACED = """
import os, sqlite3, sys
from sqlite3 import dbapi2
connect, asked = dbapi2.connect, open(os.environ["ASKED"], "a")
def traced(*given, **named):
    opened = connect(*given, **named)
    opened.set_trace_callback(lambda sql: print(repr(sql), file=asked, flush=True))
    return opened
sqlite3.connect = dbapi2.connect = traced
from archiver.cli import main
leave = main._leave
def leaving(status):
    print("with it" if "sqlalchemy" in sys.modules else "without", file=asked, flush=True)
    leave(status)
main._leave = leaving
main.main()
"""
COMMANDS = (
    "list",
    "list --json",
    "list --tag animals",
    "list --status queued --limit 3",
    "list --sort oldest",
    "list --sort title",
    "list --sort length",
    "list --sort list",
    "list --tag animals --host 127.0.0.1 --status saved --sort title",
    "search foxes",
    'search "clever shy"',
    "search fox*",
    "search nothing-there",
    "search -- foxes -otters",
    "search foxes OR badgers",
    "search tag:animals clever",
    "search site:127.0.0.1",
    "search site:example.com is:unread",
    "search is:gone",
    "search is:starred foxes",
    "search status:4xx",
    "search added:2020.. clever",
    "search captured:2026",
    "search words:>10 lang:en",
    "search list:Reading",
    "search type:unknown",
    "show {url}",
    "show {url} --json",
    "show {url} --at 20200101000000",
)


class Told(NamedTuple):
    """What a command said, what it asked of the index, and whether SQLAlchemy was loaded."""

    said: tuple[int, str, str]
    asked: list[str]
    is_light: bool


Tell = Callable[..., Told]


@pytest.fixture(scope="module")
def tell(site: Site, archiver: Run, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Tell:
    """Runs a command on an archive with pages, links and lists in it, and looks on."""
    links = tmp_path_factory.mktemp("given") / "links.txt"
    links.write_text("".join(f"https://example.com/{number}\n" for number in range(120)))
    pages = [site.url(f"/{name}") for name in ("foxes", "otters", "badgers")]
    assert archiver("add", *pages, "--tag", "animals").returncode == 0
    archiver("add", site.url("/missing"), "--tag", "gone")
    archiver("add", site.url("/foxes"))
    assert archiver("import", str(links), "--no-crawl", "--into", "Reading").returncode == 0
    asked = links.with_name("asked")

    def tell(words: str, where: Path = data, *, whole: bool = False) -> Told:
        asked.write_text("")
        more = {"ASKED": str(asked), "ARCHIVER_DATA": str(where)}
        environment = {**os.environ, **more, **({"_ARCHIVER_WHOLE": "1"} if whole else {})}
        found = subprocess.run(
            [sys.executable, "-c", TRACED, *words.format(url=site.url("/foxes")).split(" ")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        *lines, how = asked.read_text().splitlines() or [""]
        questions = sorted(each for each in lines if each[1:].startswith(("SELECT", "WITH")))
        said = (found.returncode, found.stdout, found.stderr)
        return Told(said, questions, is_light=how == "without")

    return tell


@pytest.mark.parametrize("words", COMMANDS)
def test_it_asks_and_says_the_same_without_sqlalchemy(tell: Tell, words: str) -> None:
    whole = tell(words, whole=True)
    first, second = tell(words), tell(words)

    assert not whole.is_light
    assert first[:2] == second[:2] == whole[:2]
    assert second.is_light


@pytest.fixture
def own(tell: Tell, data: Path, tmp_path: Path) -> Path:
    """A copy of the archive whose lists were asked for once."""
    tell("list")
    return Path(shutil.copytree(data, tmp_path / "own"))


def test_what_is_damaged_or_of_another_version_is_written_anew(tell: Tell, own: Path) -> None:
    kept = own / "run" / FILE
    whole = kept.read_bytes()
    before = tell("list", own)
    assert before.is_light
    older = whole.replace(sqlite3.sqlite_version.encode(), b"3.0.0")

    for content in (b"", whole[:-5], whole[:100] + b"?" + whole[101:], older):
        kept.write_bytes(content)
        first, second = tell("list", own), tell("list", own)
        assert not first.is_light
        assert second.is_light
        assert first[:2] == second[:2] == before[:2]


def test_where_nothing_can_be_kept_all_goes_on(tell: Tell, own: Path) -> None:
    before = tell("list", own)
    (own / "run" / FILE).unlink()
    (own / "run" / FILE / "in the way").mkdir(parents=True)

    for _ in range(2):
        after = tell("list", own)
        assert not after.is_light
        assert after[:2] == before[:2]


def test_what_was_looked_for_is_not_kept(tell: Tell, own: Path) -> None:
    sought = ("unheardof", "nobody", "elsewhere.example")
    for words in ("search unheardof tag:nobody site:elsewhere.example", "list --tag nobody"):
        assert tell(words, own).said[0] == 1

    kept = (own / "run" / FILE).read_text()

    assert not [each for each in sought if each in kept]
    assert (own / "run" / FILE).stat().st_mode & 0o777 == 0o600


def test_two_at_once_do_not_mind_each_other(archiver: Run, run_in: Run, own: Path) -> None:
    (own / "run" / FILE).unlink()
    with ThreadPoolExecutor(2) as threads:
        found = [
            threads.submit(run_in, own, *words)
            for words in (["list"], ["search", "foxes"], ["list", "--json"], ["list"])
        ]
        told = [each.result() for each in found]

    assert [each.returncode for each in told] == [0] * 4
    assert told[0].stdout == told[3].stdout == archiver("list").stdout


def change(data: Path, statement: str) -> None:
    with closing(sqlite3.connect(data / INDEX)) as conn:
        conn.execute(statement)
        conn.commit()


@pytest.mark.parametrize(
    "broken",
    [
        "DROP TABLE entry_tag",
        "ALTER TABLE entry RENAME COLUMN failure TO was",
        f"UPDATE alembic_version SET version_num = '{int(HEAD) + 1:04}'",
        "UPDATE alembic_version SET version_num = 'none'",
        f"UPDATE alembic_version SET version_num = '{int(HEAD) + 1:04}' WHERE 0",
    ],
)
def test_an_index_that_can_not_be_read_is_told_of_as_ever(
    tell: Tell, own: Path, broken: str
) -> None:
    change(own, broken)

    found, whole = tell("list", own), tell("list", own, whole=True)

    assert found.said == whole.said
    assert bool(found.said[0]) is not broken.endswith("WHERE 0")


def test_an_index_that_is_not_there_is_made(tell: Tell, own: Path) -> None:
    for each in own.glob(f"{INDEX}*"):
        each.unlink()

    found = tell("list --tag nothing", own)

    assert found.said[:2] == (1, "")
    assert tell("list --tag nothing", own).said == (1, "", "")
    assert (own / INDEX).exists()


def test_an_index_that_is_no_database_is_told_of_as_ever(tell: Tell, own: Path) -> None:
    for each in own.glob(f"{INDEX}*"):
        each.unlink()
    (own / INDEX).write_bytes(b"no database at all" * 1000)

    found, whole = tell("list", own), tell("list", own, whole=True)

    assert found.said == whole.said
    assert found.said[0] == 1


def test_what_a_killed_process_left_is_taken_up(tell: Tell, own: Path) -> None:
    """That writes: the command is begun anew, with all there is."""
    change(own, "UPDATE job SET state = 'fetching', owner = 'somebody' WHERE id = 1")

    found = tell("list", own)

    assert not found.is_light
    assert found.said[0] == 0
    with closing(sqlite3.connect(own / INDEX)) as conn:
        assert conn.execute("SELECT owner FROM job WHERE owner IS NOT NULL").fetchall() == []
    assert tell("list", own).is_light


def test_a_statement_that_was_meddled_with_changes_nothing(tell: Tell, own: Path) -> None:
    kept = own / "run" / FILE
    before = tell("list", own)
    version, known = json.loads(kept.read_bytes().partition(b"\n")[2])
    for sql in ("SELECT no FROM such", "WITH a AS (SELECT 1) DELETE FROM entry", "SELECT 1; DROP"):
        for each in known.values():
            each[0] = sql
        content = json.dumps([version, known]).encode()
        kept.write_bytes(b"%08x\n" % crc32(content) + content)
        assert tell("list", own).said == before.said
        assert tell("list", own) == before
