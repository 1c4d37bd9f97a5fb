"""``archiver imports``, end to end."""

import json


def test_imports_are_listed_retried_and_undone(archiver, tmp_path):
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
    said = "archiver: Import 1 was already undone.\n"
    assert (again.returncode, again.stdout, again.stderr) == (1, "", said)
    for wrong in (("undo",), ("undo", "9"), ("undo", "9" * 20)):
        refused = archiver("imports", *wrong)
        assert (refused.returncode, refused.stderr[:10]) == (1, "archiver: ")
