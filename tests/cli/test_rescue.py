"""``archiver rescue``: the selected pages, and the setting that allows it."""

import pytest

from archiver.cli.main import run


@pytest.fixture
def data_option(tmp_path):
    (tmp_path / "data").mkdir()
    return ["--data", str(tmp_path / "data")]


def test_no_archive_is_requested_without_the_setting(data_option, capsys):
    assert run(["rescue", *data_option]) == 1
    assert "Settings" in capsys.readouterr().err


def test_an_unknown_archive_is_refused_with_the_known_names(data_option, capsys):
    assert run(["rescue", "--rescue", "waybak", *data_option]) == 2
    assert "aggregator" in capsys.readouterr().err
