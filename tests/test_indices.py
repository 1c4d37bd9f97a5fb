"""Which tests are run once, and which with each engine."""

import re

import pytest

from tests.indices import BENEATH, TESTS

OPENS = re.compile(
    r"\barchiver\.(archive|cli|crawl|crawler|index|ingest|ledger|reading|runtime|web)\b"
    r"|\btests\.(crawler|prepared)\b|\"-m\", \"archiver\""
)


@pytest.mark.parametrize("name", BENEATH)
def test_what_is_run_with_one_engine_alone_opens_no_index(name):
    place = TESTS / name
    modules = sorted(place.rglob("*.py")) if place.is_dir() else [place]

    assert modules
    assert [each.name for each in modules if OPENS.search(each.read_text("utf-8"))] == []
