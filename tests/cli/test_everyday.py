"""Everyday commands, and their guarantees for scripts."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from archiver.cli.main import cli
from archiver.http.urls import hash_url

MANY = 60


@pytest.fixture(scope="module")
def kept(archiver, site, tmp_path_factory):
    """One page, and more links than a page of output."""
    links = tmp_path_factory.mktemp("links") / "links.txt"
    links.write_text("\n".join(f"http://127.0.0.1:1/{number}" for number in range(MANY)))
    archiver("add", site.url("/foxes"))
    archiver("import", str(links), "--no-crawl")
    return archiver


def test_piped_output_is_complete_unless_limited(kept):
    assert len(kept("list").stdout.splitlines()) == MANY + 1
    assert len(kept("list", "--limit", "3").stdout.splitlines()) == 3
    titles = [line.split("\t")[4] for line in kept("list", "--sort", "title").stdout.splitlines()]
    assert titles == sorted(titles, key=str.casefold) or len(titles) == MANY + 1


def test_empty_results_say_so_and_are_no_error_unless_requested(kept):
    for command, said in (
        (("list", "--tag", "none"), "archiver: no entries.\n"),
        (("search", "unheardof"), "archiver: no results.\n"),
        (("lists",), "archiver: no lists.\n"),
        (("bin",), "archiver: the bin is empty.\n"),
        (("feeds",), "archiver: no feeds.\n"),
    ):
        done = kept(*command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", said)
    assert kept("search", "--exit-status", "unheardof").returncode == 1


def test_the_start_of_a_hash_identifies_an_entry(kept, site):
    key = hash_url(site.url("/foxes"))

    assert f"hash_url\t{key}\n" in kept("show", key[:8]).stdout
    none = kept("show", "0" * 31)
    assert (none.returncode, "No hash_url starts with" in none.stderr) == (1, True)
    short = kept("show", "8db")
    assert (short.returncode, "8db is too short" in short.stderr) == (1, True)


def test_urls_can_come_from_standard_input(kept, site):
    done = kept("add", "-", given=f"{site.url('/bears')}\n\n")

    assert (done.returncode, "\tsaved\t" in done.stdout) == (0, True)


def test_help_is_short_and_settings_have_a_separate_help(kept):
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
