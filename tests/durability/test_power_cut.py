"""The power goes at any moment: what a person was told of is there when it comes back.

The calls of a whole run are done again on a model of a disk, which keeps what was synced and, of
the rest, nothing, half, the sizes without the content, or all. At each moment that matters the
archive is opened as it is then.
"""

import pytest

from archiver.config import Settings
from archiver.crawl.archive import open_archive
from archiver.db import entries
from archiver.http.urls import hash_url
from archiver.services.entries import Entries
from archiver.services.fixity import Fixity
from tests.durability.cuts import LOSES, moments, put_back


async def problems(archive, told):
    """What is not as a person was told, and what is wrong with the archive."""
    found = []
    for each in told:
        async with archive.db.read() as conn:
            known = await entries.by_hash(conn, hash_url(each.url))
        if known is None:
            found.append(f"{each.url} is gone")
        elif each.is_saved:
            if not known[1].snapshot_count:
                found.append(f"{each.url} is not saved any more")
                continue
            detail = await Entries(archive.db, archive.store).snapshot(each.url)
            if "keeps to itself" not in detail.article:
                found.append(f"{each.url} has no article")
    return found


@pytest.mark.parametrize("lost", LOSES)
async def test_what_was_acknowledged_is_there_whenever_the_power_goes(served, tmp_path, lost):
    count = 0
    for files, told in moments(served, LOSES[lost]):
        put_back(files, tmp_path / "data")
        async with open_archive(Settings(data=tmp_path / "data")) as archive:
            wrong = await problems(archive, told)
            if lost != "content but not sizes":
                verified = Fixity(archive.db, archive.store).verify()
                wrong += [
                    f"{each.where}: {each.problem}" async for each in verified if each.is_wrong
                ]
        assert wrong == [], (count, [*files])
        count += 1
    assert count > 20
