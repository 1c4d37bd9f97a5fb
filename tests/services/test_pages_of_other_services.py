"""Pages stored by other services become snapshots directly, with their pictures and origin."""

from io import BufferedReader, BytesIO

import pytest

from archiver.model.capture import Acquisition
from archiver.model.listing import ListingQuery
from tests.formats.goldens import GOLDENS, A
from tests.formats.test_saved_pages import MHTML

FILES = {
    "Linkwarden zip": GOLDENS["Linkwarden zip"][:2],
    "MHTML": ("page.mhtml", MHTML),
}


async def test_a_note_without_an_address_is_an_entry_of_type_note(archive):
    name, data, _ = GOLDENS["Karakeep data directory"]
    with BufferedReader(BytesIO(data)) as source:
        await archive.imports.read_file(source, name=name)

    await archive.crawling.work()
    (listing,) = (await archive.search.listing(ListingQuery(q="type:note"))).items
    read = await archive.entries.snapshot(listing.entry.url)

    assert listing.entry.state == "saved"
    assert (listing.entry.title, read.text.split("\n")[-1]) == ("E", "Only words.")


@pytest.mark.parametrize("form", FILES)
async def test_an_import_of_saved_pages_makes_each_snapshot_once(archive, form):
    name, data = FILES[form]
    for _ in range(2):
        with BufferedReader(BytesIO(data)) as source:
            status = await archive.imports.read_file(source, name=name)

    saved = await archive.entries.snapshot(A)
    detail = await archive.entries.get(A)

    assert (status.format, status.rejected) == (form, 0)
    assert saved.snapshot.timestamp == "20200913122640"
    assert len(detail.snapshots) == 1
    assert saved.provenance.acquisition is Acquisition.FROM_FILE
    assert saved.provenance.source == f"{name} ({form})"
    assert {each.status for each in saved.requisites} <= {200}
    assert saved.text
