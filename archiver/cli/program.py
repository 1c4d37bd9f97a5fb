"""The program around its commands: says where a flag belongs that stands before one."""

import click

from archiver.cli.options import flag
from archiver.config import SETTINGS, variable


class Program(click.Group):
    """All commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what stands before the command.

        Raises:
            click.UsageError: it is not known there.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            setting = next((each for each in SETTINGS if flag(each) == error.option_name), None)
            if setting is None:
                raise
            raise click.UsageError(
                f"{error.option_name} goes behind the command, and counts for that alone: "
                f"archiver COMMAND {error.option_name} … For every command set "
                f"{variable(setting)}.",
                ctx,
            ) from None
