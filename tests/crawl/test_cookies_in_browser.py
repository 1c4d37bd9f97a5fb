"""A person's cookies in the browser that the crawl drives: for their own site, and nowhere kept."""

import gzip

from aiohttp import web

from archiver.config import Settings
from archiver.model.subscription import source_of
from archiver.runtime import open_runtime
from archiver.services.given_cookies import CookieKeeping

SECRET = "s3cr3t-of-the-person"
APP = """<!DOCTYPE html><title>App</title><body><p>{name}</p><script>
fetch('{url}').then((answer) => answer.text()).then((text) => document.body.append(text));
</script>"""


def answering(asked):
    """Note the cookies; say something that every page may read, as an open interface does."""

    async def answer(request):
        asked[request.path] = request.headers.get("Cookie", "")
        return web.Response(
            text="This is said to whoever asks. " * 9,
            headers={"Access-Control-Allow-Origin": "*", "Set-Cookie": f"s={SECRET}-renewed"},
        )

    return answer


async def test_they_go_with_what_their_own_site_asks_for_and_not_with_what_another_does(
    live, tmp_path
):
    asked = {}
    mine, theirs = (live.answer(f"/{name}.txt", answering(asked)) for name in ("mine", "theirs"))
    own = live.put("/own", APP.format(name="own", url=mine))
    live.put("/hostile", APP.format(name="hostile", url=theirs))
    hostile = live.origin.replace("127.0.0.1", "localhost") + "/hostile"
    settings = Settings(
        data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, render="always"
    )
    CookieKeeping(settings.data).take(f"127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t{SECRET}\n".encode())

    async with open_runtime(settings) as runtime:
        assert not runtime.crawling.browser_problem
        await runtime.entries.save([own, hostile], source="cli")
        await runtime.crawling.work()
        shown = await runtime.entries.snapshot(own)

    warc = b"".join(
        gzip.decompress(path.read_bytes()) for path in settings.data.glob("warc/*.warc.gz")
    )
    assert "said to whoever asks" in shown.text
    assert SECRET in asked["/mine.txt"]
    assert asked["/theirs.txt"] == ""
    assert b"GET /mine.txt HTTP/1.1" in warc
    assert SECRET.encode() not in warc


async def test_they_go_with_nothing_that_a_page_asks_for_to_which_another_site_led(live, tmp_path):
    asked = {}
    paths = ("brought", "framed", "led")
    urls = {name: live.answer(f"/{name}.txt", answering(asked)) for name in paths}
    brought = live.put("/brought", APP.format(name="brought", url=urls["brought"]))
    frame = live.put("/frame", APP.format(name="frame", url=urls["framed"]))
    live.put("/hostile", f'<!DOCTYPE html><p>Here.</p><iframe src="{frame}"></iframe>')
    live.put("/app", APP.format(name="app", url=urls["led"]))

    async def lead(_):
        return web.Response(status=302, headers={"Location": live.url("/app")})

    live.answer("/away", lead)
    elsewhere = live.origin.replace("127.0.0.1", "localhost")
    settings = Settings(
        data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, render="always"
    )
    CookieKeeping(settings.data).take(f"127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t{SECRET}\n".encode())

    async with open_runtime(settings) as runtime:
        await runtime.entries.save([brought], source=source_of(f"{elsewhere}/feed"))
        await runtime.entries.save([f"{elsewhere}/hostile", f"{elsewhere}/away"], source="cli")
        await runtime.crawling.work()

    assert asked == dict.fromkeys(["/brought.txt", "/framed.txt", "/led.txt"], "")
