"""The program from outside: help, usage, exit statuses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from archiver.services.access import has_password

COMMANDS = (
    ["serve"],
    ["add"],
    ["import"],
    ["imports"],
    ["crawl"],
    ["list"],
    ["search"],
    ["show"],
    ["export"],
    ["export", "markdown"],
    ["verify"],
    ["reindex"],
)
HEAVY = {"aiohttp", "asyncio", "lxml", "pydantic", "rich", "sqlalchemy", "sqlite3", "uvloop"}
LARGE = {
    "sqlalchemy.dialects.postgresql",
    "aiodns",
    "aiosqlite",
    "brotli",
    "aiohttp",
    "alembic",
    "archiver.crawl.pipeline",
    "archiver.index.dialect.postgres",
    "archiver.ledger.rebuild",
    "archiver.runtime",
    "archiver.store.bucket",
    "bs4",
    "greenlet",
    "jinja2",
    "latex2mathml",
    "lxml",
    "obstore",
    "pg8000",
    "prometheus_client",
    "pydantic",
    "rich",
    "selectolax",
    "sqlalchemy.ext.asyncio",
    "sqlalchemy.orm",
    "structlog",
    "uvloop",
    "yaml",
}
"""What only other commands need."""
OF_SERVERS = {
    "archiver.index.dialect.postgres",
    "archiver.store.bucket",
    "obstore",
    "pg8000",
    "sqlalchemy.dialects.postgresql",
}
"""What only an index on a server and segments in an object store need."""
BESIDE_A_CRAWL = {
    "archiver.formats.importers",
    "archiver.html.article",
    "archiver.html.comparison",
    "archiver.ledger.rebuild",
    "archiver.runtime",
    "archiver.services.imports",
    "archiver.services.search",
    "lxml",
    "rapidfuzz",
}
"""What readers of pages, other commands and rare turns need; a crawl does without."""
CRAWL = LARGE - {"uvloop"} | {"archiver.crawler", "archiver.services.archives"}
"""What links that are not captured now need none of."""
RECOVERING = {
    "archiver.index.imports",
    "archiver.index.queue",
    "archiver.ledger.burying",
    "archiver.ledger.interrupted_imports",
    "archiver.ledger.orphans",
    "ctypes",
}
"""What is needed where a process was killed, or others share the index."""


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "archiver", *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_program_says_its_version() -> None:
    assert run("--version").stdout.startswith("archiver ")


def test_a_flag_before_the_command_is_told_where_it_goes() -> None:
    told, unknown = run("--data", "x", "list"), run("--nonsense", "list")

    assert (told.returncode, unknown.returncode) == (2, 2)
    assert "--data goes behind the command" in told.stderr
    assert "set ARCHIVER_DATA" in told.stderr
    assert "No such option" in unknown.stderr


def test_help_imports_nothing_heavy() -> None:
    code = f"""
import sys
from archiver.cli.main import run
for command in {[[], *COMMANDS]!r}:
    assert run([*command, "--help"]) == 0
print("LOADED", *({HEAVY!r} & sys.modules.keys()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert result.stdout.splitlines()[-1] == "LOADED"
    assert result.stdout.count("Usage: archiver") == len(COMMANDS) + 1
    assert "\\b" not in result.stdout


@pytest.mark.sqlite("what an index in a file needs none of")
@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["search", "x"], ["show", "{url}"], ["verify"]]
)
def test_a_command_that_reads_loads_neither_the_crawl_nor_the_web(
    command: list[str], tmp_path: Path
) -> None:
    url = "https://a.example/"
    (tmp_path / "links").write_text(url)
    data = ["--data", str(tmp_path / "data")]
    assert run("import", str(tmp_path / "links"), "--no-crawl", *data).returncode == 0
    code = f"""
import sys
from archiver.cli.main import run
run({[word.format(url=url) for word in command] + data!r})
print("LOADED", *({LARGE!r} & sys.modules.keys()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert result.stdout.splitlines()[-1] == "LOADED"


@pytest.mark.sqlite("what an index in a file needs none of")
def test_a_list_loads_nothing_that_mends_what_was_left(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("https://a.example/")
    data = ["--data", str(tmp_path / "data")]
    assert run("import", str(tmp_path / "links"), "--no-crawl", *data).returncode == 0
    code = f"""
