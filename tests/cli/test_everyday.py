"""Everyday commands, and their guarantees for scripts."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from archiver.cli.main import cli
from archiver.http.urls import hash_url

MANY = 60


@pytest.fixture(scope="module")
def archiver_with_pages(archiver, site, tmp_path_factory):
    """One page, and more links than a page of output."""
    links = tmp_path_factory.mktemp("links") / "links.txt"
    links.write_text("\n".join(f"http://127.0.0.1:1/{number}" for number in range(MANY)))
    archiver("add", site.url("/foxes"))
    archiver("import", str(links), "--no-crawl")
    return archiver


def test_piped_output_is_complete_unless_limited(archiver_with_pages):
    assert len(archiver_with_pages("list").stdout.splitlines()) == MANY + 1
    assert len(archiver_with_pages("list", "--limit", "3").stdout.splitlines()) == 3
    titles = [
        line.split("\t")[4]
        for line in archiver_with_pages("list", "--sort", "title").stdout.splitlines()
    ]
    assert titles == sorted(titles, key=str.casefold) or len(titles) == MANY + 1


def test_empty_results_say_so_and_are_no_error_unless_requested(archiver_with_pages):
    for command, said in (
        (("list", "--tag", "none"), "archiver: no entries.\n"),
        (("search", "unheardof"), "archiver: no results.\n"),
        (("lists",), "archiver: no lists.\n"),
        (("bin",), "archiver: the bin is empty.\n"),
        (("feeds",), "archiver: no feeds.\n"),
    ):
        done = archiver_with_pages(*command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", said)
    assert archiver_with_pages("search", "--exit-status", "unheardof").returncode == 1


def test_the_start_of_a_hash_identifies_an_entry(archiver_with_pages, site):
    key = hash_url(site.url("/foxes"))

    assert f"hash_url\t{key}\n" in archiver_with_pages("show", key[:8]).stdout
    none = archiver_with_pages("show", "0" * 31)
    assert (none.returncode, "No hash_url starts with" in none.stderr) == (1, True)
    short = archiver_with_pages("show", "8db")
    assert (short.returncode, "8db is too short" in short.stderr) == (1, True)


def test_urls_can_come_from_standard_input(archiver_with_pages, site):
    done = archiver_with_pages("add", "-", input_data=f"{site.url('/bears')}\n\n")

    assert (done.returncode, "\tsaved\t" in done.stdout) == (0, True)


def test_help_is_short_and_settings_have_a_separate_help(archiver_with_pages):
    short, settings = (
        archiver_with_pages("serve", "--help").stdout,
        archiver_with_pages("serve", "--help-settings").stdout,
    )

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
