"""Redirects, cookies along them and refreshes lead where they lead in browsers."""

import pytest
from aiohttp import web

from archiver.model.job import State
from tests.conftest import SENTENCE

GOAL = "<title>Goal</title>" + SENTENCE.format(name="goal") * 6


def page(title):
    return web.Response(text=GOAL.replace("Goal", title), content_type="text/html")


def redirect(target, *cookies):
    fields = [("Location", target), *(("Set-Cookie", each) for each in cookies)]
    return web.Response(status=302, headers=fields)


async def titles(crawl, *urls):
    """Return the title of the page that was saved for each URL; its failure's kind otherwise."""
    await crawl.queue(*urls)
    await crawl.run()
    ended = {job.url: job for job in crawl.changed_jobs if job.state in (State.SAVED, State.FAILED)}
    titles = [ended[url] for url in urls]
    return [each.failure.kind if each.failure else each.title for each in titles]


async def test_cookies_set_along_a_redirect_chain_are_sent_back(crawl, live):
    sent = {}

    def add_page(path, name, answer):
        async def respond(request):
            sent.setdefault(path, []).append(request.headers.get("Cookie", ""))
            return page(path) if name in request.cookies else answer

        return live.add_handler(path, respond)

    urls = [
        add_page("/self", "seen", redirect("/self", "seen=1; Path=/self")),
        add_page("/paper", "has", redirect("/paper?cookieSet=1", "has=1")),
        add_page("/loop", "never", redirect("/loop")),
    ]
    add_page("/paper?cookieSet=1", "has", web.Response(status=403))
    live.put("/image", GOAL.replace("Goal", "image") + "<img src=/session.png>")
    add_page("/session.png", "never", web.Response(status=404))
    urls += [add_page("/enter", "never", redirect("/image", "id=7; Path=/; HttpOnly"))]

    assert await titles(crawl, *urls) == [
        "/self",
        "/paper?cookieSet=1",
        "too-many-redirects",
        "image",
    ]
    assert sent["/self"] == ["", "seen=1"]
    assert sent["/session.png"] == ["id=7"]
    assert sent["/enter"] == [""]


async def test_twenty_redirects_are_followed_as_in_browsers(crawl, live):
    for number in range(1, 30):

        async def respond(_, number=number):
            return redirect(f"/{number - 1}")

        live.add_handler(f"/{number}", respond)
    live.put("/0", GOAL)

    results = await titles(crawl, live.url("/20"), live.url("/21"))

    assert results == ["Goal", "too-many-redirects"]


LONG = SENTENCE.format(name="text") * 6
REFRESHES = {
    "<meta http-equiv=refresh content='0; url=/goal'>": "Goal",
    "<META HTTP-EQUIV='Refresh' CONTENT=\"1;URL='/goal'\">": "Goal",
    "<base href=/x/><meta http-equiv=refresh content='0,../goal'>": "Goal",
    f"<meta http-equiv=refresh content='5;url=/goal'>{LONG}": "Goal",
    "<meta http-equiv=refresh content='10; url=/goal'><p>This page has moved.": "Goal",
    "<noscript><meta http-equiv=refresh content='0; url=/goal'></noscript>": "Goal",
    f"<noscript><meta http-equiv=refresh content='0; url=/goal'></noscript>{LONG}": "Start",
    f"<meta http-equiv=refresh content='10; url=/goal'>{LONG}": "Start",
    f"<meta http-equiv=refresh content=0>{LONG}": "Start",
    f"<meta http-equiv=refresh content='0; url=#top'>{LONG}": "Start",
    f"<meta http-equiv=refresh content='0; url=javascript:x()'>{LONG}": "Start",
    "<meta http-equiv=refresh content='60; url=/goal'><p>Slide 1": "Start",
    "<meta http-equiv=refresh content='0; url=http://127.0.0.1:9/'>": "Start",
}


async def test_a_refresh_is_followed_as_in_browsers(crawl, live):
    live.put("/goal", GOAL)
    urls = [
        live.put(f"/{number}", f"<!DOCTYPE html><title>Start</title>{head}")
        for number, head in enumerate(REFRESHES)
    ]
    by_field = live.put("/field", "<title>Start</title>Wait", headers={"Refresh": "0; url=/goal"})

    results = await titles(crawl, *urls, by_field)

    assert results == [*REFRESHES.values(), "Goal"]


@pytest.mark.parametrize("target", ["/b", "/a"])
async def test_pages_that_refresh_to_each_other_are_saved(crawl, live, target):
    refresh = "<title>{}</title><meta http-equiv=refresh content='0; url={}'>" + LONG
    first = live.put("/a", refresh.format("a", target))
    live.put("/b", refresh.format("b", "/a"))

    assert await titles(crawl, first) == [target[1:]]
