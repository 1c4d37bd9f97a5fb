"""``/api/v1/jobs`` and ``/api/v1/queue``: where seeds stand."""

from aiohttp import web

from archiver.model.job import Job
from archiver.web.api.answers import answer
from archiver.web.api.questions import numbers
from archiver.web.keys import RUNTIME


async def show(request: web.Request) -> web.StreamResponse:
    """Show the jobs that ``ids`` names; unknown ones are left out."""
    found = await request.app[RUNTIME].entries.jobs(numbers(request, "ids"))
    return answer(found, shape=list[Job])


async def queue(request: web.Request) -> web.StreamResponse:
    """Count the jobs of the whole archive by state."""
    return answer(await request.app[RUNTIME].crawling.counts())
