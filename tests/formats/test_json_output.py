"""The command line's JSON equals the API's, which pydantic writes."""

from datetime import UTC, datetime

import pytest
from pydantic_core import to_jsonable_python

from archiver.formats.json_output import flattened, to_document
from archiver.model.failure import Failure, FailureKind
from archiver.model.imports import ImportStatus, Rejected
from archiver.model.job import Job, QueueCounts, State

JOB = Job(
    id=1,
    hash_url="0" * 32,
    url="https://a.example/\u2028",
    state=State.QUEUED,
    failure=Failure(FailureKind.DNS, "No such name."),
    not_before=datetime(2024, 1, 2, 3, 4, 5, 678900, tzinfo=UTC),
)
IMPORT = ImportStatus(
    3,
    "b.html",
    "netscape",
    datetime(1, 1, 2, tzinfo=UTC),
    False,
    0,
    0,
    0,
    0,
    0,
    (Rejected("x", "y"),),
    "",
    QueueCounts(),
)


@pytest.mark.parametrize("value", [JOB, IMPORT, [JOB, None], {"a": (1.5, True)}, "text"])
def test_values_are_serialised_like_in_pydantic(value):
    assert to_document(value) == flattened(to_jsonable_python(value))