import sys
from archiver.cli.main import run
run({["list", *data]!r})
print("LOADED", *({RECOVERING!r} & sys.modules.keys()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert result.stdout.splitlines()[-1] == "LOADED"


@pytest.mark.sqlite("what an index in a file needs none of")
def test_links_are_read_into_the_queue_without_loading_the_crawl(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("https://a.example/")
    code = f"""
import sys
from archiver.cli.main import run
run({["import", str(tmp_path / "links"), "--no-crawl", "--data", str(tmp_path / "data")]!r})
print("LOADED", *({CRAWL!r} & sys.modules.keys()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert "added\t1" in result.stdout
    assert result.stdout.splitlines()[-1] == "LOADED"


@pytest.mark.sqlite("what an index in a file needs none of")
@pytest.mark.folder("what a folder needs none of")
def test_a_service_of_an_archive_in_files_loads_no_driver_of_servers(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path
from archiver.config import Settings
from archiver.runtime import open_runtime
from archiver.web.app import build_app

async def serve():
    settings = Settings(data=Path({str(tmp_path)!r}), render="never")
    async with open_runtime(settings, crawl=True) as runtime:
        build_app(runtime)

asyncio.run(serve())
print("LOADED", *({OF_SERVERS!r} & sys.modules.keys()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert result.stdout.split() == ["LOADED"]


@pytest.mark.sqlite("where tests have an index on a server, each process needs its driver")
@pytest.mark.folder("where tests have segments in a store, each process needs its driver")
@pytest.mark.parametrize(
    ("driver", "given"),
    [
        ("pg8000", ["--index", "postgresql://me@a.invalid/links"]),
        ("obstore", ["--store", "s3://bucket"]),
    ],
)
def test_a_driver_that_is_not_installed_is_said_with_what_installs_it(
    driver: str, given: list[str], tmp_path: Path
) -> None:
    words = ["import", "-", "--no-crawl", "--data", str(tmp_path), *given]
    code = f"""
import sys
sys.modules[{driver!r}] = None
from archiver.cli.main import run
sys.exit(run({words!r}))
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    (line,) = result.stderr.splitlines()
    assert result.returncode == 1
    assert f"{sys.executable} -m pip install {driver}`" in line


@pytest.mark.parametrize(("is_waited_for", "is_taken_apart"), [(True, True), (False, False)])
def test_a_thread_that_nobody_waits_for_holds_no_command_up(
    is_waited_for: bool, is_taken_apart: bool
) -> None:
    code = f"""
import atexit, sys, threading
from archiver.cli.main import main
atexit.register(print, "taken apart")
gone = threading.Event()
threading.Thread(target=gone.wait, daemon={not is_waited_for}).start()
threading._register_atexit(gone.set)
sys.argv = ["archiver", "--version"]
main()
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert result.stdout.startswith("archiver ")
    assert ("taken apart" in result.stdout) is is_taken_apart


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "No such command"),
        (["add"], "Missing argument"),
        (["crawl", "--concurrency", "0"], "--concurrency: "),
        (["list", "--limit", "0"], "--limit"),
        (["import", "no/such/file"], "does not exist"),
        (["serve", "--port", "x"], "--port: "),
    ],
)
def test_wrong_usage_is_2_and_says_what(arguments: list[str], said: str) -> None:
    result = run(*arguments)

    assert result.returncode == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_a_bad_variable_is_2_and_named() -> None:
    result = run("crawl", ARCHIVER_CONCURRENCY="many")

    assert result.returncode == 2
    assert "ARCHIVER_CONCURRENCY: " in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["search", "x"],
        ["show", "x"],
        ["export", "markdown", "out"],
        ["verify"],
        ["reindex"],
    ],
)
def test_commands_that_read_make_no_archive(command: list[str], tmp_path: Path) -> None:
    result = run(*command, "--data", str(tmp_path / "none"))

    assert result.returncode == 1
    assert result.stderr == (
        f"archiver: There is no archive in {tmp_path}/none. "
        "Say where it is with --data or ARCHIVER_DATA.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_system_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    result = run("add", "https://a.example/", "--data", str(tmp_path / "file"))

    assert result.returncode == 1
    assert result.stderr.startswith("archiver: ")
    assert result.stderr.count("\n") == 1


def test_a_reader_that_leaves_is_no_error() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as gone:
        result = subprocess.run(
            [sys.executable, "-m", "archiver", "serve", "--help"],
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )

    assert result.returncode == 1
    assert result.stderr == b""


@pytest.mark.parametrize("closed", [1, 2])
def test_an_output_that_is_closed_is_no_error(tmp_path, closed) -> None:
    (tmp_path / "data").mkdir()
    code = f"""
import os, sys
os.close({closed})
os.execv(sys.executable, [sys.executable, "-m", "archiver", "imports"])
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ARCHIVER_DATA": str(tmp_path / "data")},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_a_password_is_read_from_input_and_taken_away(tmp_path):
    def ask(*arguments, text=""):
        data = ("--data", str(tmp_path / "new"))
        command = [sys.executable, "-m", "archiver", "password", *arguments, *data]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)

    assert ask(text="short\n").returncode == 1
    assert ask(text="a good pass phrase\n").stdout == "The password is set.\n"
    assert has_password(tmp_path / "new")
    assert ask("--remove").stdout == "The archive has no password now.\n"
    assert not has_password(tmp_path / "new")


def test_who_crawls_loads_no_other_service() -> None:
    code = f"""
import sys
import archiver.cli.crawl, archiver.helper.__main__
print("LOADED", *({BESIDE_A_CRAWL!r} & sys.modules.keys()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert result.stdout.split() == ["LOADED"]
