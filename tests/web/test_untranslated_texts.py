"""All texts of pages are marked for translation.

A fake language puts every text between marks; text outside of them must be a name, a number, a
date, or content of other people.
"""

import re
from gettext import NullTranslations
from pathlib import Path

import pytest
from aiohttp import FormData
from aiohttp.test_utils import TestClient
from babel.messages.pofile import read_po
from lxml import html

from archiver import helpers
from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.model.annotation import AnnotationChange
from archiver.model.language import Language
from archiver.services.import_reading import KNOWN_FORMATS
from archiver.web.app_keys import RUNTIME
from archiver.web.wording import Forms, Wording
from tests.prepared_archives import import_warc
from tests.warcs import Warc
from tests.web.conftest import client_of

PAGE, GONE, PRIVATE = "http://a.example/1", "http://a.example/2", "http://127.0.0.1:9/3"
TABLE, PICTURE, PDF = "http://a.example/4", "http://a.example/5", "http://a.example/6"
LINK, BARE = "http://a.example/7", "http://a.example/8"
FIRST, LAST = "20200102030405", "20200303030405"
MARKED = re.compile("⟦[^⟦⟧]*⟧")
SHOWN = ("aria-label", "title", "placeholder", "alt")
NO_TEXT = (
    "//script | //style | //code | //dt[code]/following-sibling::*[1][self::dd] | //*[@data-text]"
    " | //*[contains(concat(' ', @class, ' '), ' text ')]"
)
"""Content of other people, code and descriptions of settings."""

with (helpers.LOCALES / "de.po").open("rb") as file:
    KNOWN = {(each.context, each.id) for each in read_po(file)}

PROPER = {each.name for each in KNOWN_FORMATS if (None, each.name) not in KNOWN}
FORMATS = sorted(PROPER, key=len, reverse=True)
NAMES = re.compile(
    "|".join(map(re.escape, ("JSON (W3C Web Annotation)", "JSON Feed", *FORMATS)))
    + r"|archiver|https?://\S*|\S*a\.example\S*|hash_url|sha256:\S+|ARCHIVER_\w+|\bUTC\b|WACZ|WARC"
    r"|EPUB|PDF|JSON|curl|Python|CSV|Atom|OPML|Markdown|Recipes/Soups"
    r"|Web ARChive, ISO 28500|\w+/\w+|[\w-]*\d[\w.-]*|some\.warc\.gz"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec)\b"
)
"""Names that are the same in every language, months, and words with a digit, like all data here."""


