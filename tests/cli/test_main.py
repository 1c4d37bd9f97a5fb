"""Help, usage errors, exit statuses and closed outputs of the program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from archiver.config import read_settings
from archiver.services.access import has_password
from tests.command_line import run_command

COMMANDS = [[each] for each in "serve add import crawl list show verify reindex".split()]
HEAVY = {"aiohttp", "asyncio", "pydantic", "rich", "sqlalchemy", "sqlite3", "uvloop"}


def test_the_program_prints_its_version() -> None:
    assert run_command("--version").stdout.startswith("archiver ")


def test_flags_of_settings_may_precede_the_command(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    run_command("--data", data, "import", "-", "--no-crawl", input_data="https://a.example/")

    for flags in (["--data", data], [f"--data={data}", "--no-log-json"]):
        for command in (["list"], ["export", "json", "-"]):
            assert "https://a.example/" in run_command(*flags, *command).stdout, (flags, command)
    assert run_command("--data", data, "cookies", "list").returncode == 0
    assert "No such option" in run_command("--nonsense", "list").stderr


def test_data_is_in_the_users_directory_unless_here_is_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = {"HOME": "/home/me"}
    for environment, expected in (
        (home, "/home/me/.local/share/archiver"),
        (home | {"XDG_DATA_HOME": "/srv/share"}, "/srv/share/archiver"),
        (home | {"XDG_DATA_HOME": "relative"}, "/home/me/.local/share/archiver"),
        (home | {"ARCHIVER_DATA": "/mine"}, "/mine"),
        ({}, "data"),
    ):
        assert str(read_settings({}, environment).data) == expected, environment
    (tmp_path / "data/warc").mkdir(parents=True)
    assert str(read_settings({}, home).data) == "data"


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


@pytest.mark.parametrize(
    ("driver", "options"),
    [
        ("asyncpg", ["--index", "postgresql://me@a.invalid/links"]),
        ("obstore", ["--store", "s3://bucket"]),
    ],
)
def test_a_missing_driver_is_reported_with_its_install_command(
    driver: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, driver, None)
    monkeypatch.delitem(sys.modules, "archiver.warc.object_store", raising=False)

    result = run_command("import", "-", "--no-crawl", "--data", str(tmp_path), *options)

    (line,) = result.stderr.splitlines()
    assert result.returncode == 1
    assert f"{sys.executable} -m pip install {driver}`" in line


def test_another_missing_package_is_not_installed_under_the_name_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tomlkit", None)

    result = run_command("config", "retries", "3", "--data", str(tmp_path))

    assert (result.returncode, "pip install" in result.stderr) == (1, False)
    assert "The package tomlkit is not installed. Install archiver again" in result.stderr


def test_wrong_usage_exits_with_2_and_a_message():
    for arguments, message in (
        (["nonsense"], "No such command"),
        (["add"], "Missing argument"),
        (["crawl", "--concurrency", "0"], "--concurrency: "),
        (["list", "--limit", "0"], "--limit"),
        (["import", "no/such/file"], "does not exist"),
        (["serve", "--port", "x"], "--port: "),
    ):
        result = run_command(*arguments)

        assert result.returncode == 2, arguments
        assert message in result.stderr, arguments
        assert result.stdout == "", arguments


def test_reading_commands_create_no_archive(tmp_path):
    for command in (["list"], ["export", "markdown", "out"], ["verify"], ["reindex"]):
        result = run_command(*command, "--data", str(tmp_path / "none"))

        assert result.returncode == 1, command
        assert result.stderr == (
            f"archiver: There is no archive in {tmp_path}/none. `archiver serve` creates one; "
            "to use another folder, set --data or ARCHIVER_DATA.\n"
        ), command
        assert list(tmp_path.iterdir()) == [], command


def test_a_system_error_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    result = run_command("add", "https://a.example/", "--data", str(tmp_path / "file"))

    assert result.returncode == 1
    assert result.stderr.startswith("archiver: ")
    assert result.stderr.count("\n") == 1


def test_a_closed_pipe_is_no_error() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as closed_pipe:
        result = subprocess.run(
            [sys.executable, "-m", "archiver", "serve", "--help"],
            stdout=closed_pipe,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )

    assert result.returncode == 1
    assert result.stderr == b""


def test_closed_output_is_no_error(tmp_path) -> None:
    (tmp_path / "data").mkdir()
    result = subprocess.run(
        ["sh", "-c", 'exec "$0" -m archiver imports >&- 2>&-', sys.executable],
        env={**os.environ, "ARCHIVER_DATA": str(tmp_path / "data")},
        timeout=60,
        check=False,
    )

    assert result.returncode == 0


def test_a_password_is_read_from_input_and_removed(tmp_path):
    def ask(*arguments, text=""):
        return run_command("password", *arguments, "--data", str(tmp_path / "new"), input_data=text)

    assert ask(text="short\n").returncode == 1
    assert ask(text="a good pass phrase\n").stdout == "Password set.\n"
    assert has_password(tmp_path / "new")
    assert ask("--remove").stdout == "Password removed.\n"
    assert not has_password(tmp_path / "new")
