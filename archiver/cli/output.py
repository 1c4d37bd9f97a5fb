"""What commands print: rows of fields, and JSON."""

import json
import re
import sys

from archiver.formats.documents import to_document

# Titles and texts come from pages: none of them may move the cursor, ring the bell or break a
# row. C0 and C1 controls, line and paragraph separators, and the marks that turn text around.
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def write_json(value: object) -> None:
    """Print one JSON value, indented."""
    sys.stdout.write(json.dumps(to_document(value), ensure_ascii=False, indent=2) + "\n")


def write_row(*fields: str) -> None:
    """Print one line: fields separated by tabs, none of which holds a tab or an end of line."""
    sys.stdout.write("\t".join(" ".join(clean(field).split()) for field in fields) + "\n")
    sys.stdout.flush()


def write_text(text: str) -> None:
    """Print text of any length."""
    sys.stdout.write(clean(text) + "\n")


def clean(text: str) -> str:
    """Take out what a terminal would act on; line ends and tabs stay."""
    return _UNPRINTABLE.sub("", text)


class JsonArray:
    """Prints a JSON array as its items come, so that it can be as long as it likes."""

    def __init__(self) -> None:
        self._empty = True

    def add(self, value: object) -> None:
        """Print the next item, on a line of its own."""
        sys.stdout.write("[\n" if self._empty else ",\n")
        sys.stdout.write(json.dumps(to_document(value), ensure_ascii=False))
        self._empty = False

    def end(self) -> None:
        """Close the array."""
        sys.stdout.write("[]\n" if self._empty else "\n]\n")
