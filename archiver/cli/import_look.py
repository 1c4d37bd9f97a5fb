"""``archiver import --dry-run``: what an import would do; and how its file is opened."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from archiver.app import open_app
from archiver.cli.output import write_json, write_row
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.choices import Choices
from archiver.model.survey import Counted, ImportSurvey, Sign
from archiver.services.import_reading import kind_of_file
from archiver.wire.moments import write_iso

LEFT_OUT = ("in no folder that was chosen",)
"""Why a link is left out, beside how many are."""
_STANDARD_INPUT = Path("-")
_MOST_SHOWN = 40


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """The file of an import; ``-`` is standard input."""
    if file == _STANDARD_INPUT:
        yield sys.stdin.buffer
    else:
        with file.open("rb") as source:
            yield source


def name_of(file: Path) -> str:
    """Name the file for people: a file's name need not be UTF-8."""
    if file == _STANDARD_INPUT:
        return "standard input"
    return os.fsencode(file.name).decode("utf-8", "replace")


async def look(settings: Settings, file: Path, choices: Choices, *, as_json: bool) -> int:
    """Print what an import of a file would do."""
    name = name_of(file)

    with opened(file) as source:
        if kind := kind_of_file(source, name):
            raise InputError(f"{name} holds captures ({kind}), which are taken in as they are.")
        async with open_app(settings, reads_only=True) as app:
            looking = app.surveys
            survey = await looking.look(source, name, choices=choices)
    if as_json:
        write_json(survey)
    else:
        _print(survey)
    if choices.only_folders and 0 < survey.left_out == survey.read:
        raise nothing_chosen(choices)
    return 0


def nothing_chosen(choices: Choices) -> InputError:
    """The error of folders that no link of a file lies in."""
    folders = ", ".join(f"“{each}”" for each in choices.only_folders)
    return InputError(
        f"No link of the file lies in {folders}: `archiver import --dry-run` without "
        "--only-folder prints the folders that it has."
    )


_SIGNS = {
    Sign.FILES: "the files in it: ",
    Sign.COLUMNS: "its columns: ",
    Sign.FIELDS: "its fields: ",
    Sign.ROOT: "its root element: ",
    Sign.BEGINNING: "how it begins",
}


def _print(survey: ImportSurvey) -> None:
    told_by = f"told by {_SIGNS[survey.told_by]}{survey.names}"
    write_row("file", f"{survey.name} ({survey.format}, {told_by})")
    if survey.encoding:
        write_row("encoding", survey.encoding)
    for what in ("read", "new", "known", "merged", "unusable", "left_out"):
        why = LEFT_OUT if what == "left_out" and survey.left_out else ()
        write_row(what.replace("_", " "), str(getattr(survey, what)), *why)
    if survey.lists:
        write_row("lists", str(survey.lists))
    if survey.lists_left_out:
        write_row("lists left out", str(survey.lists_left_out))
    for name, role in survey.columns:
        write_row("column", f"{role}={name}")
    if survey.earliest and survey.latest:
        write_row("saved", f"{write_iso(survey.earliest)} to {write_iso(survey.latest)}")
    _print_counted("folder", survey.folders, survey.folder_count)
    _print_counted("tag", survey.tags, survey.tag_count)
    _print_counted("field", survey.fields, len(survey.fields))
    _print_counted("kept as it stands", survey.kept, len(survey.kept))
    for each in survey.sample:
        write_row("sample", each.title, each.url_given, write_iso(each.saved_at))
    _print_counted("unusable because", survey.reasons, len(survey.reasons))
    for bad in survey.samples:
        write_row("-", str(bad.row), f"{bad.given}: {bad.reason}")
    write_row("Nothing was kept. Without --dry-run it is imported.")


def _print_counted(what: str, names: tuple[Counted, ...], total: int) -> None:
    for each in names[:_MOST_SHOWN]:
        write_row(what, each.name, str(each.count))
    if total > _MOST_SHOWN:
        write_row(what, f"… and {total - _MOST_SHOWN:,} more")
