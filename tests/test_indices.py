"""Which tests are run once, and which with each engine."""

import os
import re
import shlex
import subprocess
import sys

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


def test_tests_that_need_servers_are_run_with_those_that_do_not():
    recipe = (TESTS.parent / "Makefile").read_text("utf-8").partition("\ntest-cluster:")[2]
    asked = re.search(
        r"-m pytest -p tests.in_bucket -p tests.in_postgres (.*) \$\(ARGS\) (.*)", recipe
    )
    command = [*shlex.split(" ".join(asked.groups())), "-n0", "--collect-only"]
    others = [f"--ignore={each}" for each in TESTS.iterdir() if each.name != "cluster"]

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *command, *others],
        check=False,
        cwd=TESTS.parent,
        env={**os.environ, "ARCHIVER_TEST_SERVER": "postgresql://nobody@127.0.0.1:1"},
        capture_output=True,
        text=True,
    )

    rooms = {line.partition("/test_")[0] for line in ran.stdout.splitlines() if "::" in line}
    assert rooms == {"tests/cluster"}, ran.stdout + ran.stderr
