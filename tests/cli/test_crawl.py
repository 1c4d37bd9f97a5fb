"""``archiver extract`` extracts deferred articles and reports the number."""

from archiver.app import open_app
from archiver.cli.crawl import _extract, _extract_again
from archiver.config import Settings


async def test_it_prints_how_many_were_extracted_and_how_many_are_left(tmp_path, live, capsys):
    settings = Settings(
        data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, articles="later"
    )
    async with open_app(settings) as archive:
        await archive.entries.save([live.article("foxes"), live.article("bears")], source="cli")
        await archive.crawling.work()

    assert await _extract(settings) == 0

    assert capsys.readouterr().out == "extracted\t2\nleft\t0\n"
    capsys.readouterr()
    assert await _extract_again(settings, "", diff=True) == 0
    assert capsys.readouterr().out == "extracted\t0\nchanged\t0\n"
