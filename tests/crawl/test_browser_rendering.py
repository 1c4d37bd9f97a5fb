"""Rendered pages: extracted, searchable, and replayed without scripts.

Chromium runs in the production sandbox.
"""

import gzip
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing
from html import unescape
from pathlib import Path

import pypdfium2
import pytest
import pytest_asyncio
from playwright.async_api import Browser

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.model.rendering import DERIVED_KINDS, Limit, Rendering, RenditionKind
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.replay.response import ReplayRequest
from archiver.services.export_selection import Selected
from archiver.warc.records import RecordType
from archiver.warc.segment_scanning import scan
from tests.chromium import chromium, new_page
from tests.conftest import LiveWeb, exported, live_web
from tests.crawl.test_hostile_pages import events
from tests.crawler import quick_rendering
from tests.handmade_archive import VIEWER
from tests.segments import segments

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHELL = '<!DOCTYPE html><title>{}</title><body><div id="root"></div><script src="/app.js"></script>'
APP = r"""
document.write('<p>This was written while the page was parsed.</p>');
const root = document.getElementById('root');
const say = (words) => {
  const paragraph = document.createElement('p');
  paragraph.textContent = `This was brought by ${words}, and a person could read all of it here.`;
  root.append(paragraph);
};
localStorage.setItem('name', 'storage');
say(localStorage.getItem('name'));
const xhr = new XMLHttpRequest();
xhr.open('GET', '/xhr.txt');
xhr.onload = () => say(xhr.responseText);
xhr.send();
fetch('/fetch.txt').then((answer) => answer.text()).then(say);
fetch('/post.txt', {method: 'POST', body: 'question'}).then((answer) => answer.text()).then(say);
setTimeout(() => fetch('/later.txt').then((answer) => answer.text()).then(say), 2000);
import('/module.js').then((module) => say(module.words));
fetch('data:text/plain,data%20url').then((answer) => answer.text()).then(say);

const closed = document.createElement('my-closed');
closed.attachShadow({mode: 'closed'}).innerHTML = '<p>This stands in a closed shadow root.</p>';
customElements.define('my-open', class extends HTMLElement {
  connectedCallback() {
    const shadow = this.attachShadow({mode: 'open'});
    shadow.innerHTML = '<p id="inner">This stands in an open shadow root. <slot></slot></p>';
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('#inner { color: rgb(1, 2, 3); }');
    shadow.adoptedStyleSheets = [sheet];
  }
});
const open = document.createElement('my-open');
open.textContent = 'This is what it was given.';
root.append(open, closed);

const style = document.createElement('style');
document.head.append(style);
style.sheet.insertRule('#styled { color: rgb(4, 5, 6); }');
const canvas = document.createElement('canvas');
canvas.id = 'drawn';
canvas.width = canvas.height = 40;
canvas.getContext('2d').fillRect(0, 0, 40, 40);
const image = document.createElement('img');
image.id = 'blob';
image.src = URL.createObjectURL(new Blob(
  ['<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>'], {type: 'image/svg+xml'}));
const input = document.createElement('input');
input.id = 'field';
const styled = document.createElement('p');
styled.id = 'styled';
styled.textContent = 'This has a colour of its own, which a script gave to it by a rule.';
const shown = document.createElement('p');
shown.id = 'shown';
shown.style.visibility = 'hidden';
shown.textContent = 'This is hidden by its attribute, and shown by a rule that weighs more.';
style.sheet.insertRule('#shown { visibility: visible !important; }');
root.append(styled, shown, canvas, image, input);
input.value = 'typed';
input.onclick = () => say('a click');

const frame = document.createElement('iframe');
frame.id = 'written';
root.append(frame);
frame.contentDocument.write('<p>This was written into a frame.</p>');
frame.contentDocument.close();

const deep = document.createElement('div');
deep.style.height = '3000px';
const end = document.createElement('div');
root.append(deep, end);
new IntersectionObserver((seen, observer) => {
  if (seen.some((each) => each.isIntersecting)) {
    observer.disconnect();
    fetch('/scroll.txt').then((answer) => answer.text()).then(say);
  }
}).observe(end);

navigator.serviceWorker.register('/worker.js').then(async () => {
  await navigator.serviceWorker.ready;
  await new Promise((done) => { navigator.serviceWorker.controller ? done() :
    navigator.serviceWorker.addEventListener('controllerchange', done); });
  say(await (await fetch('/of-the-worker')).text());
});
"""
HALVED = """<!DOCTYPE html><title>Halved</title><div id="root"></div><script>
root.attachShadow({mode: 'open'}).innerHTML = '<p>Every other one of these is gone. </p>'.repeat(8)
  + '<style>@media (scripting: none) { p:nth-of-type(odd) { display: none } }</style>';
root.style.fontSize = '60px';
root.dataset.source = 'much'.repeat(2999);</script>"""
BANNERED = """<!DOCTYPE html><title>Bannered</title><style>.cookie-bar { position: fixed }</style>
<div id="root"></div><script>
document.body.style.overflow = 'hidden';
root.innerHTML = '<p id="cookie-recipe">This cookie recipe stays. </p>'.repeat(9)
  + '<div id="onetrust-consent-sdk"><p>We value your privacy.</p></div>'
  + '<div role="dialog" class="cookie-bar">May we use a cookie or two?</div>'
  + '<div role="dialog" style="position: fixed">Subscribe to the newsletter.</div>';
setTimeout(() => root.insertAdjacentHTML('beforeend',
  '<div id="CybotCookiebotDialog">This one comes late.</div>'), 1200);</script>"""
