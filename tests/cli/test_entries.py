"""``archiver delete``, ``edit`` and ``imports``, end to end."""

import json
import os
import pty
from functools import partial

import pytest


def listed_urls(archiver):
    return {each["url"] for each in json.loads(archiver("list", "--json").stdout)}


def test_entries_are_deleted_and_restored(run_in, site, tmp_path):
    archiver = partial(run_in, tmp_path / "data")
    foxes, bears = site.url("/foxes"), site.url("/bears")
    archiver("add", foxes, bears)

    done = archiver("delete", foxes)
    entries, snapshots, undo = (line.split("\t")[1] for line in done.stdout.splitlines())
    assert (done.returncode, entries, snapshots) == (0, "1", "1")
    assert listed_urls(archiver) == {bears}

    assert archiver("delete", "--undo", undo).returncode == 0
    assert listed_urls(archiver) == {foxes, bears}

    assert archiver("delete", "--query", "title:foxes").stdout.startswith("entries\t1\n")
    assert listed_urls(archiver) == {bears}

    for wrong in ((), (bears, foxes, "--snapshot", "2026")):
        refused = archiver("delete", *wrong)
        assert (refused.returncode, refused.stderr[:10]) == (1, "archiver: ")


def test_imports_are_listed_retried_and_undone(run_in, tmp_path):
    archiver = partial(run_in, tmp_path / "data")
    path = tmp_path / "links.txt"
    path.write_text("http://127.0.0.1:1/a\n")
    archiver("import", str(path))

    row = archiver("imports").stdout.split("\t")
    assert row[2:4] == ["done", "links.txt"]
    assert row[4].startswith("1 links read, 0 merged, 0 waiting")
    assert archiver("imports", "failed", "1").stdout == "1\trefused\n"
    assert archiver("imports", "again", "1").stdout == "queued\t1\n"
    undone = archiver("imports", "undo", "1", "--json")
    assert json.loads(undone.stdout)["removed"] == 1
    assert "\tundone\n" in archiver("imports").stdout
    assert json.loads(archiver("list", "--json").stdout) == []
    archiver("delete", "--undo", str(json.loads(undone.stdout)["deletion"]))
    assert "\tundone, then restored\n" in archiver("imports").stdout
    archiver("imports", "undo", "1")
    again = archiver("imports", "undo", "1")
    message = "archiver: Import 1 was already undone.\n"
    assert (again.returncode, again.stdout, again.stderr) == (1, "", message)
    for wrong in (("undo",), ("undo", "9" * 20)):
        refused = archiver("imports", *wrong)
        assert (refused.returncode, refused.stderr[:10]) == (1, "archiver: ")


@pytest.fixture(scope="module")
def archiver_with_pages(archiver, site):
    """Two entries."""
    archiver("add", site.url("/foxes"), site.url("/bears"), "--tag", "animal")
    return archiver


def entry_of(archiver, url):
    return json.loads(archiver("show", url, "--json").stdout)


def test_edits_are_applied(archiver_with_pages, site):
    url = site.url("/foxes")
    flags = "--title T --note N --tag new --untag animal --read --star"
    done = archiver_with_pages("edit", url, *flags.split())

    assert (done.returncode, done.stdout.startswith("found\t1\nchanged\t1\nundo\t")) == (0, True)
    before = entry_of(archiver_with_pages, url)
    assert (before["title"], before["note"], before["tags"]) == ("T", "N", ["new"])
    assert (before["is_read"], before["is_starred"]) == (True, True)


def test_an_edit_is_undone_by_the_number_that_it_printed(archiver_with_pages, site):
    before = entry_of(archiver_with_pages, site.url("/bears"))
    done = archiver_with_pages("edit", "--query", "title:bears", "--note", "Other")
    number = done.stdout.splitlines()[-1].removeprefix("undo\t")

    assert entry_of(archiver_with_pages, site.url("/bears"))["note"] == "Other"
    assert archiver_with_pages("edit", "--undo", number).stdout == "found\t1\nchanged\t1\n"
    assert entry_of(archiver_with_pages, site.url("/bears")) == before
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
