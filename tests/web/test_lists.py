"""Lists, by forms and by the API; the side bar in a browser."""

import re

import pytest

from archiver.http.urls import hash_url


@pytest.fixture
def settings(saved_archive):
    return saved_archive.settings


@pytest.fixture
def bears(saved_archive):
    return hash_url(saved_archive.url("/bears"))


async def send(client, path, *fields):
    """Send a form as a page would; return status, address and text of the next page."""
    async with client.post(path, data=fields) as answer:
        return answer.status, answer.url.path_qs, await answer.text()


async def lists(client):
    document = await (await client.get("/api/v1/lists")).json()
    return [(each["path"], each["count"], each["query"]) for each in document]


async def in_order(client, path):
    answer = await client.get("/api/v1/entries", params={"q": f'list:"{path}"'})
    return [each["entry"]["hash_url"] for each in (await answer.json())["items"]]


async def test_a_list_is_created_filled_and_ordered_by_forms(client, foxes, bears):
    status, where, page = await send(
        client, "/lists", ("do", "make"), ("path", "Recipes/“Best” soups")
    )
    assert (status, "This list is empty" in page) == (200, True)
    back = ("back", where)
    await send(
        client, "/edit", back, ("entry", foxes), ("entry", bears),
        ("with_folders", "Recipes/“Best” soups"),
    )  # fmt: skip
    first, second = await in_order(client, "Recipes/Best soups")

    status, _, page = await send(
        client, "/lists/order", back, ("list", "Recipes/“Best” soups"), ("position", "up"),
        ("entry", second),
    )  # fmt: skip

    assert (status, "Changed 1 entry." in page) == (200, True)
    assert await in_order(client, "Recipes/Best soups") == [second, first]
    assert page.index(f"/{second}/") < page.index(f"/{first}/")


async def test_selected_lists_are_merged_or_deleted(client, foxes):
    for path in ("A/Nested", "B", "C"):
        await send(client, "/lists", ("do", "make"), ("path", path))
    await send(client, "/edit", ("entry", foxes), ("with_folders", "A"))

    merged = [("path", each) for each in ("A", "A/Nested", "B")]
    status, _, page = await send(client, "/lists", ("do", "merge"), ("new", "B"), *merged)

    assert (status, "Changed 1 entry." in page) == (200, True)
    assert [path for path, *_ in await lists(client)] == ["B", "B/Nested", "C"]
    assert await in_order(client, "B") == [foxes]
    await send(client, "/lists", ("do", "delete"), ("path", "B"), ("path", "C"))
    assert await lists(client) == []
    assert "Select a list first." in (await send(client, "/lists", ("do", "delete")))[2]
    missing = ("do", "place"), ("path", "C"), ("parent", "Nowhere")
    assert "There is no list “C”." in (await send(client, "/lists", *missing))[2]


async def test_the_api_creates_changes_and_deletes_lists(client, foxes, bears):
    answer = await client.post("/api/v1/lists", json={"path": "A/B"})
    assert (answer.status, (await answer.json())["path"]) == (201, "A/B")
    await client.post("/api/v1/lists", json={"path": "S", "query": "is:unread"})
    for key in (foxes, bears):
        await client.patch(f"/api/v1/entries/{key}", json={"folders": ["A/B"]})
    order = {"path": "A/B", "entries": [bears], "position": "first"}
    answer = await client.post("/api/v1/lists/order", json=order)
    assert (await answer.json())["changed"] == 1
    answer = await client.patch("/api/v1/lists", json={"path": "S", "move": "up"})
    assert [each["path"] for each in await answer.json()] == ["S", "A", "A/B"]

    answer = await client.patch("/api/v1/lists", json={"path": "A", "new_path": "Z"})

    assert [each["path"] for each in await answer.json()] == ["S", "Z", "Z/B"]
    for colour, status in (("red", 200), ("#ff0000", 400)):
        answer = await client.patch("/api/v1/lists", json={"path": "Z", "colour": colour})
        assert answer.status == status
    assert (await (await client.get("/api/v1/lists")).json())[1]["colour"] == "red"
    assert await in_order(client, "Z/B") == [bears, foxes]
    answer = await client.delete("/api/v1/lists", params={"path": "Z"})
    assert await lists(client) == [("S", 2, "is:unread")]


async def test_a_search_is_saved_and_marked_in_the_side_bar(client):
    _, _, page = await send(
        client, "/lists", ("do", "make"), ("path", "Fresh"), ("query", "is:unread -tag:new")
    )

    assert re.search(r'q=is%3Aunread[^"]*" aria-current="page"><bdi>Fresh', page)
    assert "Save search" not in page
    assert "Save search" in await (await client.get("/snapshots?q=foxes")).text()


async def test_a_change_has_a_limited_number_of_tags_and_lists(client, foxes):
    for name in ("tags", "with_tags", "without_tags", "folders", "with_folders", "without_folders"):
        answer = await client.patch(f"/api/v1/entries/{foxes}", json={name: ["a"] * 101})

        assert (answer.status, "at most 100" in await answer.text()) == (400, True), name
        form = {name: ",".join(["a"] * 101)}
        assert (await client.post(f"/{foxes}/edit", data=form)).status == 400, name
    assert (await client.post(f"/{foxes}/edit", data={"tags": "a" * 200_000})).status == 400
