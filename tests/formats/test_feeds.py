"""Feeds are valid, as read by feedparser."""

import json
from datetime import UTC, datetime

import feedparser
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.feeds import Feed, write_atom, write_json_feed
from archiver.http.urls import hash_url
from archiver.model.annotation import Annotation
from archiver.model.entry import Entry
from archiver.model.job import State

ADDED = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "https://a.example/x?a=1&b=<2>"
words = st.text(max_size=20)


def item(title="A <b> & “c”", tags=("one", "t&w"), note="n <i>"):
    annotation = Annotation(URL, ADDED, title, tags, note, "web")
    key = hash_url(URL)
    return Entry(key, URL, "a.example", annotation, title, State.SAVED, latest="20260401000000")


def feed(*items):
    return Feed("archiver: x&y", "http://h:1", "/feed.atom?q=x%26y", "/snapshots?q=x%26y", items)


def test_an_atom_feed_has_the_metadata_of_each_entry():
    read = feedparser.parse(write_atom(feed(item())))

    (result,) = read.entries
    assert (read.bozo, read.version) == (False, "atom10")
    assert (read.feed.title, read.feed.updated) == ("archiver: x&y", "2026-04-01T00:00:00Z")
    assert {each.rel: each.href for each in read.feed.links} == {
        "self": "http://h:1/feed.atom?q=x%26y",
        "alternate": "http://h:1/snapshots?q=x%26y",
    }
    assert result.title == "A <b> & “c”"
    assert result.link == f"http://h:1/{hash_url(URL)}/"
    assert {each.href for each in result.links if each.rel == "via"} == {URL}
    assert [each.term for each in result.tags] == ["one", "t&w"]
    assert (result.published, result.updated) == ("2026-03-01T12:00:00Z", "2026-04-01T00:00:00Z")
    assert result.summary == "n <i>"


def test_a_json_feed_has_the_same_content():
    document = json.loads(write_json_feed(feed(item())))

    (result,) = document["items"]
    assert document["version"] == "https://jsonfeed.org/version/1.1"
    assert (result["external_url"], result["title"]) == (URL, "A <b> & “c”")
    assert (result["date_published"], result["tags"]) == ("2026-03-01T12:00:00Z", ["one", "t&w"])


@given(words, words, words)
def test_any_metadata_gives_well_formed_xml(title, tag, note):
    read = feedparser.parse(write_atom(feed(item(title, (tag,), note))))

    assert not read.bozo
    assert len(read.entries) == 1
