"""Failures as they stand in a column: compact JSON."""

import json

from archiver.model.failure import Failure, FailureKind


def dump(failure: Failure) -> str:
    """The JSON of a failure."""
    fields = {"kind": failure.kind, "message": failure.message}
    if failure.status is not None:
        return json.dumps({**fields, "status": failure.status})
    return json.dumps(fields)


def load(stored: str | None) -> Failure | None:
    """The failure of a column, if it holds one."""
    if not stored:
        return None
    fields = json.loads(stored)
    return Failure(FailureKind(fields["kind"]), fields["message"], fields.get("status"))
