"""The `feeds` command."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from archiver.app import open_app
from archiver.cli.terminal import write_row, write_table
from archiver.config import Settings
from archiver.errors import InputError
from archiver.helpers import AtomicFile
from archiver.model.feed import FollowedFeed
from archiver.services.feeds import Subscriptions


async def feeds(
    settings: Settings, *, action: str, what: str, tags: Sequence[str], everything: bool
) -> int:
    """Run one action on the followed feeds."""
    needs = action in _ARGUMENTS
    if (needs and not what) or (what and not needs and action != "export"):
        raise InputError(
            f"`archiver feeds {action}` takes {_ARGUMENTS.get(action, 'no argument')}."
        )
    async with open_app(settings, reads_only=action in {"list", "export"}) as app:
        subscriptions, shown = app.subscriptions, list[FollowedFeed]()
        if action == "follow":
            shown = [await subscriptions.follow(what, tags, everything=everything)]
        elif action == "unfollow":
            await subscriptions.unfollow(what)
            return 0
        elif action == "import":
            path = Path(what)
            content = await asyncio.to_thread(path.read_bytes)
            added = await subscriptions.import_outline(content, path.name, everything=everything)
            write_row("followed", str(added))
            return 0
        elif action == "export":
            await _export(subscriptions, what)
            return 0
        elif action == "check":
            shown = await subscriptions.check_all()
        else:
            shown = await subscriptions.all()
    _show(shown)
    return int(action == "check" and any(each.state and each.state.problem for each in shown))


async def _export(subscriptions: Subscriptions, what: str) -> None:
    outline = await subscriptions.export_opml() + b"\n"
    if what in ("", "-"):
        sys.stdout.write(outline.decode())
    else:
        await asyncio.to_thread(AtomicFile(Path(what), mode=0o644).write, outline)


def _show(followed: Sequence[FollowedFeed]) -> None:
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


_ARGUMENTS: Final = {"follow": "an address", "unfollow": "an address", "import": "an OPML file"}
