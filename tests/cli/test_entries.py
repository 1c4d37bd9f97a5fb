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


def test_undoing_a_deletion_that_is_not_there_says_so(run_in, site, tmp_path):
    run_in(tmp_path, "add", site.url("/owls"))
    for number in ("7", "99999999999999999999"):
        refused = run_in(tmp_path, "delete", "--undo", number)

        assert refused.returncode == 1
        assert f"Cannot undo deletion {number}" in refused.stderr
