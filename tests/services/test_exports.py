import pytest
import yaml

from archiver.errors import NotFound


@pytest.fixture
async def filled(archive, live):
    urls = [live.article("foxes"), live.article("a: 'b' # \"c\""), live.url("/missing")]
    await archive.entries.save(urls, tags=("t",), source="cli")
    await archive.crawling.work()
    return archive


def parts(text):
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), body


async def test_an_entry_is_front_matter_and_its_article(filled, live):
    front, body = parts(await filled.exports.index_md(live.url("/foxes")))

    detail = await filled.entries.snapshot(live.url("/foxes"))
    assert (front["title"], front["url"]) == ("foxes", live.url("/foxes"))
    assert front["hash_url"] == detail.entry.hash_url
    assert front["tags"] == ["t"]
    assert detail.article.strip() in body


async def test_an_entry_without_a_snapshot_is_front_matter_alone(filled, live):
    front, body = parts(await filled.exports.index_md(live.url("/missing")))

    assert front["url"] == live.url("/missing")
    assert body.strip() == ""


async def test_what_is_not_in_the_archive_is_not_exported(filled):
    with pytest.raises(NotFound):
        await filled.exports.index_md("http://b.example/")


async def test_the_tree_has_a_folder_for_every_entry_and_is_written_again_in_place(
    filled, live, tmp_path
):
    for _ in range(2):
        written = [name async for name in filled.exports.markdown_tree(tmp_path / "tree")]

        assert len(written) == 3
        found = {path.parent.name: path.read_text() for path in tmp_path.glob("tree/*/*")}
        assert set(found) == set(written)
        for name, text in found.items():
            assert text == await filled.exports.index_md(name)
            assert parts(text)[0]["hash_url"] == name
