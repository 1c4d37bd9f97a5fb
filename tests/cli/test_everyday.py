"""What a person does every day at a prompt, and what a script may rely on."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from archiver.cli.main import cli
from archiver.http.urls import hash_url
from archiver.model.listing import Sort

MANY = 60


@pytest.fixture(scope="module")
def kept(archiver, site, tmp_path_factory):
    """One page, and more links than a screen shows."""
    links = tmp_path_factory.mktemp("links") / "links.txt"
    links.write_text("\n".join(f"http://127.0.0.1:1/{number}" for number in range(MANY)))
    archiver("add", site.url("/foxes"))
    archiver("import", str(links), "--no-crawl")
    return archiver


def test_what_is_piped_is_all_that_is_found_unless_it_is_said_how_many(kept):
    assert len(kept("list").stdout.splitlines()) == MANY + 1
    assert len(kept("list", "--limit", "3").stdout.splitlines()) == 3
    titles = [line.split("\t")[4] for line in kept("list", "--sort", "title").stdout.splitlines()]
    assert titles == sorted(titles, key=str.casefold) or len(titles) == MANY + 1


def test_orders_are_those_of_pages_and_the_api_by_their_older_names_too(kept):
    for order in Sort:
        assert len(kept("list", "--sort", order).stdout.splitlines()) == MANY + 1
    assert kept("list", "--sort", "added").stdout == kept("list", "--sort", "newest").stdout
    assert "'best', 'newest'" in kept("list", "--sort", "none").stderr


def test_nothing_found_is_exit_status_1(kept):
    for command in (("list", "--tag", "none"), ("search", "unheardof")):
        done = kept(*command)
        assert (done.returncode, done.stdout) == (1, "")


def test_the_beginning_of_a_hash_names_an_entry(kept, site):
    key = hash_url(site.url("/foxes"))

    assert f"hash_url\t{key}\n" in kept("show", key[:8]).stdout
    none = kept("show", "0" * 31)
    assert (none.returncode, "No hash_url begins with" in none.stderr) == (1, True)
    short = kept("show", "8db")
    assert (short.returncode, "8db is too short for the beginning" in short.stderr) == (1, True)


def test_a_tag_without_a_name_is_refused(kept, site):
    done = kept("edit", site.url("/foxes"), "--tag", "")

    assert (done.returncode, done.stderr) == (1, "archiver: A list or a tag needs a name.\n")


def test_addresses_come_from_standard_input(kept, site):
    done = kept("add", "-", given=f"{site.url('/bears')}\n\n")

    assert (done.returncode, "\tsaved\t" in done.stdout) == (0, True)


@pytest.mark.parametrize("command", ["add", "crawl", "recapture"])
def test_help_tells_of_the_browser_where_pages_are_captured(command):
    assert "--render" in CliRunner().invoke(cli, [command, "--help"]).output


def test_help_is_short_and_settings_have_their_own(kept):
    short, settings = kept("serve", "--help").stdout, kept("serve", "--help-settings").stdout

    assert ("--help-settings" in short, "--data" in short, "--concurrency" in short) == (
        True,
        True,
        False,
    )
    assert ("--data" in settings, "--concurrency" in settings) == (True, True)


SCREEN = 40


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_the_help_of_every_command_fits_a_screen(command):
    assert len(CliRunner().invoke(cli, [command, "--help"]).output.splitlines()) <= SCREEN


@pytest.mark.parametrize(
    ("command", "flag", "named"),
    [("search", "--help-words", "published:"), ("import", "--help-formats", "Pocket CSV")],
)
def test_what_is_longer_than_a_screen_has_a_flag_that_help_names(command, flag, named):
    short, long = (CliRunner().invoke(cli, [command, each]).output for each in ("--help", flag))

    assert (flag in short, named in short, named in long) == (True, False, True)


def test_a_shell_completes_commands():
    done = subprocess.run(
        [sys.executable, "-m", "archiver"],
        env={
            "_ARCHIVER_COMPLETE": "bash_complete",
            "COMP_WORDS": "archiver rei",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "plain,reindex\n"
