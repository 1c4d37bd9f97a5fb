"""Editing metadata of entries with the API and with forms."""

import re

import pytest

from archiver.http.urls import hash_url


@pytest.fixture
def settings(saved_archive):
    return saved_archive.settings


async def send(client, path, fields, *, page="/snapshots"):
    """Send a form of a page; return the resulting page."""
    pairs = fields
    async with client.post(path, data=pairs) as answer:
        return answer.status, answer.url.path_qs, await answer.text()


async def entry(client, key):
    return (await (await client.get(f"/api/v1/entries/{key}")).json())["entry"]


async def test_the_api_changes_only_the_given_fields(client, foxes):
    change = {"title": "T", "note": "N", "tags": ["a", "b"], "is_read": True, "is_starred": True}
    answer = await client.patch(f"/api/v1/entries/{foxes}", json=change)

    shown = (await answer.json())["entry"]
    assert answer.status == 200
    assert {name: shown[name] for name in change} == change
    listed = (await (await client.get("/api/v1/entries")).json())["items"]
    assert [each["entry"]["is_starred"] for each in listed if each["entry"]["title"] == "T"] == [
        True
    ]
    answer = await client.patch(f"/api/v1/entries/{foxes}", json={"is_read": False, "note": None})
    assert await entry(client, foxes) == shown | {"is_read": False}


async def test_an_entry_is_edited_on_its_page_and_the_edit_undone(client, foxes):
    before = await entry(client, foxes)
    fields = [("title", "Mine"), ("tags", "new, Old,new"), ("note", "one\r\ntwo")]
    status, path, page = await send(client, f"/{foxes}/edit", fields, page=f"/{foxes}/")

    changed = await entry(client, foxes)
    assert (status, "Changed 1 entry." in page) == (200, True)
    assert changed["tags"] == ["Old", "new"]
    assert (changed["title"], changed["note"]) == ("Mine", "one\ntwo")

    number = re.search(r'name="edit" value="(\d+)"', page)[1]
    fields = [("edit", number), ("back", f"/{foxes}/")]
    _, path, page = await send(client, "/undo", fields, page=path)

    assert path == f"/{foxes}/?undone=1"
    assert "Undone." in page
    assert await entry(client, foxes) == before


async def test_a_rejected_edit_keeps_what_was_typed(client, foxes):
    fields = [
        ("title", "Mine"),
        ("tags", "x" * 101),
        ("folders", "A/B"),
        ("note", "A long\r\nnote"),
    ]

    status, _, page = await send(client, f"/{foxes}/edit", fields)

    assert (status, "is too long; the limit is 100 characters." in page) == (400, True)
    for typed in (
        'value="Mine"',
        " autofocus>",
        f'value="{"x" * 101}"',
        'value="A/B"',
        "A long\r\nnote</textarea>",
    ):
        assert typed in page
    assert (await entry(client, foxes))["title"] != "Mine"


async def test_selected_entries_are_changed_and_the_list_is_shown(client, foxes, saved_archive):
    fields = [
        ("entry", foxes),
        ("scope", "ticked"),
        ("with_tags", "a, b"),
        ("without_tags", "Old"),
        ("is_read", "1"),
        ("is_starred", ""),
        ("back", "/snapshots?q=clever"),
    ]
    status, path, page = await send(client, "/edit", fields)

    assert (status, path.startswith("/snapshots?q=clever&edit=")) == (200, True)
    assert "Changed 1 entry." in page
    assert (await entry(client, foxes))["tags"] == ["a", "b"]
    assert (await entry(client, hash_url(saved_archive.url("/bears"))))["tags"] == ["Old"]


async def test_an_edit_never_redirects_to_another_site(client, foxes):
    fields = [("entry", foxes), ("is_read", "1"), ("back", "//evil.example/")]
    _, path, _ = await send(client, "/edit", fields)

    assert path.startswith("/?edit=")


async def test_tags_are_renamed_merged_and_deleted(client, foxes, saved_archive):
    await client.patch(f"/api/v1/entries/{foxes}", json={"tags": ["öld", "x"]})
    page = await (await client.get("/tags")).text()
    assert "similar to “öld”" in page

    rename = [("name", "OLD"), ("new", "öld"), ("do", "rename")]
    _, path, page = await send(client, "/tags", rename, page="/tags")
    assert path.startswith("/tags?edit=")
    assert (await entry(client, hash_url(saved_archive.url("/bears"))))["tags"] == ["öld"]

    await send(client, "/tags", [("name", "ÖLD"), ("do", "delete")], page="/tags")
    assert (await entry(client, foxes))["tags"] == ["x"]


async def test_direction_characters_in_a_title_are_removed(client, foxes):
    await client.patch(f"/api/v1/entries/{foxes}", json={"title": "gnp.\u202eexe"})

    for path in (f"/{foxes}/", "/snapshots", "/"):
        assert "\u202e" not in re.sub(
            r"<(input|textarea)[^>]*>", "", await (await client.get(path)).text()
        )
    assert (await entry(client, foxes))["title"] == "gnp.\u202eexe"
