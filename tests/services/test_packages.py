"""Exports hold all that a snapshot needs, each record once, in forms that others open."""

import gzip
import hashlib
import io
import json
import subprocess
import sys
import zipfile

import pytest
from warcio.archiveiterator import ArchiveIterator

from archiver.config import Settings
from archiver.runtime import open_runtime
from archiver.services.search import ListingQuery
from archiver.services.selection import Selected

EVERYTHING = Selected()
PIXEL = "<link rel=stylesheet href=/style.css><img src=/missing.png>"


@pytest.fixture
async def runtime(tmp_path, live):
    """Two pages with one style sheet; the first was captured twice, the second once."""
    live.put("/style.css", "p { color: red }", kind="text/css")
    pages = [live.article(name, head=PIXEL) for name in ("foxes", "geese")]
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    async with open_runtime(settings) as opened:
        for urls in (pages, pages[:1]):
            await opened.entries.save(urls, tags=["animals"], source="cli")
            await opened.crawling.work()
        yield opened


async def whole(pieces):
    return b"".join([piece async for piece in pieces])


def records(warc):
    """(type, target, record id) of each record."""
    return [
        (
            record.rec_type,
            record.rec_headers.get_header("WARC-Target-URI"),
            record.rec_headers.get_header("WARC-Record-ID"),
        )
        for record in ArchiveIterator(io.BytesIO(warc))
    ]


def is_checked(path):
    checking = [sys.executable, "-m", "warcio.cli", "check", path]
    return subprocess.run(checking, check=False).returncode == 0


@pytest.mark.parametrize("wanted", [EVERYTHING, Selected(ListingQuery(tag="animals"))])
async def test_a_warc_holds_every_record_of_what_is_meant_once(runtime, tmp_path, wanted):
    warc = await whole(runtime.packages.warc(wanted, name="all.warc.gz"))
    (tmp_path / "all.warc.gz").write_bytes(warc)

    found = records(warc)
    kinds = [kind for kind, _, _ in found]
    assert len({record_id for _, _, record_id in found}) == len(found)
    assert kinds[0] == "warcinfo"
    assert kinds.count("metadata") == 3
    assert kinds.count("conversion") == 2
    assert kinds.count("response") + kinds.count("revisit") == kinds.count("request")
    assert is_checked(tmp_path / "all.warc.gz")


async def test_what_is_not_meant_is_left_out(runtime):
    warc = await whole(
        runtime.packages.warc(Selected(ListingQuery(q="geese")), name="geese.warc.gz")
    )

    targets = {target for _, target, _ in records(warc) if target}
    assert any(target.endswith("/geese") for target in targets)
    assert any(target.endswith("/style.css") for target in targets)
    assert not any(target.endswith("/foxes") for target in targets)


async def test_an_unchanged_snapshot_brings_the_payload_it_refers_to(runtime, live):
    entry = (await runtime.entries.get(live.url("/foxes"))).entry
    wanted = Selected(hash_url=entry.hash_url)

    found = records(await whole(runtime.packages.warc(wanted, name="foxes.warc.gz")))

    of_page = [kind for kind, target, _ in found if target == entry.url]
    assert sorted(of_page) == ["request", "request", "response", "revisit"]


@pytest.mark.parametrize("wanted", [EVERYTHING, Selected(ListingQuery(q="geese"))])
async def test_a_wacz_is_what_its_own_lists_say(runtime, tmp_path, wanted):
    packed = await whole(runtime.packages.wacz(wanted, title="Mine"))

    with zipfile.ZipFile(io.BytesIO(packed)) as package:
        assert package.testzip() is None
        said = json.loads(package.read("datapackage.json"))
        for each in said["resources"]:
            data = package.read(each["path"])
            assert each["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
            assert each["bytes"] == len(data)
        digest = json.loads(package.read("datapackage-digest.json"))["hash"]
        assert digest == f"sha256:{hashlib.sha256(package.read('datapackage.json')).hexdigest()}"
        warc = package.read("archive/data.warc.gz")
        index = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
        pages = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()]
    (tmp_path / "data.warc.gz").write_bytes(warc)
    assert is_checked(tmp_path / "data.warc.gz")
    assert index == sorted(index)
    assert len(index) == sum(1 for kind, *_ in records(warc) if kind in ("response", "revisit"))
    for line in index:
        place = json.loads(line.split(" ", 2)[2])
        member = warc[int(place["offset"]) : int(place["offset"]) + int(place["length"])]
        (record,) = records(member)
        assert record[1] == place["url"]
    assert {page["title"] for page in pages[1:]} >= {"geese"}
    assert (said["wacz_version"], said["title"]) == ("1.1.1", "Mine")


async def test_nothing_to_export_is_known_beforehand(runtime):
    assert await runtime.packages.is_empty(Selected(ListingQuery(tag="none such")))
    assert not await runtime.packages.is_empty(EVERYTHING)
