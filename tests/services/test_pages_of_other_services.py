"""Pages stored by other services become snapshots directly, with their pictures and origin."""

from io import BufferedReader, BytesIO

import pytest

from archiver.model.capture import Way
from tests.formats.goldens import GOLDENS, A
from tests.formats.test_saved_pages import MHTML

FILES = {
    **{form: GOLDENS[form][:2] for form in ("Readeck zip", "Karakeep dump", "Linkwarden zip")},
    "MHTML": ("page.mhtml", MHTML),
}


@pytest.mark.parametrize("form", FILES)
async def test_an_import_makes_snapshots_of_what_was_kept_and_again_none(archive, form):
    name, data = FILES[form]
    for _ in range(2):
        with BufferedReader(BytesIO(data)) as source:
            status = await archive.imports.read_file(source, name=name)

    found = await archive.entries.snapshot(A)
    detail = await archive.entries.get(A)

    assert (status.format, status.rejected) == (form, 0)
    assert found.snapshot.timestamp == "20200913122640"
    assert len(detail.snapshots) == 1
    assert found.provenance.way is Way.FROM_FILE
    assert found.provenance.source == f"{name} ({form})"
    assert {each.status for each in found.requisites} <= {200}
    assert found.text
