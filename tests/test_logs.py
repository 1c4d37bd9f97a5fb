"""Logs for people and for programs."""

import json
import logging
from errno import ENOSPC

import pytest

from archiver.errors import StoreError
from archiver.logs import configure, get_log


@pytest.fixture(autouse=True)
def _as_before():
    root, ours = logging.getLogger(), logging.getLogger("archiver")
    before = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:], root.level = before[:2]
    ours.setLevel(before[2])


def test_a_line_contains_the_event_and_its_fields(capsys):
    configure("info", as_json=False)

    get_log("archiver.test").info("50 % done", url="http://a.example/\n")

    line = capsys.readouterr().err
    assert line.endswith(" [info] 50 % done url='http://a.example/\\n'\n")
    assert line.count("\n") == 1


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
        assert line.endswith(f" [error] not kept{fields} reason={str(error)!r}")


def test_other_libraries_log_warnings_and_errors(capsys):
    configure("debug", as_json=True)

    logging.getLogger("asyncio").info("not heard")
    logging.getLogger("asyncio").warning("heard: %s", "this")

    assert json.loads(capsys.readouterr().err)["event"] == "heard: this"
