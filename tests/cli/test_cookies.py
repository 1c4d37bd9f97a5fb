"""``archiver cookies`` lists cookies without their values."""

import stat

from archiver.cli.main import run

SECRET = "s3cr3t-of-the-person"


def test_cookies_are_imported_listed_without_values_and_removed(tmp_path, capsys):
    given = tmp_path / "given.txt"
    given.write_text(f".a.example\tTRUE\t/\tTRUE\t1900000000\tid\t{SECRET}\nno cookie\n")
    data = tmp_path / "data"
    data_option = ["--data", str(data)]

    assert run(["cookies", "import", str(given), *data_option]) == 0
    assert run(["cookies", "list", *data_option]) == 0
    shown = capsys.readouterr()
    assert stat.S_IMODE((data / "cookies.txt").stat().st_mode) == 0o600
    assert run(["cookies", "remove", "a.example", *data_option]) == 0
    assert run(["cookies", "remove", "a.example", *data_option]) == 1

    assert shown.out.splitlines() == ["imported\t1", ".a.example\t/\tid\t2030-03-17"]
    assert "Lines 2" in shown.err
    assert SECRET not in shown.out + shown.err
    assert SECRET not in (data / "cookies.txt").read_text()


def test_rules_of_sites_are_set_listed_and_removed(tmp_path, capsys):
    def do(*words):
        return run(["sites", *words, "--data", str(tmp_path / "data")])

    assert do("set", "https://a.example/", "--delay", "3", "--never-save") == 0
    assert do("set", "a.example", "--user-agent", "Mine/1", "--save") == 0
    assert do("set", "a.example", "--delay", "soon") == 1
    assert do("list") == 0
    assert [do("remove", "a.example") for _ in range(2)] == [0, 1]

    shown = capsys.readouterr()
    assert shown.out.splitlines() == ["a.example\t\t3\tMine/1\t"]
    assert "delay: must be a number" in shown.err