CONSENT = '<div id="onetrust-consent-sdk"><p>We value your privacy.</p></div>'
TALL = """<!DOCTYPE html><title>Tall</title><div id="root"></div><script>
root.innerHTML = '<p>This is taller than a picture may be.</p>'
  + '<nav style="display: flex"><button>Parted</button><button>words</button>'
  + '<a>of<b>ten</b></a></nav><select><option>Choices</option><option>too</option></select>'
  + '<iframe src="/framed"></iframe>';
root.style.height = '21000px';
new EventSource('/events');</script>"""
FRAMED = """<!DOCTYPE html><title>Framed</title><div id="root"></div><script>
root.textContent = 'A script wrote this into a frame of the same site.';</script>"""
SERIAL = """<!DOCTYPE html><title>Serial</title><div id="root"></div><script>
root.innerHTML = '<article>'
  + '<p>This is the first part, which a script brought here. </p>'.repeat(9) + '</article>';
document.head.insertAdjacentHTML('beforeend', '<link rel="next" href="/serial?page=2">');
root.style = 'height: 100vh; overflow: auto';
root.insertAdjacentHTML('beforeend', '<div style="height: 3000px"></div><div id="end"></div>');
new IntersectionObserver((seen) => {
  if (seen.some((each) => each.isIntersecting)) end.textContent = 'It was scrolled to its end.';
}).observe(end);
</script>"""
HOSTILE = r"""<!DOCTYPE html><title>Hostile</title><div id="root"></div><script>
const RUN = "top.ran = 1";
const BREAK = `<script>${RUN}</` + `script><img src="/gone" onerror="${RUN}">`;
root.innerHTML = '<p>A page that wants its scripts to run when it is shown again. </p>'.repeat(9)
  + `<img src="/gone" onerror="${RUN}"><a id="go" href="javascript:${RUN}">go</a>`
  + `<details open ontoggle="${RUN}">open</details><svg onload="${RUN}"></svg>`
  + `<form action="javascript:${RUN}"><button formaction="javascript:${RUN}">send</button></form>`;
const add = (name, text, space) => {
  const made = document.createElementNS(space || 'http://www.w3.org/1999/xhtml', name);
  made.textContent = text;
  root.append(made);
  return made;
};
const SVG = 'http://www.w3.org/2000/svg', MATH = 'http://www.w3.org/1998/Math/MathML';
for (const name of 'style xmp noembed noframes plaintext title option p'.split(' ')) {
  if (name !== 'plaintext') add(name, `</${name}>${BREAK}`);
  add(name, BREAK, SVG);
  add(name, BREAK, MATH);
}
add('script', RUN, SVG);
add('iframe', '').srcdoc = `<script>${RUN}</` + 'script>';
add('textarea', '').value = `</textarea>${BREAK}`;
add('input', '').value = `">${BREAK}`;
add('p', '').title = `">${BREAK}`;
add('div', '').append(document.createComment(`--><script>${RUN}</` + 'script>'));
add('div', '').attachShadow({mode: 'open'}).innerHTML = `</template>${BREAK}`;
document.head.append(Object.assign(document.createElement('meta'),
  {httpEquiv: 'x', content: `">${BREAK}`}));
document.title = 'Hostile';
</script>"""
WORKER = """
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
self.addEventListener('fetch', (event) => {
  if (event.request.url.endsWith('/of-the-worker')) event.respondWith(new Response('a worker'));
});
"""
BROUGHT = "storage xhr fetch post later module scroll".split()
SENTENCES = [f"This was brought by {each}," for each in (*BROUGHT, "data url", "a worker")]
SENTENCES += [
    "shown by a rule that weighs more",
    "written while the page was parsed",
    "in a closed shadow root",
    "in an open shadow root",
    "what it was given",
]
LEGACY = """<!DOCTYPE html><title>Legacy</title><div id="root"></div>
<style>p { background: url("/dot.svg?q=café&of sheets") }</style>
<img srcset="/dot.svg?q=café&of%20sets 1x"><script>
root.innerHTML = '<p>This page is older than its encoding.</p>'.repeat(9)
  + '<img src="/dot.svg?q=café&of attributes">';</script>"""
DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


def put_site(live: LiveWeb) -> str:
    for name in BROUGHT[1:]:
        live.put(f"/{name}.txt", name, kind="text/plain")
    live.put("/module.js", "export const words = 'module';", kind="text/javascript")
    live.put("/worker.js", WORKER, kind="text/javascript")
    live.put("/app.js", APP, kind="text/javascript")
    live.put("/leads.js", "location.replace('/led')", kind="text/javascript")
    live.put("/leads", SHELL.format("Leads").replace("app.js", "leads.js"))
    live.put("/halved", HALVED)
    live.put("/bannered", BANNERED)
    live.put("/hostile", HOSTILE)
    live.put("/serial", SERIAL)
    live.put("/tall", TALL)
    live.put("/legacy", LEGACY, charset="windows-1252")
    for name in ("of%20attributes", "of%20sheets", "of%20sets"):
        live.put(f"/dot.svg?q=caf%E9&{name}", DOT, kind="image/svg+xml")
    live.put("/framed", FRAMED)
    live.add_handler("/events", events)
    live.article("serial?page=2")
    live.article("led")
    live.article("whole")
    live.article("scriptless", body=CONSENT)
    cached = {"Cache-Control": "max-age=3600"}
    return live.put("/shell", SHELL.format("Shell"), headers=cached)


async def keep_site(data: Path) -> None:
    settings = Settings(
        data=data,
        allow_networks="127.0.0.0/8",
        host_delay=0,
        retries=0,
        browser_pages=6,
        host_concurrency=12,
    )
    with quick_rendering(LEAST_SECONDS=2.6, **dict.fromkeys(PATIENCE, 120.0)):
        await keep_pages(settings)


