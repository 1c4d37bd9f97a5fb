"""``archiver rescue``: the selected pages, and the setting that allows it."""

import pytest

from archiver.cli.main import run


@pytest.fixture
def here(tmp_path):
    (tmp_path / "data").mkdir()
    return ["--data", str(tmp_path / "data")]


def test_no_archive_is_requested_without_the_setting(here, capsys):
    assert run(["rescue", *here]) == 1
    assert "Settings" in capsys.readouterr().err


def test_an_unknown_archive_is_refused_with_the_known_names(here, capsys):
    assert run(["rescue", "--rescue", "waybak", *here]) == 2
    assert "aggregator" in capsys.readouterr().err
