"""Reads a file as an import does: the format is detected, not given."""

import io

from archiver.formats.detection import importer_of, read_all
from archiver.formats.source_file import SourceFile


def opened(data, name="export"):
    """Return the name of the format of a text, bytes or a stream, and its bookmarks."""
    source = io.BytesIO(data.encode()) if isinstance(data, str) else data
    source = io.BytesIO(source) if isinstance(source, bytes) else source
    file = SourceFile(source, name)
    importer = importer_of(file)
    return importer.name, list(read_all(file, importer))


def annotations(data, name="export", *, form=None):
    """Return the annotations of a file, which must be of the format and without problems."""
    read_as, bookmarks = opened(data, name)
    assert form is None or read_as == form
    assert [each.problem for each in bookmarks if each.problem] == []
    return [each.annotation for each in bookmarks]
