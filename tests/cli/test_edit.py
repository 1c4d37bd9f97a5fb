"""``archiver edit``, run as a person runs it."""

import json

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

    assert (done.returncode, done.stdout) == (0, "found\t1\nchanged\t1\n")
    before = shown(kept, url)
    assert (before["title"], before["note"], before["tags"]) == ("T", "N", ["new"])
    assert (before["is_read"], before["is_starred"]) == (True, True)
    assert kept("reindex").returncode == 0
    assert shown(kept, url) == before


def test_what_a_search_finds_is_changed(kept, site):
    done = kept("edit", "--query", "title:bears", "--star")

    assert done.stdout == "found\t1\nchanged\t1\n"
    assert shown(kept, site.url("/bears"))["is_starred"]
    assert kept("edit", "--query", "title:bears", "--star").stdout == "found\t1\nchanged\t0\n"


@pytest.mark.parametrize(
    "arguments",
    [(), ("http://a.example/", "--read"), ("http://a.example/", "--query", "x", "--read")],
)
def test_what_can_t_be_done_is_said(kept, arguments):
    done = kept("edit", *arguments)

    assert done.returncode == 1
    assert done.stderr.startswith("archiver: ")


def test_an_edit_must_change_something(kept, site):
    assert "Say what is to be changed" in kept("edit", site.url("/bears")).stderr


def test_lists_are_made_filled_and_printed_in_order(kept, site):
    foxes, bears = site.url("/foxes"), site.url("/bears")
    kept("edit", foxes, "--list", "Later/Best")
    kept("edit", bears, "--list", "Later/Best")
    made = kept("lists", "--make", "Fresh", "--query", "is:unread")

    done = kept("lists", "--rename", "Later", "Soon")

    assert made.stdout == "Fresh\t-\tis:unread\n"
    assert done.stdout == "Soon\t0\t-\nSoon/Best\t2\t-\n"
    assert kept("lists").stdout == done.stdout + made.stdout
    found = kept("search", "list:Soon/Best").stdout.splitlines()
    assert [line.split("\t")[4] for line in found] == [foxes, bears]
    kept("edit", foxes, "--unlist", "Soon/Best")
    assert kept("reindex").returncode == 0
    assert json.loads(kept("lists", "--json").stdout)[1]["count"] == 1
