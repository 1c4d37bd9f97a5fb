"""``archiver extract`` reads what was left, and says how much."""

from archiver.app import open_app
from archiver.cli.crawl import _again, _extract, changed_lines
from archiver.config import Settings
from archiver.pages.text_comparison import compare


async def test_it_says_how_many_were_read_and_how_many_are_left(tmp_path, live, capsys):
    settings = Settings(
        data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, articles="later"
    )
    async with open_app(settings) as archive:
        await archive.entries.save([live.article("foxes"), live.article("bears")], source="cli")
        await archive.crawling.work()

    assert await _extract(settings) == 0

    assert capsys.readouterr().out == "read\t2\nleft\t0\n"
    capsys.readouterr()
    assert await _again(settings, "", diff=True) == 0
    assert capsys.readouterr().out == "read\t0\nchanged\t0\n"


def test_the_paragraphs_that_changed_are_shown_with_their_words_marked():
    before = "One stays.\nThe red fox sleeps.\nGone."
    after = "One stays.\nThe old fox sleeps.\nNew here.\nNewer."

    lines = [*changed_lines(compare(before, after).pieces)]

    assert lines[0] == "The [-red-]{+old+} fox sleeps."
    assert "[-Gone-]" in "".join(lines)
    assert not any("One" in line for line in lines)
