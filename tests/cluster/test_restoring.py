"""An archive from its backups: the bucket, and a database that is older than that."""

from tests.cluster.commands import ran
from tests.postgres import administer


async def test_what_was_captured_since_the_database_was_backed_up_comes_back_from_the_bucket(
    live, address, store, tmp_path
):
    name = address.rpartition("/")[2]
    shared = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": store.address}
    here, there = (shared | {"ARCHIVER_DATA": str(tmp_path / each)} for each in "ab")
    (tmp_path / "b").mkdir()
    pages = [live.article("before"), live.article("since")]
    assert (await ran("add", pages[0], **here))[0] == 0
    administer(f"CREATE DATABASE {name}_kept TEMPLATE {name}")
    assert (await ran("add", pages[1], **here))[0] == 0

    administer(f"DROP DATABASE {name}", f"ALTER DATABASE {name}_kept RENAME TO {name}")
    _, older = await ran("list", **there)
    assert "`archiver reindex`" in (await ran("verify", **there))[1]
    assert (await ran("reindex", **there))[0] == 0

    assert [page in older for page in pages] == [True, False]
    _, listed = await ran("list", "--status", "saved", **there)
    assert [page in listed for page in pages] == [True, True]
    assert "problems\t0" in (await ran("verify", **there))[1]
