from dataclasses import replace
from io import BytesIO

import pytest

from archiver.errors import InputError, InvalidQuery, NotFound
from archiver.model.annotation import AnnotationChange
from archiver.model.entry_list import ListColour
from archiver.model.export_kinds import BY_KEY
from archiver.model.listing import ListingQuery
from archiver.services.export_selection import Selected
from archiver.services.lists import ListPosition
from archiver.services.reindex import reindex

URLS = tuple(f"http://127.0.0.1:1/{name}" for name in "abc")


@pytest.fixture
async def archive(archive):
    """Three waiting links, a, b and c, in the list Recipes/Soups."""
    await archive.entries.save(URLS, source="cli")
    for url in URLS:
        await archive.editing.change([url], AnnotationChange(with_folders=("Recipes / Soups",)))
    return archive


async def search_names(archive, q):
    listing = await archive.search.listing(ListingQuery(q=q))
    return "".join(each.entry.url[-1] for each in listing.items)


async def list_counts(archive):
    return [(each.path, each.count) for each in await archive.lists.all()]


async def test_a_list_has_its_entries_in_order_and_its_nested_lists(archive):
    assert await search_names(archive, "list:recipes/soups") == "abc"
    assert await search_names(archive, "list:Recipes") == ""
    assert sorted(await search_names(archive, "list:Recipes/")) == ["a", "b", "c"]
    assert await search_names(archive, "-list:Recipes/Soups") == ""
    assert await list_counts(archive) == [("Recipes", 0), ("Recipes/Soups", 3)]


async def test_entries_move_within_a_list_and_back_when_that_is_undone(archive):
    for moved, position, after in (
        ("c", ListPosition.FIRST, "cab"),
        ("c", ListPosition.UP, "acb"),
        ("a", ListPosition.DOWN, "bac"),
        ("ac", ListPosition.LAST, "bac"),
        ("a", ListPosition.UP, "abc"),
        ("abc", ListPosition.DOWN, "abc"),
    ):
        refs = [url for url in URLS if url[-1] in moved]

        edited = await archive.lists.order("Recipes/Soups", refs, position)

        assert await search_names(archive, "list:Recipes/Soups") == after, moved
        if edited.changed:
            await archive.editing.undo(edited.id)
        assert await search_names(archive, "list:Recipes/Soups") == "abc", moved


async def test_a_list_with_quotes_in_its_name_can_be_renamed_and_deleted(archive):
    path = 'q"x “q”, «really»'
    await archive.lists.rename("Recipes/Soups", path)
    await archive.lists.rename(path, "Plain")
    assert await list_counts(archive) == [("Recipes", 0), ("Plain", 3)]

    await archive.lists.rename("Plain", path)
    await archive.lists.delete(path)
    assert await list_counts(archive) == [("Recipes", 0)]


async def test_a_renamed_list_keeps_its_order_and_nested_lists(archive):
    await archive.lists.make("Before")
    await archive.lists.order("Recipes/Soups", [URLS[2]], ListPosition.FIRST)

    await archive.lists.rename("Recipes", "Food/All of it")

    assert await search_names(archive, 'list:"Food/All of it/Soups"') == "cab"
    assert await list_counts(archive) == [
        ("Food", 0),
        ("Food/All of it", 0),
        ("Food/All of it/Soups", 3),
        ("Before", 0),
    ]


async def test_a_list_renamed_to_an_existing_one_is_merged(archive):
    await archive.editing.change([URLS[0]], AnnotationChange(with_folders=("Soup",)))

    await archive.lists.rename("Soup", "Recipes/Soups")

    assert await search_names(archive, "list:Recipes/Soups") == "abc"
    assert await list_counts(archive) == [("Recipes", 0), ("Recipes/Soups", 3)]


async def test_counts_of_saved_searches_are_right_on_the_first_view(archive):
    async def count():
        return (await archive.lists.all())[-1].count

    await archive.lists.make("Later", "tag:later")
    assert await count() == 0
    edited = await archive.editing.change(URLS[:2], AnnotationChange(with_tags=("later",)))
    assert await count() == 2
    deleted = await archive.deleting.entries([URLS[0]])
    assert await count() == 1
    await archive.deleting.undo(deleted.id)
    assert await count() == 2
    await archive.editing.undo(edited.id)
    assert await count() == 1  # The restored entry has changed since the edit.


async def test_a_saved_search_gives_way_to_a_list_that_takes_its_name(archive):
    await archive.lists.make("Later", "tag:later")
    await archive.lists.set_colour("Later", ListColour.RED)
    await archive.editing.change(URLS[:1], AnnotationChange(with_folders=("Later",)))

    lists = [(each.path, each.query, each.colour, each.count) for each in await archive.lists.all()]

    assert lists[-2:] == [
        ("Later", "", ListColour.RED, 1),
        ("Later (search)", "tag:later", ListColour.RED, 0),
    ]


