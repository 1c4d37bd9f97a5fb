"""``archiver delete``, end to end."""

import json


def listed(archiver):
    return {each["url"] for each in json.loads(archiver("list", "--json").stdout)}


def test_entries_are_deleted_restored_and_erased(archiver, site):
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


def test_undoing_an_unknown_deletion_is_an_error(run_in, site, tmp_path):
    run_in(tmp_path, "add", site.url("/owls"))
    for number in ("7", "99999999999999999999"):
        refused = run_in(tmp_path, "delete", "--undo", number)

        assert refused.returncode == 1
        assert "This deletion can't be undone" in refused.stderr
