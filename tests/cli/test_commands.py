"""The commands, end to end, on one archive."""

import hashlib
import json
import os
import pty
import signal
import subprocess
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

import pytest

from tests.command_line import CompletedCommand
from tests.index_access import remove_index
from tests.segments import change_segment, segments


def hash_of(url: str) -> str:
    return hashlib.md5(url.encode()).hexdigest()


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture(scope="module")
def added(site, archiver) -> CompletedCommand:
    """Add four URLs: two pages, one missing page, one invalid URL."""
    urls = [site.url("/foxes"), "nonsense", site.url("/missing"), site.url("/bears")]
    return archiver("add", *urls, "--tag", "animals", "--tag", "wild")


def test_add_prints_a_line_for_each_url_and_fails_if_one_does(
    site, added: CompletedCommand
) -> None:
    results = {row[0]: row[1:] for row in rows(added.stdout)}

    assert added.returncode == 1
    assert results.pop("-") == [
        "unusable",
        "nonsense: This is not a URL. A URL starts with https:// or http://.",
    ]
    assert results.pop(hash_of(site.url("/foxes"))) == ["saved", "About foxes"]
    assert results.pop(hash_of(site.url("/bears"))) == ["saved", "About bears"]
    (result, why) = results.pop(hash_of(site.url("/missing")))
    assert result == "failed"
    assert site.url("/missing") in why
    assert "404" in why
    assert not results


@pytest.mark.usefixtures("added")
def test_list_prints_rows_or_an_array(site, archiver) -> None:
    listed = archiver("list", "--status", "saved")
    documents = json.loads(archiver("list", "--json", "--all").stdout)

    assert {row[4]: (row[2], row[3]) for row in rows(listed.stdout)} == {
        site.url("/foxes"): ("saved", "About foxes"),
        site.url("/bears"): ("saved", "About bears"),
    }
    assert len(documents) == 3
    assert {tuple(each["tags"]) for each in documents} == {("animals", "wild")}


@pytest.mark.usefixtures("added")
def test_search_finds_by_words(site, archiver) -> None:
    assert [row[4] for row in rows(archiver("search", "foxes", "clever").stdout)] == [
        site.url("/foxes")
    ]
    (result,) = json.loads(archiver("search", "--json", "clever", "--", "-foxes").stdout)
    assert result["url"] == site.url("/bears")
    assert any(piece["is_match"] and piece["text"] == "clever" for piece in result["excerpt"])
    assert archiver("search", "nowhere").stdout == ""
    prefix = archiver("search", "--sort", "best", "foxe")
    assert len(rows(prefix.stdout)) == 1
    assert "archiver: no results; showing results for: foxe*\n" in prefix.stderr


@pytest.mark.usefixtures("added")
def test_show_prints_details_and_the_article(site, archiver) -> None:
    shown = archiver("show", site.url("/foxes"))
    details, article = shown.stdout.split("\n\n", 1)

    assert ["title", "About foxes"] in rows(details)
    assert ["hash_url", hash_of(site.url("/foxes"))] in rows(details)
    assert article.count("The foxes is an animal") == 5


