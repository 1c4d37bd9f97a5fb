"""``/api/v1/feeds``: which feeds are followed, one more, one less."""

from aiohttp import web

from archiver.model.subscription import Followed
from archiver.web.api.answers import answer
from archiver.web.api.questions import FeedRequest, read_json
from archiver.web.keys import RUNTIME


async def listing(request: web.Request) -> web.StreamResponse:
    """List them with how they stand."""
    return answer(await request.app[RUNTIME].subscriptions.all(), shape=list[Followed])


async def follow(request: web.Request) -> web.StreamResponse:
    """Follow a feed, or the first that a page names."""
    wanted = await read_json(request, FeedRequest)
    followed = await request.app[RUNTIME].subscriptions.follow(
        wanted.url, wanted.tags, everything=wanted.everything
    )
    return answer(followed, status=201)


async def unfollow(request: web.Request) -> web.StreamResponse:
    """Follow a feed no more, and list the others."""
    await request.app[RUNTIME].subscriptions.unfollow(request.query.get("url", ""))
    return await listing(request)
