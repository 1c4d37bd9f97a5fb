"""Lists of feeds are read and written with any content."""

import gzip
from datetime import UTC, datetime
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import UnreadableFile
from archiver.formats.feeds import feed_title
from archiver.formats.outlines import MAX_BYTES, read_subscriptions, write_subscriptions
from archiver.formats.seeds import tidy_tag
from archiver.model.feed import Subscription

TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
TAG = TEXT.map(lambda text: tidy_tag(text.replace(",", " "))).filter(bool)
SUBSCRIPTIONS = st.lists(
    st.builds(
        Subscription,
        url=st.integers(0, 99).map(lambda n: f"https://a.example/{n}.xml"),
        title=TEXT,
        home=st.sampled_from(["", "https://a.example/"]),
        tags=st.lists(TAG, max_size=3, unique=True).map(tuple),
        since=st.none()
        | st.integers(946_684_800, 1_900_000_000).map(lambda at: datetime.fromtimestamp(at, UTC)),
    ),
    max_size=4,
    unique_by=lambda each: each.url,
)


@given(SUBSCRIPTIONS)
def test_outlines_are_well_formed_and_read_back(subscriptions):
    written = write_subscriptions(subscriptions)
    fromstring(written)
    result = read_subscriptions(written, "feeds.opml")
    assert [each.url for each in result] == [each.url for each in subscriptions]
    assert [each.since for each in result] == [each.since for each in subscriptions]
    assert write_subscriptions(result) == written


def test_an_outline_with_entities_is_read_without_them():
    bomb = (
        '<!DOCTYPE opml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><opml><body>'
        '<outline text="&b;" xmlUrl="https://a.example/"/></body></opml>'
    )
    assert "aaaa" not in read_subscriptions(bomb.encode(), "f.opml")[0].title


@pytest.mark.parametrize(
    ("content", "title"),
    [
        (b"<rss><channel><title> A &amp;\n B </title>", "A & B"),
        (b"<rss><channel><title><![CDATA[C]]></title>", "C"),
        (b'<feed><title type="text">D</title>', "D"),
        (b'\xef\xbb\xbf {"title": "E \\" F", "items": []}', 'E " F'),
        (b"<rss><channel><item/>", ""),
        (b"{}", ""),
    ],
)
def test_a_feed_title_is_found(content, title):
    assert feed_title(content) == title


def test_a_compressed_outline_has_the_same_size_limit():
    feed = b"<opml><body><outline xmlUrl='https://a.example/feed'/></body>"

    assert len(read_subscriptions(gzip.compress(feed + b"</opml>"), "a.opml.gz")) == 1
    assert len(read_subscriptions(feed + b" " * MAX_BYTES + b"</opml>", "a.opml")) == 1
    with pytest.raises(UnreadableFile, match="is larger than"):
        read_subscriptions(gzip.compress(feed + b" " * MAX_BYTES + b"</opml>"), "a.opml.gz")
