"""API of lists and feeds."""

from aiohttp import web

from archiver.errors import InputError
from archiver.model.entry_list import EntryList
from archiver.model.feed import FollowedFeed
from archiver.web.api.requests import FeedRequest, ListChange, ListRequest, OrderRequest, read_json
from archiver.web.api.responses import answer
from archiver.web.app_keys import RUNTIME


async def list_lists(request: web.Request) -> web.StreamResponse:
    """Show all lists as a tree, in depth-first order."""
    return answer(await request.app[RUNTIME].lists.all(), shape=tuple[EntryList, ...])


async def make_list(request: web.Request) -> web.StreamResponse:
    """Create a list, or save a search."""
    wanted = await read_json(request, ListRequest)
    return answer(await request.app[RUNTIME].lists.make(wanted.path, wanted.query), status=201)


async def change_list(request: web.Request) -> web.StreamResponse:
    """Rename or move a list, and return all lists."""
    wanted, lists = await read_json(request, ListChange), request.app[RUNTIME].lists
    if wanted.new_path is None and wanted.shift is None:
        raise InputError("Say what becomes of the list: new_path, or shift.")
    if wanted.shift:
        await lists.shift(wanted.path, down=wanted.shift == "down")
    if wanted.new_path is not None:
        await lists.rename(wanted.path, wanted.new_path)
    return await list_lists(request)


async def delete_list(request: web.Request) -> web.StreamResponse:
    """Delete a list with its nested lists, and return the others."""
    await request.app[RUNTIME].lists.delete(request.query.get("path", ""))
    return await list_lists(request)


async def order_lists(request: web.Request) -> web.StreamResponse:
    """Change the order of entries in a list."""
    wanted = await read_json(request, OrderRequest)
    lists = request.app[RUNTIME].lists
    return answer(await lists.order(wanted.path, wanted.entries, wanted.where))


async def list_feeds(request: web.Request) -> web.StreamResponse:
    """List feeds with their state."""
    return answer(await request.app[RUNTIME].subscriptions.all(), shape=list[FollowedFeed])


async def follow(request: web.Request) -> web.StreamResponse:
    """Follow a feed, or the first feed of a page."""
    wanted = await read_json(request, FeedRequest)
    followed = await request.app[RUNTIME].subscriptions.follow(
        wanted.url, wanted.tags, everything=wanted.everything
    )
    return answer(followed, status=201)


async def unfollow(request: web.Request) -> web.StreamResponse:
    """Unfollow a feed, and list the others."""
    await request.app[RUNTIME].subscriptions.unfollow(request.query.get("url", ""))
    return await list_feeds(request)
