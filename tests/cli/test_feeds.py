"""``archiver feeds`` and its guarantees for scripts."""

from archiver.cli.main import run

OUTLINE = """<opml version="2.0"><body>
<outline type="rss" text="Nobody's" xmlUrl="http://127.0.0.1:1/feed.xml"/></body></opml>"""


def test_feeds_are_imported_and_exported_and_a_failed_check_is_an_error(tmp_path, capsys):
    given, taken = tmp_path / "given.opml", tmp_path / "taken.opml"
    given.write_text(OUTLINE)
    data_option = ["--data", str(tmp_path / "data")]
    assert run(["import", str(given), "--no-crawl", *data_option]) == 0

    assert run(["feeds", "import", str(given), *data_option]) == 0
    assert run(["feeds", "check", *data_option]) == 1
    capsys.readouterr()
    assert run(["feeds", "export", str(taken), *data_option]) == 0
    assert run(["feeds", "export", "-", *data_option]) == 0

    assert "http://127.0.0.1:1/feed.xml" in taken.read_text()
    assert capsys.readouterr().out == taken.read_text()


def test_an_action_without_arguments_refuses_them(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    data_option = ["--data", str(tmp_path / "data")]

    assert run(["feeds", "check", "http://a.example/", *data_option]) == 1
    assert run(["feeds", "import", *data_option]) == 1

    assert "takes an OPML file" in capsys.readouterr().err
