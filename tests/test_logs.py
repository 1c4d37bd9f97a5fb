"""Logs for people and for programs."""

import json
import logging
from errno import ENOSPC

import pytest

from archiver.errors import StoreError
from archiver.logs import configure, get_log
from archiver.model.imports import FoldersAs


@pytest.fixture(autouse=True)
def _as_before():
    root, ours = logging.getLogger(), logging.getLogger("archiver")
    before = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:], root.level = before[:2]
    ours.setLevel(before[2])


def test_a_line_contains_the_event_and_its_fields_in_quotes_where_needed(capsys):
    configure("info", as_json=False)
    log = get_log("archiver.test")

    for value, shown in (
        ("http://a.example/", "http://a.example/"),
        ("http://a.example/\n", r'"http://a.example/\n"'),
        ('no "route" é', r'"no \"route\" é"'),
        ("\u2028", r'"\u2028"'),
        ("", '""'),
        (FoldersAs.LISTS, "lists"),
        (3, "3"),
        (None, "None"),
    ):
        log.info("50 % done", value=value)

        line = capsys.readouterr().err
        assert line.endswith(f" [info] 50 % done value={shown}\n")
        assert len(line.splitlines()) == 1


def test_json_contains_the_fields_and_the_traceback(capsys):
    configure("warning", as_json=True)
    log = get_log("archiver.test")

    log.info("not heard")
    try:
        int("why")
    except ValueError:
        log.exception("broke off", items=3)

    (line,) = capsys.readouterr().err.splitlines()
    written = json.loads(line)
    assert (written["level"], written["event"], written["items"]) == ("error", "broke off", 3)
    assert written["exception"].endswith("'why'")


@pytest.mark.parametrize("error", [StoreError("It is full."), OSError(ENOSPC, "It is full")])
def test_expected_errors_have_no_traceback(capsys, error):
    configure("info", as_json=False)

    try:
        raise error
    except type(error):
        get_log("archiver.test").exception("not kept", items=3)
    get_log("archiver.test").error("not kept", exc_info=error)

    for line, fields in zip(capsys.readouterr().err.splitlines(), (" items=3", ""), strict=True):
        assert line.endswith(f" [error] not kept{fields} reason={json.dumps(str(error))}")


def test_other_libraries_log_warnings_and_errors(capsys):
    configure("debug", as_json=True)

    logging.getLogger("asyncio").info("not heard")
    logging.getLogger("asyncio").warning("heard: %s", "this")

    assert json.loads(capsys.readouterr().err)["event"] == "heard: this"