async def keep_pages(settings: Settings) -> None:
    async with live_web() as live, open_app(settings) as runtime:
        put_site(live)
        for pages in (("whole",), SHOWN):
            await runtime.entries.save([live.url(f"/{each}") for each in pages], source="web")
            await runtime.crawling.work()
        await runtime.entries.save([live.url(f"/{WANTED}")], source="web", render=True)
        await runtime.crawling.work()
        (settings.data / "origin").write_text(live.origin)


PATIENCE = ("PAGE_SECONDS", "SCROLL_SECONDS", "REST_SECONDS", "PICTURE_SECONDS", "COMPARE_SECONDS")
"""Names of time limits, which are raised so that a busy machine does not reach them."""
SHOWN = ("shell", "leads", "halved", "bannered", "hostile", "serial", "tall", "legacy")
WANTED = "scriptless"
"""Path of a page without scripts, whose rendering the user requests."""


class ArchivedSite:
    """The archive of the site, open."""

    def __init__(self, runtime: App, origin: str) -> None:
        self.runtime = runtime
        self.origin = origin

    async def shown(self, path: str):
        detail = await self.runtime.entries.get(self.origin + path)
        return await self.runtime.entries.snapshot(detail.entry.hash_url)

    async def replayed(self, url: str, modifier: Modifier = Modifier.NONE) -> str:
        replay = self.runtime.replay
        capture = await replay.resolve(ReplayAddress("", modifier, url))
        answer = await replay.open(capture, ReplayRequest(VIEWER, modifier))
        async with aclosing(answer.body) as body:
            return b"".join([piece async for piece in body]).decode()


@asynccontextmanager
async def open_copy(prepared, data: Path) -> AsyncIterator[ArchivedSite]:
    await prepared.copy(keep_site, data)
    async with open_app(Settings(data=data)) as runtime:
        yield ArchivedSite(runtime, (data / "origin").read_text())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def archived(prepared, tmp_path_factory) -> AsyncIterator[ArchivedSite]:
    """The archive, for tests that do not change it."""
    async with open_copy(prepared, tmp_path_factory.mktemp("kept") / "data") as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


async def test_content_added_by_scripts_is_extracted_searchable_and_replayed(archived):
    detail = await archived.shown("/shell")
    replayed = await archived.replayed(f"{archived.origin}/shell")

    assert detail.snapshot.rendering is Rendering.DONE
    assert detail.entry.title == "Shell"
    assert [each for each in SENTENCES if each not in detail.text] == []
    assert [each for each in SENTENCES if each not in replayed] == []
    stored = await archived.replayed(f"{archived.origin}/shell", Modifier.IDENTITY)
    assert stored == SHELL.format("Shell")
    for words in ('"brought by later"', '"brought by scroll"', '"closed shadow root"'):
        listing = await archived.runtime.search.listing(ListingQuery(q=words))
        assert [each.entry.hash_url for each in listing.items] == [detail.entry.hash_url]


async def test_queries_of_a_legacy_page_keep_its_encoding(archived):
    detail, replayed = (
        await archived.shown("/legacy"),
        await archived.replayed(f"{archived.origin}/legacy"),
    )

    named = {each.url.removeprefix(archived.origin): each.status for each in detail.requisites}
    dots = {f"/dot.svg?q=caf%E9&of%20{kind}": 200 for kind in ("attributes", "sheets", "sets")}
    assert {path: status for path, status in named.items() if "dot" in path} == dots
    assert [path for path in dots if path not in unescape(replayed)] == []


async def test_a_page_complete_without_scripts_is_not_rendered(archived):
    detail = await archived.shown("/whole")

    assert detail.snapshot.rendering is Rendering.NONE
    assert detail.renditions == ()


async def test_a_page_without_scripts_can_be_rendered_on_request(archived):
    detail, replayed = (
        await archived.shown(f"/{WANTED}"),
        await archived.replayed(f"{archived.origin}/{WANTED}"),
    )

    assert detail.snapshot.rendering is Rendering.DONE
    assert "called scriptless has" in replayed
    assert "value your privacy" not in replayed


