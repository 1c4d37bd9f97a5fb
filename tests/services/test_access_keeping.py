"""Who may come in, as machines keep it with the index that they share."""

import pytest

from archiver.access.file import NAME, AccessFile
from archiver.errors import ConfigurationError
from archiver.index import shared_files
from archiver.index.database import Database
from archiver.model.access import Access
from archiver.services.access_keeping import KeptInIndex


@pytest.fixture
async def db(tmp_path):
    opened = await Database.open(tmp_path / "archive.sqlite3")
    yield opened
    await opened.close()


@pytest.mark.parametrize("held", [b"{", b"{}", b"[]", b"\xff", b'{"password": 7}'])
async def test_a_row_that_we_did_not_write_is_told_of_and_changes_nothing(db, tmp_path, held):
    file = AccessFile(tmp_path)
    file.change(lambda _: Access("kept"))
    keeping = KeptInIndex(db, file)
    async with db.write() as conn:
        await shared_files.put(conn, NAME, held)

    with pytest.raises(ConfigurationError, match="shared_file"):
        await keeping.look()
    with pytest.raises(ConfigurationError, match="shared_file"):
        await keeping.change(lambda _: Access("another"))

    assert file.read() == Access("kept")
