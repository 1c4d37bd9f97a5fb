"""What a child says of links, and of the pages that came with them, is what the service hears."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.derive.messages import PREFIX
from archiver.derive.packed_seeds import pack_columns, read_columns
from archiver.derive.seed_messages import PageOfSeed, pack_seeds, read_seeds
from archiver.model.annotation import Annotation
from archiver.model.entry_list import EntryList, GivenLists
from archiver.model.highlight import Colour, Highlight
from archiver.model.kept_page import KeptPage, KeptPart
from archiver.model.seed import Seed

_parts = st.builds(KeptPart, st.text(), st.text(), st.binary())
_pages = st.builds(
    PageOfSeed,
    st.integers(0, 99),
    st.builds(KeptPage, st.binary(), st.text(), st.lists(_parts).map(tuple)),
    st.booleans(),
)


@given(st.lists(_pages))
def test_pages_come_with_all_their_bytes(pages):
    message = pack_seeds([], [], pages)

    assert read_seeds(message[PREFIX.size :])[1:] == ([], pages, GivenLists(), ())


_moments = st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0))
_highlights = st.builds(
    Highlight,
    id=st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    quote=st.text("aé ", min_size=1),
    colour=st.sampled_from(Colour),
    note=st.text("aé "),
    made_at=_moments,
)
_annotations = st.builds(
    Annotation,
    st.text(),
    st.none() | _moments,
    title=st.text(),
    tags=st.lists(st.text()).map(tuple),
    note=st.text(),
    source=st.text(),
    is_read=st.booleans(),
    is_starred=st.booleans(),
    folders=st.lists(st.text()).map(tuple),
    places=st.lists(st.integers(0, 1 << 61)).map(tuple),
    source_record=st.text(),
    highlights=st.lists(_highlights, max_size=2).map(tuple),
)


@given(st.lists(st.builds(Seed, st.text(), st.text(), st.text(), _annotations)))
def test_seeds_come_with_all_that_is_said_of_them(seeds):
    lists = GivenLists((EntryList("A/B"), EntryList("C", "fox")), left_out=3)

    addresses = [(each.hash_url, each.url, each.host) for each in seeds]
    columns = pack_columns(addresses, [each.annotation for each in seeds])

    message = pack_seeds(columns, [], [], lists, (-1, 1 << 40))

    read, *others = read_seeds(message[PREFIX.size :])
    assert [*read] == seeds
    assert others == [[], [], lists, (-1, 1 << 40)]


@pytest.mark.parametrize("told", [{"as": 1}, {"each": ""}])
def test_a_column_as_one_that_is_not_there_is_none(told):
    with pytest.raises(ValueError, match="not there"):
        read_columns([told])


def test_columns_that_say_the_same_of_all_or_of_the_address_are_read_as_they_were():
    addresses = [(f"org,example)/{n}", f"https://example.org/{n}", "example.org") for n in range(3)]
    at = datetime(2024, 5, 6, tzinfo=UTC)
    annotations = [
        Annotation(url, title="same", tags=("a", "b"), is_read=True, added_at=at)
        for _, url, _ in addresses
    ]

    columns = pack_columns(addresses, annotations, "import:x.csv")
    read, *_ = read_seeds(pack_seeds(columns, [])[PREFIX.size :])

    assert [each.annotation for each in read] == [
        replace(each, source="import:x.csv") for each in annotations
    ]
    assert read.urls == [url for _, url, _ in addresses]
