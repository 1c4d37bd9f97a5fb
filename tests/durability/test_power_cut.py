"""Acknowledged changes survive a power cut at any moment.

The system calls of a complete run are applied to a model of a disk, which keeps synced data and, of
the rest, nothing, half, the sizes without the content, or everything. The archive is opened in the
state of each relevant moment.
"""

from archiver.config import Settings
from archiver.crawl.archive import open_archive
from archiver.db import entries
from archiver.http.urls import hash_url
from archiver.services.entries import Entries
from archiver.services.fixity import Fixity
from tests.durability.cuts import CONTENT, LOSES, moments, put_back
from tests.durability.order import ORDERS, nothing_is_acknowledged_while_the_wal_is_not_synced


async def problems(archive, acknowledged_lines):
    """Return what differs from the acknowledgements, and the problems of the archive."""
    results = []
    for each in acknowledged_lines:
        async with archive.db.read() as conn:
            entry = await entries.by_hash(conn, hash_url(each.url))
        if entry is None:
            results.append(f"{each.url} is gone")
        elif each.is_saved:
            if not entry[1].snapshot_count:
                results.append(f"{each.url} is not saved any more")
                continue
            detail = await Entries(archive.db, archive.store).snapshot(each.url)
            if "keeps to itself" not in detail.article:
                results.append(f"{each.url} has no article")
    return results


async def test_changes_are_on_disk_in_order_and_acknowledged_ones_survive_a_power_cut(
    served, traced_add, tmp_path, subtests
):
    for check in ORDERS:
        with subtests.test(check.__name__):
            check(served, traced_add)
    nothing_is_acknowledged_while_the_wal_is_not_synced(served)
    states = set()
    for lost, lose in LOSES.items():
        for files, acknowledged in moments(served, lose, states):
            put_back(files, tmp_path / "data")
            async with open_archive(Settings(data=tmp_path / "data")) as archive:
                wrong = await problems(archive, acknowledged)
                if lost != CONTENT:
                    verified = Fixity(archive.db, archive.store).verify()
                    wrong += [
                        f"{each.where}: {each.problem}" async for each in verified if each.is_wrong
                    ]
            assert wrong == [], (lost, len(states), [*files])
    assert len(states) > 30
