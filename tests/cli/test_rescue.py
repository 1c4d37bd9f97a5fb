"""``archiver rescue``: which pages public archives are asked for, and that they may be."""

import pytest

from archiver.cli.main import run


@pytest.fixture
def here(tmp_path):
    (tmp_path / "data").mkdir()
    return ["--data", str(tmp_path / "data")]


def test_nobody_is_asked_until_somebody_may_be(here, capsys):
    assert run(["rescue", *here]) == 1
    assert "ARCHIVER_RESCUE" in capsys.readouterr().err


def test_a_name_that_nobody_knows_is_refused_with_those_that_are(here, capsys):
    assert run(["rescue", "--rescue", "waybak", *here]) == 2
    assert "aggregator" in capsys.readouterr().err
