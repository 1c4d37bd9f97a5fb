import asyncio

import pytest

from archiver.db.engine import Database
from archiver.services.user_files import FEEDS, put_user_settings, user_file


@pytest.fixture
async def db(tmp_path):
    open_archive = await Database.open(tmp_path / "archive.sqlite3")
    yield open_archive
    await open_archive.close()


async def test_no_concurrent_change_is_lost(tmp_path):
    def add(number):
        return lambda content: (content or b"") + f"{number} ".encode()

    await asyncio.gather(*(user_file(tmp_path, FEEDS).change(add(each)) for each in range(40)))

    result = await user_file(tmp_path, FEEDS).read()
    assert sorted(map(int, result.split())) == [*range(40)]
    assert {each.name for each in tmp_path.iterdir()} == {FEEDS, "feeds.lock"}


async def test_a_change_has_another_mark_and_nothing_to_change_has_not(tmp_path):
    file = user_file(tmp_path, "access.json")
    assert await file.read() is None
    before = await file.version()

    after = await file.change(lambda _: b"x")

    assert before != after == await file.version() == await file.change(lambda _: None)
    assert (tmp_path / "access.json").stat().st_mode & 0o777 == 0o600


async def test_files_stay_in_the_folder_when_a_file_index_is_rebuilt(db, tmp_path):
    await user_file(tmp_path, FEEDS).change(lambda _: b"<opml/>")

    await put_user_settings(None, db, tmp_path)

    assert await user_file(tmp_path, FEEDS).read() == b"<opml/>"
