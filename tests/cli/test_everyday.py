"""Everyday commands, feeds, cookies and rules of sites, and their guarantees for scripts."""

import stat

import pytest
from click.testing import CliRunner

from archiver.cli.main import cli, run
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
    for command, message in (
        (("list", "--tag", "none"), "archiver: no entries.\n"),
        (("search", "unheardof"), "archiver: no results.\n"),
        (("lists",), "archiver: no lists.\n"),
        (("bin",), "archiver: the bin is empty.\n"),
        (("feeds",), "archiver: no feeds.\n"),
    ):
        done = archiver_with_pages(*command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", message)
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


SCREEN = 40


def test_the_help_of_every_command_fits_a_screen():
    for command in sorted(cli.commands):
        assert len(CliRunner().invoke(cli, [command, "--help"]).output.splitlines()) <= SCREEN, (
            command
        )


OUTLINE = """<opml version="2.0"><body>
<outline type="rss" text="Nobody's" xmlUrl="http://127.0.0.1:1/feed.xml"/></body></opml>"""


def test_feeds_are_imported_and_exported_and_a_failed_check_is_an_error(tmp_path, capsys):
    imported_file, exported_file = tmp_path / "given.opml", tmp_path / "taken.opml"
    imported_file.write_text(OUTLINE)
    data_option = ["--data", str(tmp_path / "data")]
    assert run(["import", str(imported_file), "--no-crawl", *data_option]) == 0

    assert run(["feeds", "import", str(imported_file), *data_option]) == 0
    assert run(["feeds", "check", *data_option]) == 1
    capsys.readouterr()
    assert run(["feeds", "export", str(exported_file), *data_option]) == 0
    assert run(["feeds", "export", "-", *data_option]) == 0

    assert "http://127.0.0.1:1/feed.xml" in exported_file.read_text()
    assert capsys.readouterr().out == exported_file.read_text()


SECRET = "s3cr3t-of-the-person"


def test_cookies_are_imported_listed_without_values_and_removed(tmp_path, capsys):
    cookie_file = tmp_path / "given.txt"
    cookie_file.write_text(f".a.example\tTRUE\t/\tTRUE\t1900000000\tid\t{SECRET}\nno cookie\n")
    data = tmp_path / "data"
    data_option = ["--data", str(data)]

    assert run(["cookies", "import", str(cookie_file), *data_option]) == 0
    assert run(["cookies", "list", *data_option]) == 0
    shown = capsys.readouterr()
    assert stat.S_IMODE((data / "cookies.txt").stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert run(["cookies", "remove", "a.example", *data_option]) == 0
    assert run(["cookies", "remove", "a.example", *data_option]) == 1

    assert shown.out.splitlines() == ["imported\t1", ".a.example\t/\tid\t2030-03-17"]
    assert "lines 2" in shown.err
    assert SECRET not in shown.out + shown.err
    assert SECRET not in (data / "cookies.txt").read_text()


def test_rules_of_sites_are_set_listed_and_removed(tmp_path, capsys):
    def do(*words):
        return run(["sites", *words, "--data", str(tmp_path / "data")])

    assert do("set", "https://a.example/", "--delay", "3", "--never-save") == 0
    assert do("set", "a.example", "--user-agent", "Mine/1", "--save") == 0
    assert do("list") == 0
    assert [do("remove", "a.example") for _ in range(2)] == [0, 1]

    assert capsys.readouterr().out.splitlines() == ["a.example\t\t3 s\tMine/1\t"]


def test_config_takes_a_setting_by_its_name_flag_or_variable_and_says_when_it_applies(
    tmp_path, capsys
):
    (tmp_path / "settings.toml").touch()

    def do(*words):
        return run(["config", "--data", str(tmp_path), *words])

    for name in ("retries", "--retries", "ARCHIVER_RETRIES"):
        assert do(name, "5") == 0
        assert "after a restart, or after Save" in capsys.readouterr().err, name
        assert do(name) == 0
        assert capsys.readouterr().out == "5\tsettings.toml\n", name
        assert do("--unset", name) == 0
    for name in ("host", "--host", "ARCHIVER_HOST", "password"):
        assert do(name, "0.0.0.0") == 1
        flag = name.removeprefix("--").removeprefix("ARCHIVER_").lower()
        assert f"--{flag} or ARCHIVER_{flag.upper()}" in capsys.readouterr().err, name
