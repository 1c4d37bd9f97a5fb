"""Reads a file as it is read when it is given: its kind is found out, nothing is told of it."""

import io
import json

from archiver.formats.detection import open_bookmarks


def opened(data, name="export"):
    """The name of the format, and the bookmarks, problems among them."""
    raw = data.encode() if isinstance(data, str) else data
    form, found = open_bookmarks(io.BytesIO(raw), name)
    return form, list(found)


def annotations(data, name="export", *, form=None):
    """What is said of each link of a file that must be of a format, and hold no problem."""
    read_as, found = opened(data, name)
    assert form is None or read_as == form
    assert [each.problem for each in found if each.problem] == []
    return [each.annotation for each in found]


def said(annotation):
    """What is in a source record of one line."""
    return json.loads(annotation.source_record) if annotation.source_record else {}