async def test_invalid_lists_are_refused(archive):
    for path, query in (("", ""), (" / ", ""), ("Recipes", ""), ("Recipes", "is:read")):
        with pytest.raises(InputError):
            await archive.lists.make(path, query)
    with pytest.raises(InvalidQuery):
        await archive.lists.make("Odd", "colour:red")
    with pytest.raises(InputError):
        await archive.lists.rename("Recipes", "Recipes/Soups/More")
    with pytest.raises(NotFound):
        await archive.lists.rename("Nothing", "Something")
    with pytest.raises(NotFound):
        await archive.lists.order("Recipes", [URLS[0]], ListPosition.LAST)


async def test_an_import_s_folders_are_lists_in_the_order_of_the_file(open_archive, settings):
    rows = "".join(f'<DT><A HREF="{url}">{url}</A>' for url in reversed(URLS))
    text = f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>Zoo</H3><DL>{rows}</DL></DL>"
    path = settings.data.parent / "bookmarks.html"
    path.write_text(text)
    async with open_archive() as archive:
        with path.open("rb") as source:
            await archive.imports.read_file(source, name=path.name)
        await archive.crawling.work()
        assert await search_names(archive, "list:Zoo") == "cba"
        await archive.lists.make("Later")
        await archive.lists.move("Later", down=False)
        await archive.crawling.write_pending_records()
    await reindex(settings)
    async with open_archive() as archive:
        assert await search_names(archive, "list:Zoo") == "cba"
        assert await list_counts(archive) == [("Later", 0), ("Zoo", 3)]


async def nested_count(archive):
    return {each.path: each.nested_count for each in await archive.lists.all()}


async def test_the_count_of_a_list_has_each_entry_of_it_and_of_nested_lists_once(archive):
    assert await nested_count(archive) == {"Recipes": 3, "Recipes/Soups": None}
    both = AnnotationChange(with_folders=("Recipes/Bread/Rye", "Recipes"))
    await archive.editing.change(URLS[:2], both)
    await archive.lists.count()

    counts = await nested_count(archive)

    searches = {each.path: each.nested_search_query for each in await archive.lists.all()}
    assert (counts["Recipes/Bread"], counts["Recipes/Bread/Rye"]) == (2, None)
    for path in ("Recipes", "Recipes/Bread"):
        assert len(await search_names(archive, searches[path])) == counts[path]


async def test_lists_are_placed_with_their_entries(archive):
    lists = archive.lists
    for path in ("Recipes/Bread", "Travel", "Work"):
        await lists.make(path)

    await lists.place("Travel", "Recipes", before="Recipes/Bread")
    await lists.place("Work", "", before="Recipes")
    placed = ["Work", "Recipes", "Recipes/Soups", "Recipes/Travel", "Recipes/Bread"]
    assert [each.path for each in await lists.all()] == placed
    await lists.place("Recipes/Soups", "")
    placed = ["Work", "Recipes", "Recipes/Travel", "Recipes/Bread", "Soups"]
    assert [each.path for each in await lists.all()] == placed
    assert await search_names(archive, "list:Soups") == "abc"
    for path, parent, error in (
        ("Recipes", "Recipes/Bread", InputError),
        ("Soups", "Nowhere", NotFound),
        ("Gone", "", NotFound),
    ):
        with pytest.raises(error):
            await lists.place(path, parent)


async def test_colours_of_lists_survive_a_reindex_and_an_export(open_archive, settings, tmp_path):
    async def coloured(archive):
        return {each.path: each.colour for each in await archive.lists.all()}

    async with open_archive() as archive:
        await archive.lists.make("Recipes/Soups")
        await archive.lists.set_colour("Recipes/Soups", ListColour.BLUE)
        await archive.lists.rename("Recipes", "Meals")
        await archive.crawling.write_pending_records()
        before = await coloured(archive)
    await reindex(settings)

    async with open_archive() as archive:
        await archive.entries.save(URLS, source="cli")
        pieces = await archive.exporting.begin(BY_KEY["json"], Selected(), name="a.json")
        text = b"".join([piece async for piece in pieces])
        assert await coloured(archive) == before
    async with open_archive(replace(settings, data=tmp_path / "other")) as archive:
        await archive.imports.read_file(BytesIO(text), name="a.json")
        assert await coloured(archive) == before
    assert before == {"Meals": ListColour.NONE, "Meals/Soups": ListColour.BLUE}
