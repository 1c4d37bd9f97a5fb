"""``archiver add``, where ``--render`` needs no value."""

from collections.abc import Iterator

import click

from archiver.cli.options import Command, flag
from archiver.config import SETTINGS

_RENDER = flag("render")


class AddCommand(Command):
    """``archiver add``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; ``--render`` before anything but one of its values is ``always``."""
        return super().parse_args(ctx, [*_spelled_out(args)])


def _spelled_out(args: list[str]) -> Iterator[str]:
    ends = args.index("--") if "--" in args else len(args)
    for number, each in enumerate(args):
        is_bare = each == _RENDER and number < ends and not _is_mode(args[number + 1 : ends][:1])
        yield f"{_RENDER}=always" if is_bare else each


def _is_mode(following: list[str]) -> bool:
    try:
        return bool(SETTINGS["render"].kind.read("".join(following)))
    except ValueError:
        return False