async def test_content_lost_without_scripts_is_detected_by_screenshot_and_text(archived):
    whole, halved = await archived.shown("/shell"), await archived.shown("/halved")

    assert whole.score.reasons == ()
    rendition_kinds, words = (each.sentence.split("%")[1] for each in halved.score.reasons)
    assert "looks the same without scripts" in rendition_kinds
    assert "words are present" in words
    assert halved.score.hundredths < 75


async def test_only_consent_banners_are_removed(archived):
    detail, replayed = (
        await archived.shown("/bannered"),
        await archived.replayed(f"{archived.origin}/bannered"),
    )

    for words in ("value your privacy", "a cookie or two", "comes late", "overflow: hidden"):
        assert words not in detail.text + replayed
    for words in ("cookie recipe stays", "Subscribe to the newsletter"):
        assert words in replayed
    assert detail.score.reasons == ()


async def test_a_next_page_linked_by_a_script_is_part_of_the_article(archived):
    detail = await archived.shown("/serial")

    assert "the first part" in detail.text
    assert "called serial?page=2 has" in detail.text


async def test_a_scrolling_container_is_scrolled_and_expanded_in_the_screenshot(archived):
    detail = await archived.shown("/serial")
    at = detail.entry.hash_url, detail.snapshot.timestamp
    _, picture = await archived.runtime.entries.rendition(*at, RenditionKind.PICTURE)
    _, printed = await archived.runtime.entries.rendition(*at, RenditionKind.PRINT)

    assert "It was scrolled to its end." in await archived.replayed(f"{archived.origin}/serial")
    assert height_of(picture) > 3000
    with closing(pypdfium2.PdfDocument(printed)) as document:
        last = document[len(document) - 1].get_textpage().get_text_bounded()
    assert "It was scrolled to its end." in last


def height_of(webp):
    """Return the height in pixels from a WebP header (WebP container specification)."""
    return int.from_bytes(webp[27:30] if webp[12:16] == b"VP8X" else webp[28:30], "little")


async def test_a_redirect_by_script_is_followed(archived):
    detail = await archived.shown("/leads")

    assert detail.snapshot.final_url == f"{archived.origin}/led"
    assert "the page called led" in detail.text


async def test_screenshots_and_a_pdf_are_archived(archived):
    detail = await archived.shown("/shell")

    rendition = archived.runtime.entries.rendition
    key, moment = detail.entry.hash_url, detail.snapshot.timestamp
    for kind, media_type, begins in (
        (RenditionKind.PICTURE, "image/webp", b"RIFF"),
        (RenditionKind.THUMBNAIL, "image/webp", b"RIFF"),
        (RenditionKind.PRINT, "application/pdf", b"%PDF-"),
    ):
        stored_type, content = await rendition(key, moment, kind)
        assert (stored_type, content[: len(begins)]) == (media_type, begins)


async def test_an_open_stream_delays_no_page_and_a_clipped_screenshot_is_reported(archived):
    detail = await archived.shown("/tall")

    assert Limit.HEIGHT in detail.snapshot.limits
    assert Limit.RESTLESS not in detail.snapshot.limits
    assert str(Limit.HEIGHT.sentence) in [each.sentence for each in detail.score.reasons]


async def test_words_separated_by_a_style_sheet_are_separate_words(archived):
    detail = await archived.shown("/tall")

    assert "Parted words often Choices too" in " ".join(detail.text.split())


async def test_a_frame_filled_by_scripts_is_replayed_with_its_content(archived):
    replayed = await archived.replayed(f"{archived.origin}/tall")

    assert "A script wrote this into a frame of the same site." in replayed


