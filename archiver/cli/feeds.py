"""The `feeds` command."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from archiver.app import open_app
from archiver.cli.terminal import write_row, write_table
from archiver.config import Settings
from archiver.errors import InputError
from archiver.helpers import AtomicFile
from archiver.model.feed import FollowedFeed
from archiver.services.feeds import Subscriptions


@dataclass(frozen=True, slots=True)
class _Arguments:
    """Arguments of the command besides the action."""

    what: str
    tags: Sequence[str]
    everything: bool


async def feeds(
    settings: Settings, *, action: str, what: str, tags: Sequence[str], everything: bool
) -> int:
    """Run one action on the followed feeds."""
    needs = action in {"follow", "unfollow", "import"}
    may = needs or action == "export"
    if (needs and not what) or (what and not may):
        raise InputError(
            f"`archiver feeds {action}` takes {_ARGUMENTS.get(action, 'no argument')}."
        )
    wanted = _Arguments(what, tags, everything)
    async with open_app(settings, reads_only=action in {"list", "export"}) as runtime:
        return await _ACTIONS[action](runtime.subscriptions, wanted)


async def _list(feeds: Subscriptions, _: _Arguments) -> int:
    return _show(await feeds.all())


async def _follow(feeds: Subscriptions, arguments: _Arguments) -> int:
    return _show(
        [await feeds.follow(arguments.what, arguments.tags, everything=arguments.everything)]
    )


async def _unfollow(feeds: Subscriptions, arguments: _Arguments) -> int:
    await feeds.unfollow(arguments.what)
    return 0


async def _import(feeds: Subscriptions, arguments: _Arguments) -> int:
    path = Path(arguments.what)
    content = await asyncio.to_thread(path.read_bytes)
    added = await feeds.import_outline(content, path.name, everything=arguments.everything)
    write_row("followed", str(added))
    return 0


async def _export(feeds: Subscriptions, arguments: _Arguments) -> int:
    outline = await feeds.export_opml() + b"\n"
    if arguments.what in ("", "-"):
        sys.stdout.write(outline.decode())
    else:
        await asyncio.to_thread(AtomicFile(Path(arguments.what), mode=0o644).write, outline)
    return 0


async def _check(feeds: Subscriptions, _: _Arguments) -> int:
    checked = await feeds.check_all()
    has_failed = any(each.state and each.state.problem for each in checked)
    return _show(checked) or int(has_failed)


def _show(followed: Sequence[FollowedFeed]) -> int:
    rows = []
    for each in followed:
        state, subscription = each.state, each.subscription
        checked = f"{state.checked_at:%Y-%m-%d %H:%M}" if state else "-"
        saved_count = str(state.saved_count) if state else "0"
        problem = state.problem if state else ""
        if state and state.is_gone:
            problem = "The server says that this feed is permanently gone."
        rows.append((subscription.url, checked, saved_count, subscription.title, problem))
    write_table(("feed", "last check (UTC)", "saved", "title", "problem"), rows, "no feeds.")
    return 0


_ARGUMENTS: Final = {"follow": "an address", "unfollow": "an address", "import": "an OPML file"}
_ACTIONS: Final[dict[str, Callable[[Subscriptions, _Arguments], Awaitable[int]]]] = {
    "list": _list,
    "follow": _follow,
    "unfollow": _unfollow,
    "import": _import,
    "export": _export,
    "check": _check,
}
