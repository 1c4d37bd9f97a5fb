import asyncio

from archiver.services.user_files import FEEDS, user_file


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
