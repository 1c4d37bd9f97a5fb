"""``archiver imports``, run as a person runs it."""

import gzip
import json

from tests.segments import segments


def test_what_an_import_brought_is_listed_tried_again_and_undone(archiver, tmp_path):
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
    assert "\tundone, and put back\n" in archiver("imports").stdout
    archiver("imports", "undo", "1")
    again = archiver("imports", "undo", "1")
    said = "archiver: Import 1 is undone already.\n"
    assert (again.returncode, again.stdout, again.stderr) == (1, "", said)
    for wrong in (("undo",), ("undo", "9"), ("undo", "9" * 20)):
        refused = archiver("imports", *wrong)
        assert (refused.returncode, refused.stderr[:10]) == (1, "archiver: ")


def test_it_is_said_why_links_of_a_file_are_left_out(archiver, tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("url,folder\nhttp://127.0.0.1:1/here,Here\nhttp://127.0.0.1:1/there,There\n")
    chosen = ("--only-folder", "Here", str(path))

    looked = archiver("import", "--dry-run", *chosen).stdout
    read = archiver("import", "--no-crawl", *chosen).stdout

    for told in (looked, read):
        assert "left out\t1\tin no folder that was chosen\n" in told


def test_links_that_are_not_to_be_captured_are_counted_as_that(archiver, tmp_path):
    path = tmp_path / "links.txt"
    path.write_text("http://127.0.0.1:1/a http://127.0.0.1:1/b\n")

    archiver("import", "--capture", "never", str(path))

    assert "0 waiting, 2 without capture, 0 saved" in archiver("imports").stdout


def test_folders_that_hold_nothing_are_an_error(archiver, tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("url,folder\nhttp://127.0.0.1:1/here,Here\n")

    for how in ("--dry-run", "--no-crawl"):
        told = archiver("import", how, "--only-folder", "Nope", str(path))

        assert told.returncode == 1
        assert "No link of the file lies in “Nope”" in told.stderr
        assert "left out\t1\t" in told.stdout


def test_what_was_said_of_a_page_goes_along_whatever_was_thrown_away_and_is_in_the_files_at_once(
    archiver, site, tmp_path
):
    archiver("add", site.url("/foxes"), site.url("/bears"))
    archiver("delete", site.url("/bears"))
    archiver("edit", site.url("/foxes"), "--list", "Supper", "--note", "read it again")
    taken, other = tmp_path / "taken.warc.gz", tmp_path / "other"
    other.mkdir()
    archiver("export", "warc", str(taken))

    done = archiver("import", str(taken), "--data", str(other))

    records = [gzip.decompress(each) for each in segments(other).values()]
    shown = archiver("show", site.url("/foxes"), "--json", "--data", str(other)).stdout
    assert done.returncode == 0
    assert any(b"urn:archiver:lists" in each and b"Supper" in each for each in records)
    assert json.loads(shown)["note"] == "read it again"
