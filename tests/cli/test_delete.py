"""``archiver delete``, run as a person runs it."""

import json


def listed(archiver):
    return {each["url"] for each in json.loads(archiver("list", "--json").stdout)}


def test_what_is_named_goes_comes_back_and_goes_for_good(archiver, site):
    foxes, bears = site.url("/foxes"), site.url("/bears")
    archiver("add", foxes, bears)

    done = archiver("delete", foxes)
    entries, snapshots, undo = (line.split("\t")[1] for line in done.stdout.splitlines())
    assert (done.returncode, entries, snapshots) == (0, "1", "1")
    assert listed(archiver) == {bears}

    assert archiver("delete", "--undo", undo).returncode == 0
    assert listed(archiver) == {foxes, bears}

    assert archiver("delete", "--query", "title:foxes").stdout.startswith("entries\t1\n")
    assert archiver("reindex").returncode == 0
    assert listed(archiver) == {bears}
    assert archiver("verify").stdout.splitlines()[-1] == "problems\t0"

    for wrong in ((), (foxes,), (bears, "--query", "x"), (bears, foxes, "--snapshot", "2026")):
        refused = archiver("delete", *wrong)
        assert (refused.returncode, refused.stderr[:10]) == (1, "archiver: ")
