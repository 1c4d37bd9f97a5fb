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
    front, body = parts(await filled.exporting.index_md(live.url("/foxes")))

    detail = await filled.entries.snapshot(live.url("/foxes"))
    assert (front["title"], front["url"]) == ("foxes", live.url("/foxes"))
    assert front["hash_url"] == detail.entry.hash_url
    assert front["tags"] == ["t"]
    assert detail.article.strip() in body


async def test_an_entry_without_a_snapshot_is_front_matter_alone(filled, live):
    front, body = parts(await filled.exporting.index_md(live.url("/missing")))

    assert front["url"] == live.url("/missing")
    assert body.strip() == ""


async def test_an_unknown_entry_is_not_exported(filled):
    with pytest.raises(NotFound):
        await filled.exporting.index_md("http://b.example/")