@pytest.mark.usefixtures("added")
def test_export_of_a_list_prints_the_number_of_entries(archiver, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"

    exported = archiver("export", "csv", str(file))

    written, entries = rows(exported.stdout)
    assert written == ["written", f"{file.stat().st_size:,} bytes", str(file)]
    assert entries == ["entries", "3"]


@pytest.mark.usefixtures("added")
def test_verify_is_clean_and_reindex_gives_the_same_list(archiver, data: Path) -> None:
    before = archiver("list", "--json").stdout
    verified = archiver("verify")
    remove_index(data)
    reindexed = archiver("reindex")

    assert (verified.returncode, rows(verified.stdout)[-1]) == (0, ["problems", "0"])
    assert reindexed.returncode == 0
    # Entries of the same second are in the order of their records.
    by_url = itemgetter("url")
    entries = json.loads(archiver("list", "--json").stdout)
    assert sorted(entries, key=by_url) == sorted(json.loads(before), key=by_url)


def test_verify_finds_a_byte_that_changed(site, run_in, tmp_path) -> None:
    run_in(tmp_path / "data", "add", site.url("/wolves"))
    (segment,) = segments(tmp_path / "data")

    def damage(content: bytearray) -> None:
        content[len(content) // 2] ^= 0xFF

    change_segment(tmp_path / "data", segment, damage)

    verified = run_in(tmp_path / "data", "verify")

    assert verified.returncode == 1
    assert segment in verified.stdout
    report = json.loads((tmp_path / "data" / "verified").read_text())
    assert (report["records"] > 0, report["problems"] > 0) == (True, True)


def test_import_reads_reports_and_captures(site, run_in, tmp_path) -> None:
    urls = [site.url(f"/bird{number}") for number in range(5)]
    items = "".join(f'<DT><A HREF="{url}" TAGS="birds">B</A>\n' for url in [*urls, urls[0]])
    file = tmp_path / "bookmarks.html"
    file.write_text(f'<DL><DT><H3>Zoo</H3><DL>{items}<DT><A HREF="place:x">P</A></DL></DL>')

    links = run_in(tmp_path / "links", "import", str(file), "--capture", "never")
    read = run_in(tmp_path / "data", "import", str(file), "--no-crawl")
    again = run_in(tmp_path / "data", "import", str(file))
    listed = json.loads(run_in(tmp_path / "data", "list", "--json").stdout)

    assert dict(row[:2] for row in rows(read.stdout)) == {
        "file": "bookmarks.html (Netscape HTML)",
        "read": "7",
        "added": "5",
        "known": "0",
        "merged": "1",
        "unusable": "1",
        "skipped": "0",
        "-": "unusable",
    }
    assert {"saved", "failed"}.isdisjoint(row[0] for row in rows(links.stdout))
    assert ["links only", "5"] in rows(links.stdout)
    assert ["added", "0"] in rows(again.stdout)
    assert ["saved", "5"] in rows(again.stdout)
    assert {each["url"]: each["tags"] for each in listed} == {url: ["birds"] for url in urls}


def test_import_of_a_file_without_links_is_a_one_line_error(archiver) -> None:
    refused = archiver("import", "-", input_data="nothing here")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("archiver: standard input ")
    assert "contains no links" in refused.stderr


def test_reindex_is_refused_during_a_capture_and_a_signal_leaves_the_url_queued(
    site, command, run_in, tmp_path
) -> None:
    """The capture shows its progress on a terminal, and nothing of it in the output."""
    site.slow_requested.clear()
    terminal, ours = pty.openpty()
    line = command(tmp_path / "data", "add", site.url("/slow"))
    with subprocess.Popen(**line, stdout=subprocess.PIPE, stderr=ours) as process:
        os.close(ours)
        assert site.slow_requested.wait(60)
        refused = run_in(tmp_path / "data", "reindex")
        output = _until_closed(terminal)
        shown = b""
        while b"Capturing" not in shown:
            shown += next(output)
        process.send_signal(signal.SIGTERM)
        shown += b"".join(output)
        printed, _ = process.communicate(timeout=60)
    listed = run_in(tmp_path / "data", "list", "--json")

    assert refused.returncode == 1
    assert "in use by another process" in refused.stderr
    assert (process.returncode, printed) == (128 + signal.SIGTERM, "")
    assert b"`archiver crawl` continues" in shown
    assert [each["state"] for each in json.loads(listed.stdout)] == ["queued"]


def test_a_signal_stops_an_import_that_waits_for_more_from_a_pipe(command, tmp_path) -> None:
    line = command(tmp_path / "data", "import", "-", "--no-crawl")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(**line, **pipes) as process:
        process.stdin.write("http://a.example/\n" * 9000)
        process.stdin.flush()
        while not list((tmp_path / "data").glob("run/*.lock")):  # before the index is opened
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=120) == 128 + signal.SIGTERM


def _until_closed(terminal):
    """Read output until the other side closes (which Linux reports as EIO)."""
    with os.fdopen(terminal, "rb", buffering=0) as screen, suppress(OSError):
        while shown := screen.read(4096):
            yield shown
