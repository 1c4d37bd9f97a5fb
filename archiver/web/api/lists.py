"""``/api/v1/lists``: list them, make, change, delete one, and put what lies in it in order."""

from aiohttp import web

from archiver.errors import InputError
from archiver.model.entry_list import EntryList
from archiver.web.api.answers import answer
from archiver.web.api.questions import ListChange, ListRequest, OrderRequest, read_json
from archiver.web.keys import RUNTIME


async def listing(request: web.Request) -> web.StreamResponse:
    """Show every list, each behind the one that it lies in."""
    return answer(await request.app[RUNTIME].lists.all(), shape=tuple[EntryList, ...])


async def make(request: web.Request) -> web.StreamResponse:
    """Make a list, or save a search."""
    wanted = await read_json(request, ListRequest)
    return answer(await request.app[RUNTIME].lists.make(wanted.path, wanted.query), status=201)


async def change(request: web.Request) -> web.StreamResponse:
    """Rename or shift a list, and show all as they are then."""
    wanted, lists = await read_json(request, ListChange), request.app[RUNTIME].lists
    if wanted.new_path is None and wanted.shift is None:
        raise InputError("Say what becomes of the list: new_path, or shift.")
    if wanted.shift:
        await lists.shift(wanted.path, down=wanted.shift == "down")
    if wanted.new_path is not None:
        await lists.rename(wanted.path, wanted.new_path)
    return await listing(request)


async def delete(request: web.Request) -> web.StreamResponse:
    """Delete a list and those in it, and show all that are left."""
    await request.app[RUNTIME].lists.delete(request.query.get("path", ""))
    return await listing(request)


async def order(request: web.Request) -> web.StreamResponse:
    """Move entries within a list."""
    wanted = await read_json(request, OrderRequest)
    lists = request.app[RUNTIME].lists
    return answer(await lists.order(wanted.path, wanted.entries, wanted.where))
