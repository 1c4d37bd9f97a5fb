"""Suggestions for misspelt tags, lists and sites."""

from datetime import UTC, datetime, timedelta

import pytest

from archiver.db import new_entries
from archiver.db.engine import Database
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.listing import ListingQuery
from archiver.model.seed import RevisedSeed, Seed
from archiver.services.search import Search

START = datetime(2019, 12, 30, tzinfo=UTC)
NAMED = [
    ("https://en.herons.example/a", ("Wetlands", "Café"), ("Birds/Herons",)),
    ("https://de.herons.example/b", ("wetlands", "wetlanes"), ("Birds/Herons",)),
    ("https://herons.other.example/c", ("to read",), ("Reading list",)),
]


@pytest.fixture
async def search(tmp_path):
    open_archive = await Database.open(tmp_path / "archive.sqlite3")
    async with open_archive.write() as conn:
        seeds = [
            Seed(
                hash_url(url),
                url,
                host(url),
                Annotation(url, START + timedelta(days=n), tags=tags, folders=lists),
            )
            for n, (url, tags, lists) in enumerate(NAMED)
        ]
        await new_entries.restore(conn, [RevisedSeed(each, 0) for each in seeds])
    yield Search(open_archive, store=None)
    await open_archive.close()


async def test_an_unknown_name_is_corrected_to_the_nearest_one(search):
    for q, suggestion in (
        ("tag:wetlnads", "tag:Wetlands"),
        ("tag:cefe", "tag:Café"),
        ('tag:"to reed"', 'tag:"to read"'),
        ("list:Birds/Hreons", "list:Birds/Herons"),
        ("site:en.hernos.example", "site:en.herons.example"),
        (
            "tag:wetlnads is:unread site:herons.exampel",
            "tag:Wetlands is:unread site:herons.exampel",
        ),
        ("tag:wetlands is:read", ""),
        ("tag:nothing", ""),
        ("site:127.0.0.1", ""),
        ("site:localhost", ""),
    ):
        listing = await search.listing(ListingQuery(q=q))

        assert listing.suggestion == suggestion, q
