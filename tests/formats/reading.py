"""Reads a file as an import does: the format is detected, not given."""

import io
import json

from archiver.formats.detection import open_bookmarks


def opened(data, name="export"):
    """Return the name of the format, and the bookmarks including problems."""
    raw = data.encode() if isinstance(data, str) else data
    form, found = open_bookmarks(io.BytesIO(raw), name)
    return form, list(found)


def annotations(data, name="export", *, form=None):
    """Return the annotations of a file, which must be of the format and without problems."""
    read_as, found = opened(data, name)
    assert form is None or read_as == form
    assert [each.problem for each in found if each.problem] == []
    return [each.annotation for each in found]


def said(annotation):
    """Return the content of a source record of one line."""
    return json.loads(annotation.source_record) if annotation.source_record else {}
