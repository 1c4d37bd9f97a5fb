"""The command whose help ends in the search language."""

from importlib import import_module

import click

from archiver.cli.options import Command


class SearchCommand(Command):
    """``archiver search``, whose help ends in what can be asked."""

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the tables of the language."""
        language = import_module("archiver.services.language").LANGUAGE
        with formatter.section("Together"):
            formatter.write_dl([(each.example, each.means) for each in language.operators])
        with formatter.section("Fields"):
            rows = [(each.example, f"{each.means} ({each.takes})") for each in language.fields]
            formatter.write_dl(rows)
        formatter.write_paragraph()
        formatter.write_text(f"Dates: {language.dates}. All in UTC.")
