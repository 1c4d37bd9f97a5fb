"""``archiver edit``, run as a person runs it."""

import json
import os
import pty
import subprocess

import pytest


@pytest.fixture(scope="module")
def kept(archiver, site):
    """Two entries."""
    archiver("add", site.url("/foxes"), site.url("/bears"), "--tag", "animal")
    return archiver


def shown(archiver, url):
    return json.loads(archiver("show", url, "--json").stdout)


def test_what_is_named_is_changed_and_given_back_by_reindex(kept, site):
    url = site.url("/foxes")
    done = kept("edit", url, "--title", "T", "--note", "N", "--tag", "new", "--untag", "animal",
                "--read", "--star")  # fmt: skip

    assert (done.returncode, done.stdout.startswith("found\t1\nchanged\t1\nundo\t")) == (0, True)
    before = shown(kept, url)
    assert (before["title"], before["note"], before["tags"]) == ("T", "N", ["new"])
    assert (before["is_read"], before["is_starred"]) == (True, True)
    assert kept("reindex").returncode == 0
    assert shown(kept, url) == before


def test_an_edit_is_undone_by_the_number_that_it_printed(kept, site):
    before = shown(kept, site.url("/bears"))
    done = kept("edit", "--query", "title:bears", "--note", "Other")
    number = done.stdout.splitlines()[-1].removeprefix("undo\t")

    assert shown(kept, site.url("/bears"))["note"] == "Other"
    assert kept("edit", "--undo", number).stdout == "found\t1\nchanged\t1\n"
    assert shown(kept, site.url("/bears")) == before
    assert "undone already" in kept("edit", "--undo", number).stderr


@pytest.mark.parametrize(
    ("answer", "asked", "is_done"),
    [("n", (), False), ("y", (), True), ("n", ("--yes",), True)],
)
def test_deleting_all_search_results_asks_first_at_a_terminal(
    run_at_a_terminal, answer, asked, is_done
):
    done = run_at_a_terminal(answer, "delete", "--query", "site:127.0.0.1", *asked)

    assert ("2 entries?" in done.stderr) is (not asked)
    assert done.stdout.splitlines()[:1] == (["entries\t2"] if is_done else [])


@pytest.fixture
def run_at_a_terminal(command, run_in, site, tmp_path):
    """Run the program on an archive of two entries, with a terminal where something is typed."""

    def run(answer, *arguments):
        run_in(tmp_path, "add", site.url("/foxes"), site.url("/bears"))
        terminal, theirs = pty.openpty()
        os.write(terminal, f"{answer}\n".encode())
        line = command(tmp_path, *arguments)
        done = subprocess.run(**line, stdin=theirs, capture_output=True, timeout=120, check=False)
        os.close(theirs)
        os.close(terminal)
        return done

    return run
