"""``archiver edit``, and the confirmation that it shares with ``archiver delete``."""

import json
import os
import pty

import pytest


@pytest.fixture(scope="module")
def archiver_with_pages(archiver, site):
    """Two entries."""
    archiver("add", site.url("/foxes"), site.url("/bears"), "--tag", "animal")
    return archiver


def shown(archiver, url):
    return json.loads(archiver("show", url, "--json").stdout)


def test_edits_are_applied_and_survive_a_reindex(archiver_with_pages, site):
    url = site.url("/foxes")
    done = archiver_with_pages(
        "edit",
        url,
        "--title",
        "T",
        "--note",
        "N",
        "--tag",
        "new",
        "--untag",
        "animal",
        "--read",
        "--star",
    )

    assert (done.returncode, done.stdout.startswith("found\t1\nchanged\t1\nundo\t")) == (0, True)
    before = shown(archiver_with_pages, url)
    assert (before["title"], before["note"], before["tags"]) == ("T", "N", ["new"])
    assert (before["is_read"], before["is_starred"]) == (True, True)
    assert archiver_with_pages("reindex").returncode == 0
    assert shown(archiver_with_pages, url) == before


def test_an_edit_is_undone_by_the_number_that_it_printed(archiver_with_pages, site):
    before = shown(archiver_with_pages, site.url("/bears"))
    done = archiver_with_pages("edit", "--query", "title:bears", "--note", "Other")
    number = done.stdout.splitlines()[-1].removeprefix("undo\t")

    assert shown(archiver_with_pages, site.url("/bears"))["note"] == "Other"
    assert archiver_with_pages("edit", "--undo", number).stdout == "found\t1\nchanged\t1\n"
    assert shown(archiver_with_pages, site.url("/bears")) == before
    assert "already undone" in archiver_with_pages("edit", "--undo", number).stderr


@pytest.fixture
def terminal():
    """Return a terminal as standard input, in which ``n`` and then ``y`` are typed."""
    typing, screen = pty.openpty()
    os.write(typing, b"n\ny\n")
    with os.fdopen(screen) as standard_input:
        yield standard_input
    os.close(typing)


def test_deleting_all_search_results_asks_first_at_a_terminal(run_in, site, tmp_path, terminal):
    run_in(tmp_path, "add", site.url("/foxes"), site.url("/bears"))
    delete = ("delete", "--query", "site:127.0.0.1")

    refused, confirmed = (run_in(tmp_path, *delete, stdin=terminal) for _ in range(2))
    undo = confirmed.stdout.split()[-1]
    run_in(tmp_path, "delete", "--undo", undo)
    unasked = run_in(tmp_path, *delete, "--yes", stdin=terminal)

    assert ("2 entries?" in refused.stderr, refused.stdout) == (True, "")
    assert ("2 entries?" in confirmed.stderr, confirmed.stdout[:10]) == (True, "entries\t2\n")
    assert ("2 entries?" in unasked.stderr, unasked.stdout[:10]) == (False, "entries\t2\n")