class Marked(NullTranslations):
    """Translations that put every text of the catalogues between marks."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧" if (None, message) in KNOWN else message

    def pgettext(self, context: str, message: str) -> str:
        return f"⟦{message}⟧" if (context, message) in KNOWN else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        text = msgid1 if n == 1 else msgid2
        return f"⟦{text}⟧" if (None, (msgid1, msgid2)) in KNOWN else text


MARKS = Wording(Language("qps", "Q0", "en_GB"), Marked(), Forms.of(Language("qps", "Q0", "en_GB")))


def article(words: str) -> bytes:
    text = "<p>" + f"1x 2x 3x {words} 4x 5x. " * 40
    return f"<html lang=pt><title>t1</title><img src=/9.png>{text}</html>".encode()


def archived() -> bytes:
    warc = Warc()
    warc.response(PAGE, article("6x 7x"), "text/html", at="2020-01-02T03:04:05Z")
    warc.response(PAGE, article("8x"), "text/html", at="2020-02-02T03:04:05Z")
    warc.response(PAGE, article("9x 10x"), "text/html", at="2020-03-03T03:04:05Z")
    warc.response(TABLE, b"1,2\n", "text/csv")
    warc.response(PICTURE, b"\x89PNG\r\n\x1a\n", "image/png")
    warc.response(PDF, b"%PDF-1.4", "application/pdf")
    warc.response(BARE, b"<title>t8</title>", "text/html")
    return warc.bytes


async def fill(data: Path) -> None:
    async with open_app(Settings(data=data, retries=0)) as runtime:
        await import_warc(runtime, archived())
        await runtime.entries.save([PRIVATE], source="s1")
        await runtime.crawling.work()
        await runtime.entries.save([GONE], tags=("T1", "t1"), source="s1", note="n1")
        change = AnnotationChange(with_tags=("T1", "t1"), with_folders=("L1/L2",), is_starred=True)
        await runtime.editing.change([hash_url(PAGE)], change)
        await runtime.lists.make("L3")
        await runtime.lists.make("S1", "1x")
        await runtime.highlights.add(hash_url(PAGE), quote="9x 10x", note="n2")


@pytest.fixture
async def client(runtime):
    async with client_of(runtime, wordings_by_tag={"en": MARKS}) as client:
        yield client


def visible(page: str) -> str:
    """Return the visible text of a page, including attributes, except in another language."""
    root = html.fromstring(page)
    for each in root.xpath(NO_TEXT):
        each.drop_tree()
    for each in root.xpath("//*[@lang != 'qps']"):
        each.drop_tree()
    texts = root.xpath("|".join(f"//@{name}" for name in SHOWN))
    return "\n".join([*texts, " ".join(root.xpath("//text()"))])


def unmarked_words(page: str) -> list[str]:
    """Return the words of a page outside of marks that are not names."""
    text, count = visible(page), 1
    while count:
        text, count = MARKED.subn(" ", text)
    assert "⟦" not in text
    assert "⟧" not in text
    text = re.sub("[“”«»]", " ", text)
    return re.findall(r"[^\W\d_]{2,}", NAMES.sub(" ", text))


async def send(client: TestClient, to: str, **fields: str) -> str:
    async with client.post(to, data=fields) as answer:
        return await answer.text()


K = hash_url(PAGE)
PAGES = [
    "/", "/save?url=http://a.example/99", f"/save?url={PAGE}", "/snapshots", "/snapshots?q=1x",
    "/snapshots?q=1x%20nothing0", "/snapshots?q=zz0", "/snapshots?q=foo:1", "/snapshots?q=type:1",
    "/snapshots?q=added:1x", "/snapshots?q=list:L1/L2", "/snapshots?q=list:L3&sort=list",
    "/snapshots?status=failed", "/snapshots?tag=t1&sort=title", "/snapshots?host=a.example",
    "/snapshots?nothing=1", "/snapshots?undone=1", "/snapshots?edit=1", "/search/help", "/api",
    f"/{K}/", f"/{K}/?at={FIRST}", f"/{K}/?in=q%3D1x", f"/{hash_url(GONE)}/",
    f"/{hash_url(PRIVATE)}/", f"/{hash_url(TABLE)}/", f"/{hash_url(PICTURE)}/",
    f"/{hash_url(PDF)}/", f"/{hash_url(BARE)}/", f"/{K}/compare?from={FIRST}&to={LAST}",
    f"/{K}/compare?from={FIRST}&to={LAST}&side", f"/{K}/{LAST}/", f"/{K}/delete",
    f"/{K}/delete?at={FIRST}", "/highlights", "/highlights?q=zz0", "/highlights?q=foo:1", "/tags",
    "/lists", "/feeds", "/feeds?done=followed-2", "/crawl", "/crawl?done=ask",
    "/crawl?done=queued-2",
    "/crawl?done=cancelled-2", "/crawl?done=asked-2", "/import", "/import/1", "/import/1?queued=2",
    "/export", "/export?q=1x", "/export?q=foo:1", "/access", f"/web/*/{PAGE}",
    "/web/http://b.example/1",
    "/nothing-here", f"/{'0' * 32}/", "/login",
]  # fmt: skip


async def test_every_page_is_translatable(client):
    for path in PAGES:
        async with client.get(path) as answer:
            page = await answer.text()

        assert answer.content_type == "text/html", path
        assert unmarked_words(page) == [], path


TRACKED = "http://a.example/10?utm_source=1"
FORMS = [
    ("/add", {"url": f"{TRACKED}\n{PAGE}\n1\nhttp://a.example/11"}),
    ("/add", {"url": ""}),
    ("/add", {"url": "http://1 1/"}),
    ("/delete", {"scope": "all", "q": "host:a.example"}),
    ("/delete", {"entry": K}),
    ("/edit", {"scope": "all", "q": "1x", "is_read": "1"}),
    ("/edit", {"entry": K, "with_tags": "1" * 999}),
    ("/export", {"form": "csv"}),
    ("/export", {"form": "1"}),
    ("/feeds", {"do": "follow", "url": PRIVATE}),
    ("/feeds", {"do": "1"}),
    ("/lists", {"do": "make", "path": "L3"}),
    ("/tags", {"do": "rename", "name": "t1", "new": ""}),
    ("/access", {"do": "set-password", "new": "1", "again": "1"}),
    (f"/{K}/highlights", {"do": "add", "quote": ""}),
]


async def test_every_page_after_a_form_is_translatable(client):
    for path, fields in FORMS:
        page = await send(client, path, **fields)

        assert "⟦" in page, (path, fields)
        assert unmarked_words(page) == [], (path, fields)


async def test_an_import_preview_is_translatable(client):
    form = FormData({"preview": "1"})
    form.add_field(
        "file", b"url,title,tags,folder\nhttp://a.example/12,t9,T2,F1\n1,,,\n", filename="f1.csv"
    )
    async with client.post("/import", data=form) as answer:
        page = await answer.text()

    assert [
        each for each in unmarked_words(page) if each not in ("url", "title", "tags", "folder")
    ] == []


async def test_the_login_and_access_pages_are_translatable(client):
    access = client.app[RUNTIME].access
    await access.set_password("1" * 20)

    wrong = await send(client, "/login", password="2")
    await send(client, "/login", password="1" * 20)
    answer = await send(client, "/access", do="make-token", name="T1", scope="add")
    refused = await send(client, "/access", do="set-password", new="3" * 20, again="3" * 20)

    for page in (wrong, answer, refused):
        assert "⟦" in page
        assert unmarked_words(page) == []
