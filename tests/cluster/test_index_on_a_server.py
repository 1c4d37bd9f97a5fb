"""An archive whose index lies in PostgreSQL, by the setting alone; each step is a process."""

import asyncio
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from string import ascii_letters

import pytest
from archiver.index.dialect.postgres_dialect import OLDEST

from archiver.archive import INDEX
from tests.cluster.owner import as_owner
from tests.cluster.s3_servers import free_port
from tests.cluster.test_cut_off import line_to
from tests.copied import program
from tests.postgres import SERVER, administer

Ran = subprocess.CompletedProcess[str]
Run = Callable[..., Ran]


@pytest.fixture
def run(address, tmp_path) -> Run:
    """Run a command on an archive whose index is to lie there."""

    def command(*words: str, said: str = "", **variables: str) -> Ran:
        given = {"ARCHIVER_INDEX": address, "ARCHIVER_DATA": str(tmp_path / "data")}
        given |= {"ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8", "ARCHIVER_RENDER": "never"}
        return subprocess.run(
            program(*words),
            env=os.environ | given | {"ARCHIVER_RETRIES": "0"} | variables,
            input=said,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return command


def refusal(ran: Ran) -> str:
    """The one line with which a command gave up."""
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert line.startswith("archiver: ")
    return line


def queued(run: Run, *urls: str) -> None:
    ran = run("import", "-", "--no-crawl", said="\n".join(urls))
    assert ran.returncode == 0, ran.stderr


async def test_what_is_kept_found_checked_and_built_again_lies_on_the_server(run, live, tmp_path):
    url = live.article("page")
    words = {
        "add": ("add", url),
        "list": ("list",),
        "search": ("search", "clever"),
        "verify": ("verify",),
        "reindex": ("reindex",),
        "list again": ("list",),
        "search again": ("search", "clever"),
    }

    said = {name: await asyncio.to_thread(run, *each) for name, each in words.items()}

    assert {name: each.returncode for name, each in said.items()} == dict.fromkeys(words, 0)
    assert all(url in said[name].stdout for name in ("list", "search"))
    assert said["list again"].stdout == said["list"].stdout
    assert said["search again"].stdout == said["search"].stdout
    assert "problems\t0" in said["verify"].stdout
    assert not (tmp_path / "data" / INDEX).exists()


def test_an_index_moves_to_a_server_and_back_with_all_that_waits(run, tmp_path):
    urls = [f"https://a.example/{n}" for n in range(3)]
    ran = run("import", "-", "--no-crawl", said="\n".join(urls), ARCHIVER_INDEX="")
    assert ran.returncode == 0, ran.stderr
    listed = run("list", ARCHIVER_INDEX="").stdout

    told = refusal(run("list"))
    there = run("reindex")
    listed_there = run("list").stdout
    told_there = refusal(run("list", ARCHIVER_INDEX=""))
    back = run("reindex", ARCHIVER_INDEX="")

    assert "archiver reindex" in told
    assert str(tmp_path / "data" / INDEX) in told
    assert "archiver reindex" in told_there
    assert (there.returncode, back.returncode) == (0, 0)
    assert all(url in listed for url in urls)
    assert listed == listed_there == run("list", ARCHIVER_INDEX="").stdout
    assert run("reindex").returncode == 0
    assert run("list").stdout == listed


def test_the_index_of_another_data_directory_is_left_alone(run, tmp_path):
    queued(run, "https://a.example/")
    other, fresh = ({"ARCHIVER_DATA": str(tmp_path / name)} for name in ("other", "fresh"))
    words = ("import", "-", "--no-crawl")
    made = run(*words, said="https://b.example/", ARCHIVER_INDEX="", **other)
    assert made.returncode == 0, made.stderr

    for told in (refusal(run("reindex", **other)), refusal(run(*words, said="x.example", **fresh))):
        assert "the index of another data directory" in told
    assert "https://a.example/" in run("list").stdout


def test_an_index_that_has_another_address_is_found_once_the_folder_has_it(run, address, tmp_path):
    """However it is reached; another database is left alone until then."""
    queued(run, "https://a.example/")
    name, known = address.rpartition("/")[2], tmp_path / "data" / "index"
    administer(f"ALTER DATABASE {name} RENAME TO {name}_now")

    told = refusal(run("list", ARCHIVER_INDEX=f"{address}_now"))
    known.write_text(known.read_text().replace(address, f"{address}_now"))
    found = run("list", ARCHIVER_INDEX=f"{address}_now?sslmode=prefer")
    administer(f"ALTER DATABASE {name}_now RENAME TO {name}")

    assert str(known) in told
    assert "https://a.example/" in found.stdout


def test_a_folder_that_lost_its_index_on_the_server_gets_it_again(run, address):
    queued(run, "https://a.example/")
    name = address.rpartition("/")[2]
    administer(f"DROP DATABASE {name} WITH (FORCE)", f"CREATE DATABASE {name}")

    nothing = run("list")
    queued(run, "https://a.example/")

    assert (nothing.stdout, nothing.stderr) == ("", "")
    assert "https://a.example/" in run("list").stdout


def test_a_server_that_is_not_there_is_said_in_one_sentence(run):
    gone = f"postgresql://me@127.0.0.1:{free_port()}/links"

    told = refusal(run("import", "-", "--no-crawl", ARCHIVER_INDEX=gone))

    assert f"{gone} can't be opened: no server is reached at 127.0.0.1" in told


async def test_what_is_no_such_server_is_said_in_one_sentence(run, live):
    index = f"postgresql://me@{live.origin.removeprefix('http://')}/links"

    told = refusal(await asyncio.to_thread(run, "import", "-", "--no-crawl", ARCHIVER_INDEX=index))

    assert f"{index} can't be opened: network error" in told


async def test_a_server_that_is_too_old_is_said_in_one_sentence(run, address):
    ((number,),) = as_owner(address, "SHOW server_version_num")
    older = f"{OLDEST - 1}{number[2:]}"

    def told(answer: bytes) -> bytes:
        return answer.replace(number.encode(), older.encode())

    async with line_to(address, told) as (_, index):
        words = ("import", "-", "--no-crawl")
        said = refusal(await asyncio.to_thread(run, *words, ARCHIVER_INDEX=index))

    assert said == f"archiver: {index} is an older PostgreSQL; {OLDEST} or newer is needed."
    assert as_owner(address, "SELECT count(*) FROM pg_namespace WHERE nspname = 'archiver'") == [
        (0,)
    ]


def test_a_database_that_is_not_there_is_said_in_one_sentence(run):
    told = refusal(run("import", "-", "--no-crawl", ARCHIVER_INDEX=f"{SERVER}/nowhere"))

    assert 'database "nowhere" does not exist' in told


@pytest.fixture
def guarded(address) -> Iterator[str]:
    """The same database, for a user who has to say a password."""
    name = address.rpartition("/")[2]
    administer(
        "CREATE ROLE guarded LOGIN PASSWORD 'geheim'", f"ALTER DATABASE {name} OWNER TO guarded"
    )
    yield address.replace("archiver@", "guarded@")
    administer(f"ALTER DATABASE {name} OWNER TO archiver", f"DROP DATABASE {name} WITH (FORCE)")
    administer("DROP ROLE guarded", f"CREATE DATABASE {name}")


def test_a_password_comes_from_where_the_servers_own_tools_have_it(run, guarded, tmp_path):
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:guarded:geheim\n")
    passwords.chmod(0o600)
    words, url = ("import", "-", "--no-crawl"), "https://a.example/"

    wrong = refusal(run(*words, ARCHIVER_INDEX=guarded, said=url, PGPASSWORD="falsch"))
    none = refusal(run(*words, ARCHIVER_INDEX=guarded, said=url, PGPASSFILE="/dev/null"))
    said = run(*words, ARCHIVER_INDEX=guarded, said=url, PGPASSWORD="geheim")
    kept = run(*words, ARCHIVER_INDEX=guarded, said=url, PGPASSFILE=str(passwords))

    assert 'password authentication failed for user "guarded"' in wrong
    assert "PGPASSWORD" in none
    assert (said.returncode, kept.returncode) == (0, 0), said.stderr + kept.stderr
    assert "falsch" not in wrong


def test_a_password_in_the_address_is_refused_and_not_repeated(run, address):
    ran = run("list", ARCHIVER_INDEX=address.replace("@", ":geheim@"))

    assert ran.returncode != 0
    assert "PGPASSWORD" in ran.stderr
    assert "geheim" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("revision", "reason"), [("9999", "newer version"), ("abc", "no version of archiver")]
)
def test_an_index_of_another_schema_is_left_alone(run, address, revision, reason):
    queued(run, "https://a.example/")
    as_owner(address, f"UPDATE alembic_version SET version_num = '{revision}'")

    assert reason in refusal(run("list"))
    assert run("reindex").returncode == 0
    assert run("list").stderr == ""


def test_an_address_of_the_longest_kind_is_kept_listed_and_found(run):
    """As long as an address may be, and not to be compressed: a tree of PostgreSQL takes less."""
    longest = ["https://a.example/" + random_letters(8_000, seed) for seed in range(2)]

    queued(run, *longest)

    assert all(url in run("list").stdout for url in longest)


def random_letters(count: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(ascii_letters, k=count))


async def test_captures_of_the_longest_addresses_are_told_apart(run, live, tmp_path):
    paths = [random_letters(7_000, seed) for seed in range(2)]
    paths.append(paths[0][:-1] + "-")
    urls = [live.article(path) for path in paths]

    ran = await asyncio.to_thread(run, "import", "-", said="\n".join(urls))
    checked = await asyncio.to_thread(run, "verify")
    shown = [await asyncio.to_thread(run, "show", url) for url in urls]

    assert ran.returncode == 0, ran.stderr
    assert "problems\t0" in checked.stdout
    for path, each in zip(paths, shown, strict=True):
        assert path in each.stdout
