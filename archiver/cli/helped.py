"""The command that explains the search language."""

from importlib import import_module

import click

from archiver.cli.options import Command, help_option


def _write_language(_: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the tables of the language."""
    language = import_module("archiver.services.language").LANGUAGE
    with formatter.section("Together"):
        formatter.write_dl([(each.example, each.means) for each in language.operators])
    with formatter.section("Fields"):
        rows = [(each.example, f"{each.means} ({each.takes})") for each in language.fields]
        formatter.write_dl(rows)
    formatter.write_paragraph()
    formatter.write_text(f"Dates: {language.dates}. All in UTC.")


class SearchCommand(Command):
    """``archiver search``."""

    further = help_option("--help-words", "what can be asked, besides words", _write_language)
