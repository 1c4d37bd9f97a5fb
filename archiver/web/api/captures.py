"""``/api/v1/captures``: pages that a person's own browser saved."""

from aiohttp import web

from archiver.web.api.answers import answer
from archiver.web.uploads import handed_in_from_api


async def hand_in(request: web.Request) -> web.StreamResponse:
    """Take a page; it is a snapshot when the answer comes."""
    return answer(await handed_in_from_api(request), status=201)