async def test_screenshots_are_exported_and_imported(archived, tmp_path):
    detail = await archived.shown("/shell")

    path = tmp_path / "one.warc.gz"
    selected = Selected(hash_url=detail.entry.hash_url)
    path.write_bytes(await exported(archived.runtime, "warc", selected))

    async with open_app(Settings(data=tmp_path / "other")) as other:
        with path.open("rb") as file:
            await other.imports.read_file(file, name=path.name)
        imported = await ArchivedSite(other, archived.origin).shown("/shell")
        assert imported.rendition_kinds == detail.rendition_kinds
        assert (imported.text, imported.score, imported.snapshot.rendering) == (
            detail.text,
            detail.score,
            Rendering.DONE,
        )
        rendition = other.entries.rendition
        key = detail.entry.hash_url, detail.snapshot.timestamp, RenditionKind.PICTURE
        assert await rendition(*key) == await archived.runtime.entries.rendition(*key)
        assert [each async for each in other.fixity.verify()] == []
    records = [each.record for each in scan(path, from_offset=0)]
    named = {each.target_uri.rpartition(":")[2] for each in records if is_conversion(each)}
    assert named >= {str(each) for each in set(RenditionKind) - DERIVED_KINDS}


def is_conversion(record):
    return record.type is RecordType.CONVERSION


async def test_the_replay_looks_like_the_page(archived, browser):
    html = await archived.replayed(f"{archived.origin}/shell")

    page = await new_page(browser, java_script_enabled=False)
    await page.set_content(html)
    shown = await page.evaluate(
        """() => ({
          styled: getComputedStyle(document.getElementById('styled')).color,
          inner: getComputedStyle(
            document.querySelector('my-open').shadowRoot.getElementById('inner')).color,
          drawn: document.getElementById('drawn').naturalWidth,
          blob: document.getElementById('blob').naturalWidth,
          field: document.getElementById('field').value,
          handlers: document.querySelectorAll('script, [onclick]').length,
        })"""
    )

    assert shown == {
        "styled": "rgb(4, 5, 6)",
        "inner": "rgb(1, 2, 3)",
        "drawn": 40,
        "blob": 30,
        "field": "typed",
        "handlers": 0,
    }


async def test_a_rendered_page_runs_no_script_even_without_a_content_security_policy(
    archived, browser
):
    """Replay's headers forbid scripts; the content is safe without those headers, too."""
    html = await archived.replayed(f"{archived.origin}/hostile")

    page = await new_page(browser)
    await page.route("**/*", lambda route: route.abort())
    await page.set_content(html)
    await page.evaluate("document.getElementById('go').click()")
    await page.wait_for_function("[...document.images].every((each) => each.complete)")
    ran = await page.evaluate("top.ran")
    scripts = [await each.evaluate("document.scripts.length") for each in page.frames]

    assert "wants its scripts to run" in html
    assert (ran, scripts) == (None, [0] * len(scripts))


async def test_screenshots_are_deleted_and_restored_with_their_snapshot(prepared, tmp_path):
    async with open_copy(prepared, tmp_path / "data") as archived:
        whole, shell = f"{archived.origin}/whole", f"{archived.origin}/shell"
        before = await archived.shown("/shell")
        deleting, compacting = archived.runtime.deleting, archived.runtime.compacting

        deleted = await deleting.entries([shell])
        await deleting.undo(deleted.id)
        assert await archived.shown("/shell") == before
        await deleting.entries([whole])
        await archived.runtime.crawling.write_pending_records()
        await compacting.compact(empty_bin=True)
        moved = await archived.shown("/shell")
        assert [each.kind for each in moved.renditions] == [each.kind for each in before.renditions]
        assert moved.text == before.text
        await deleting.entries([shell])
        await archived.runtime.crawling.write_pending_records()
        await compacting.compact(empty_bin=True)

        assert [each async for each in archived.runtime.fixity.verify()] == []
        remaining = b"".join(map(gzip.decompress, segments(tmp_path / "data").values()))
        assert b"closed shadow root" not in remaining
        assert remaining.count(b"%PDF-") == len((*SHOWN, WANTED)) - 1  # those of the other pages
