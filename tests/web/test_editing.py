"""Editing metadata of entries with the API and with forms."""

import json
import re
from xml.etree.ElementTree import fromstring

import pytest
from yarl import URL

from archiver.http.urls import hash_url


@pytest.fixture
def settings(saved_archive):
    return saved_archive.settings


@pytest.fixture
def foxes(saved_archive):
    return hash_url(saved_archive.url("/foxes"))


async def send(client, path, fields, *, page="/snapshots"):
    """Send a form of a page; return the resulting page."""
    pairs = fields
    async with client.post(path, data=pairs) as answer:
        return answer.status, answer.url.path_qs, await answer.text()


async def entry(client, key):
    return (await (await client.get(f"/api/v1/entries/{key}")).json())["entry"]


async def test_the_api_changes_only_the_given_fields(client, foxes):
    wanted = {"title": "T", "note": "N", "tags": ["a", "b"], "is_read": True, "is_starred": True}
    answer = await client.patch(f"/api/v1/entries/{foxes}", json=wanted)

    shown = (await answer.json())["entry"]
    assert answer.status == 200
    assert {name: shown[name] for name in wanted} == wanted
    listed = (await (await client.get("/api/v1/entries")).json())["items"]
    assert [each["entry"]["is_starred"] for each in listed if each["entry"]["title"] == "T"] == [
        True
    ]
    answer = await client.patch(f"/api/v1/entries/{foxes}", json={"is_read": False, "note": None})
    assert await entry(client, foxes) == shown | {"is_read": False}


async def test_the_api_rejects_invalid_changes(client, foxes):
    for body, status in (
        ({}, 400),
        ({"tags": "a"}, 400),
        ({"is_read": 1}, 400),
        ({"title": "x" * 2001}, 400),
    ):
        answer = await client.patch(f"/api/v1/entries/{foxes}", json=body)

        assert answer.status == status, body
        assert (await answer.json())["error"]["message"].endswith("."), body


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


async def test_the_feed_of_any_list_is_well_formed(client):
    for query in ("q=%00", "q=%01", "tag=%1f", "x=%EF%BF%BF", "q=c%23", "q=a<b"):
        for form in ("atom", "json"):
            answer = await client.get(f"/feed.{form}?{query}")
            body = await answer.text()

            if form == "atom" and answer.status == 200:
                fromstring(body)
            elif answer.status == 200:
                assert json.loads(body)["home_page_url"].endswith(
                    f"/snapshots?{URL(f'/?{query}').raw_query_string}"
                ), (query, form)
            else:
                assert answer.status == 400, (query, form)


async def test_a_row_shows_title_site_and_excerpt(client, saved_archive):
    listed = (await (await client.get("/api/v1/entries?sort=title")).json())["items"]
    page = await (await client.get("/snapshots")).text()

    assert [each["entry"]["title"] for each in listed] == ["bears", "foxes"]
    assert all(each["word_count"] > 100 for each in listed)
    assert listed[0]["page"]["excerpt"].startswith("This is what the page called bears has to say")
    assert page.count('class="excerpt lines"') == 2
    assert page.count('<li class="day">') == 1
    assert '<span class="nowrap">1 min</span>' in page


async def test_a_form_without_a_selection_changes_nothing(client):
    fields = [("scope", "ticked"), ("with_tags", "a"), ("back", "/snapshots?q=clever")]
    for path in ("/edit", "/delete"):
        status, shown, page = await send(client, path, fields)

        assert (status, shown) == (200, "/snapshots?q=clever&nothing=1")
        assert "Nothing selected." in page


async def test_direction_characters_in_a_title_are_removed(client, foxes):
    await client.patch(f"/api/v1/entries/{foxes}", json={"title": "gnp.\u202eexe"})

    for path in (f"/{foxes}/", "/snapshots", "/"):
        assert "\u202e" not in re.sub(
            r"<(input|textarea)[^>]*>", "", await (await client.get(path)).text()
        )
    assert (await entry(client, foxes))["title"] == "gnp.\u202eexe"


async def test_a_button_overrides_the_fields_of_the_form(client, foxes):
    fields = [("entry", foxes), ("is_read", ""), ("is_starred", ""), ("is_read", "1")]

    status, _, page = await send(client, "/edit", fields)

    assert (status, "Changed 1 entry." in page) == (200, True)
    shown = await entry(client, foxes)
    assert (shown["is_read"], shown["is_starred"]) == (True, False)
